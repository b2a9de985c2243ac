"""SciPy, imported when something of it is first used: the import costs as much processor time as a small fit."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy import linalg, sparse
else:

    class _Later:
        """A module whose names are looked up, and kept, when they are first asked for."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module(self._name), name)
            setattr(self, name, value)
            return value

    linalg, sparse = _Later("scipy.linalg"), _Later("scipy.sparse")

__all__ = ["is_sparse", "linalg", "sparse"]


def is_sparse(X: Any) -> bool:
    """Whether it is one of SciPy's sparse arrays: it cannot be while nobody has imported them."""
    return "scipy.sparse" in sys.modules and bool(sparse.issparse(X))

"""Sparse linear models from data of any size, in bounded memory.

The heavy parts load when they are first used, so that `import riata` and `riata --help` are quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riata.engines.open import open_data as open
    from riata.estimators import SparseClassifier, SparseRegressor
    from riata.estimators.stability import stability_selection
    from riata.model.model import load_model
    from riata.reporting.html.fit_report import write_report
    from riata.solvers.registry import SOLVERS

__version__ = version("riata")
__all__ = [
    "SOLVERS",
    "SparseClassifier",
    "SparseRegressor",
    "datasets",
    "errors",
    "load_model",
    "open",
    "plot",
    "stability_selection",
    "write_report",
]

_HOMES = {
    "SOLVERS": "riata.solvers.registry",
    "SparseClassifier": "riata.estimators",
    "SparseRegressor": "riata.estimators",
    "load_model": "riata.model.model",
    "stability_selection": "riata.estimators.stability",
    "write_report": "riata.reporting.html.fit_report",
}
_RENAMED = {"open": ("riata.engines.open", "open_data")}


def __getattr__(name: str):
    if name in ("datasets", "errors", "plot"):
        return import_module(f"riata.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _RENAMED:
        home, original = _RENAMED[name]
        return getattr(import_module(home), original)
    raise AttributeError(f"module 'riata' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])

"""Sending functions to the workers, with the arrays that they need."""

import importlib
import io
import pickle
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numba.core.dispatcher import Dispatcher

if TYPE_CHECKING:  # cloudpickle has no types, and the interface of the standard library
    from pickle import Pickler
else:
    from cloudpickle import Pickler

LIGHT = 100  # the size in bytes that Dask is told, so that it runs tasks where the rows are, not where this value is


class _Pickler(Pickler):
    """Pickles compiled functions by name: pickled by value, each worker would compile them again."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Dispatcher):
            return _compiled, (obj.py_func.__module__, obj.py_func.__qualname__)
        return super().reducer_override(obj)


def _compiled(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


class Carried:
    """A value for the workers: pickled once here, unpickled once on each of them."""

    def __init__(self, value: Any) -> None:
        buffer = io.BytesIO()
        _Pickler(buffer).dump(value)
        self.content = buffer.getvalue()

    @cached_property
    def value(self) -> Any:
        return pickle.loads(self.content)

    def __getstate__(self) -> dict[str, bytes]:
        return {"content": self.content}

    def __sizeof__(self) -> int:
        return LIGHT

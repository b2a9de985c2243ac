"""Functions on their way to the workers, with the numbers that they need."""

import importlib
import io
import pickle
from functools import cached_property

import cloudpickle
from numba.core.dispatcher import Dispatcher

LIGHT = 100  # bytes, as Dask believes: tasks go to where the rows are, however wide the model is


class _Pickler(cloudpickle.Pickler):
    """Compiled functions go by name: pickled by value, each worker would compile them again."""

    def reducer_override(self, obj):
        if isinstance(obj, Dispatcher):
            return _compiled, (obj.py_func.__module__, obj.py_func.__qualname__)
        return super().reducer_override(obj)


def _compiled(module, name):
    return getattr(importlib.import_module(module), name)


class Carried:
    """A value on its way to the workers: pickled once here, unpickled once on each of them."""

    def __init__(self, value) -> None:
        buffer = io.BytesIO()
        _Pickler(buffer).dump(value)
        self.content = buffer.getvalue()

    @cached_property
    def value(self):
        return pickle.loads(self.content)

    def __getstate__(self):
        return {"content": self.content}

    def __sizeof__(self):
        return LIGHT

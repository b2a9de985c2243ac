"""Sending functions to the workers, with the arrays that they need."""

import pickle
from functools import cached_property
from typing import Any

import cloudpickle

LIGHT = 100  # the size in bytes that Dask is told, so that it runs tasks where the rows are, not where this value is


class Carried:
    """A value for the workers: pickled once here, unpickled once on each of them."""

    def __init__(self, value: Any) -> None:
        self.content: bytes = cloudpickle.dumps(value)

    @cached_property
    def value(self) -> Any:
        return pickle.loads(self.content)

    def __getstate__(self) -> dict[str, bytes]:
        return {"content": self.content}

    def __sizeof__(self) -> int:
        return LIGHT

"""Functions on their way to the workers, with the numbers that they need."""

import pickle
from functools import cached_property

import cloudpickle

LIGHT = 100  # bytes, as Dask believes: tasks go to where the rows are, however wide the model is


class Carried:
    """A value on its way to the workers: pickled once here, unpickled once on each of them."""

    def __init__(self, value):
        self.content = cloudpickle.dumps(value)

    @cached_property
    def value(self):
        return pickle.loads(self.content)

    def __getstate__(self):
        return {"content": self.content}

    def __sizeof__(self):
        return LIGHT

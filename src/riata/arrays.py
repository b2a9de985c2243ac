"""Arrays of any library that follows the array API: NumPy, CuPy, array-api-strict."""

import sys

import numpy as np


def namespace(array):
    """The library whose functions take this array; NumPy for plain numbers."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return sys.modules["cupy"] if type(array).__module__.startswith("cupy") else np  # CuPy's arrays do not say


def to_host(array) -> np.ndarray:
    """A NumPy array of the same values."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def is_device_array(array) -> bool:
    """Whether it lies on a GPU: a CuPy array or sparse matrix, a PyTorch tensor there, ..."""
    return hasattr(array, "__cuda_array_interface__") or type(array).__module__.startswith("cupyx.scipy.sparse")


def at_least(array, bound):
    """Its entries, or the bound where they are smaller."""
    xp = namespace(array)
    return xp.maximum(array, xp.full_like(array, bound))

"""Arrays of any library that follows the array API: NumPy, CuPy, array-api-strict."""

import sys
from typing import Any

import numpy as np

Array = Any  # an array of any such library: they have no type in common


def namespace(array: Array) -> Any:
    """The library (a module) whose functions take this array; NumPy for plain numbers."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return sys.modules["cupy"] if type(array).__module__.startswith("cupy") else np  # CuPy's arrays lack that method


def to_host(array: Array) -> np.ndarray:
    """A NumPy array of the same values."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def unmasked(values: Any) -> Any:
    """A masked array of NumPy as one whose masked values are missing; others would take what the mask hides."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    numbers = values.dtype.kind in "biuf"
    kind = values.dtype if values.dtype.kind == "f" else np.float64 if numbers else object
    plain = np.array(values.data, dtype=kind)
    plain[np.ma.getmaskarray(values)] = np.nan if numbers else None
    return plain


def is_device_array(array: Array) -> bool:
    """Whether it is in GPU memory: a CuPy array or sparse matrix, a PyTorch tensor, ..."""
    return hasattr(array, "__cuda_array_interface__") or type(array).__module__.startswith("cupyx.scipy.sparse")


def at_least(array: Array, bound: float) -> Array:
    """max(array, bound), entry by entry."""
    xp = namespace(array)
    return xp.maximum(array, xp.full_like(array, bound))

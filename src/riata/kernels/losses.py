"""The losses again, one row at a time, for compiled sweeps: chosen by a small integer, so that numba can cache them.

`riata.losses` is the definition; a test holds the two together.
"""

import math

from numba import njit


@njit(cache=True, inline="always")
def derivative(code, y, z):
    """d loss / dz."""
    if code == 0:
        return z - y
    return -y / (1.0 + math.exp(min(y * z, 700.0)))  # exp overflows above 709


@njit(cache=True, inline="always")
def value(code, y, z):
    """The loss itself."""
    if code == 0:
        return 0.5 * (y - z) ** 2
    m = y * z
    return math.log1p(math.exp(-abs(m))) + max(-m, 0.0)

"""Elementwise functions that several losses share, of arrays of any library that follows the array API."""

from collections.abc import Callable
from typing import Any

import numpy as np

from riata.arrays import Array, namespace

HALVINGS = 70  # of a bracket: to the last digit of its middle


def expit(z: Array) -> Array:
    """1 / (1 + exp(-z)), with all digits at either end."""
    xp = namespace(z)
    tail = xp.exp(-abs(z))
    return xp.where(z >= 0.0, xp.ones_like(tail), tail) / (1.0 + tail)


def xlogx(x: Array) -> Array:
    """x log(x), 0 at 0."""
    xp = namespace(x)
    return x * xp.log(xp.where(x > 0.0, x, xp.ones_like(x)))


def one_where(condition: Array, like: Array) -> Array:
    """1 where the condition holds, 0 elsewhere, in arrays like this one."""
    xp = namespace(like)
    return xp.where(condition, xp.ones_like(like), xp.zeros_like(like))


def best_margin(slope: Callable[[Any], Any], u: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where a slope that rises is u, between low and high: for conjugates without a closed form."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = slope(middle) < u
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)

"""Elementwise functions that several losses share, of arrays of any library that follows the array API."""

from riata.arrays import Array, namespace


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

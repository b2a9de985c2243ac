"""A step towards the minimum of a quadratic by conjugate gradients, which asks for products with its curvature alone.

Of k sparse columns such a product costs two passes over their entries, where a factorisation costs k^3.
"""

from collections.abc import Callable

import numpy as np

FLAT = 0.5  # of the mean gain of all steps so far: where the last gained less, more of them hardly pay


def conjugate_step(
    times: Callable[[np.ndarray], np.ndarray],
    downhill: np.ndarray,
    diagonal: np.ndarray,
    most: int,
    within: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """About H^-1 downhill, where `times` makes products with H, which has this diagonal; and in how many steps, of
    `most`. It ends where what is left of `downhill` is within these bounds; without them, where steps gain little
    beside those before (Nash & Sofer, 1990).
    """
    x, left, steps = np.zeros(len(downhill)), downhill.copy(), 0
    towards = left / diagonal
    direction, slope, gained = towards, float(left @ towards), 0.0
    while steps < most and slope > 0.0:
        rise = times(direction)
        curvature, steps = float(direction @ rise), steps + 1
        if not curvature > 0.0:  # by rounding, of columns that depend on one another
            break
        share = slope / curvature
        x += share * direction
        left -= share * rise
        gain = 0.5 * share * slope
        gained += gain
        if steps * gain <= FLAT * gained if within is None else np.all(np.abs(left) <= within):
            break
        towards = left / diagonal
        slope, before = float(left @ towards), slope
        direction = towards + (slope / before) * direction
    return x, steps

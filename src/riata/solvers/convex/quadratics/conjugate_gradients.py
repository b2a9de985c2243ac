"""Steps towards the minimum of a quadratic that ask for products with its curvature alone.

Of k sparse columns such a product costs two passes over their entries, where a factorisation costs k^3. Conjugate
gradients lower the quadratic most, conjugate residuals its slopes, by which a gap is told: of columns that nearly
depend on one another the former go far for little, and may leave larger slopes than there were.
"""

from collections.abc import Callable

import numpy as np

FLAT = 0.5  # of the mean gain of all steps so far: where the last gained less, more of them hardly pay

Times = Callable[[np.ndarray], np.ndarray]


def conjugate_gradients(times: Times, downhill: np.ndarray, diagonal: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """About H^-1 downhill, where `times` makes products with H, which has this diagonal; and in how many steps, of
    `most`. It ends where steps gain little beside those before (Nash & Sofer, 1990).
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
        if steps * gain <= FLAT * gained:
            break
        towards = left / diagonal
        slope, before = float(left @ towards), slope
        direction = towards + (slope / before) * direction
    return x, steps


def conjugate_residuals(
    times: Times, downhill: np.ndarray, diagonal: np.ndarray, most: int, within: np.ndarray
) -> tuple[np.ndarray, int]:
    """The same by least slopes: of all points that so many products lead to, x leaves least of `downhill`, in units of
    the diagonal (Stiefel, 1955). It ends where what is left is within these bounds.
    """
    x, left, steps = np.zeros(len(downhill)), downhill.copy(), 1
    towards = left / diagonal
    rise_towards = times(towards)
    direction, rise, curvature = towards, rise_towards, float(towards @ rise_towards)
    while curvature > 0.0:
        scaled = rise / diagonal
        share = curvature / float(rise @ scaled)
        x += share * direction
        left -= share * rise
        if steps >= most or np.all(np.abs(left) <= within):
            break
        towards = towards - share * scaled
        rise_towards, steps = times(towards), steps + 1
        curvature, before = float(towards @ rise_towards), curvature
        direction = towards + (curvature / before) * direction
        rise = rise_towards + (curvature / before) * rise
    return x, steps

"""Coordinate descent on a penalised quadratic that is held as a matrix.

    Q(v) = slope . v + v'H v / 2 + sum_j l1_j |v_j|,   slope' = slope + H v kept up to date,

over v in R^m, or over v_j >= lower_j with lower_j either 0 or minus infinity.
"""

from numba import njit

from riata.kernels.rows import FAST


@njit(cache=True, inline="always")
def best_value(centre, l1, lower, curvature):
    """The minimiser of curvature v^2 / 2 - centre v + l1 |v| over v >= lower."""
    if centre > l1:
        return (centre - l1) / curvature
    if centre < -l1 and lower < 0.0:
        return (centre + l1) / curvature
    return 0.0


@njit(cache=True, inline="always")
def violation(slope, v, l1, lower):
    """How far a coordinate is from its optimality condition, in units of the slope."""
    if v > 0.0:
        return abs(slope + l1)
    if v < 0.0:
        return abs(slope - l1)
    below = -slope - l1
    return max(below, slope - l1, 0.0) if lower < 0.0 else max(below, 0.0)


@njit(cache=True, fastmath=FAST)
def descend(H, l1, lower, v, slope, unit, sweeps, tol):
    """Cyclic sweeps over all coordinates, updating v and slope in place; returns the last sweep's largest violation,
    each divided by its unit.

    Between sweeps over all, only coordinates that are not zero are visited.
    """
    m = v.shape[0]
    worst = 0.0
    for sweep in range(sweeps):
        everywhere = sweep % 4 == 0 or sweep == sweeps - 1
        worst = 0.0
        for j in range(m):
            curvature = H[j, j]
            if curvature <= 0.0 or (v[j] == 0.0 and not everywhere):
                continue
            worst = max(worst, violation(slope[j], v[j], l1[j], lower[j]) / unit[j])
            new = best_value(curvature * v[j] - slope[j], l1[j], lower[j], curvature)
            change = new - v[j]
            if change != 0.0:
                v[j] = new
                row = H[j]
                for k in range(m):
                    slope[k] += change * row[k]
        if everywhere and worst <= tol:
            break
    return worst


@njit(cache=True)
def worst_violation(H, l1, lower, v, slope, unit):
    """The largest distance from an optimality condition, each divided by its unit."""
    worst = 0.0
    for j in range(v.shape[0]):
        if H[j, j] > 0.0:
            worst = max(worst, violation(slope[j], v[j], l1[j], lower[j]) / unit[j])
    return worst

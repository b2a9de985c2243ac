"""The minimum of a penalised quadratic that is held as a matrix.

    Q(v) = slope . (v - w) + (v - w)'H(v - w) / 2 + sum_j l1_j |v_j|,   v_j >= lower_j, which is 0 or minus infinity

Coordinate descent finds the signs, Newton steps on the coordinates that are not zero find the values: where columns are
correlated the first alone crawls, and where signs are wrong the second alone errs. A Newton step that would change
signs sets those coordinates to zero if that lowers Q, and otherwise ends at the first change, which always does.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST

SWEEPS = 8
ROUNDS = 200


@compiled(nogil=True)
def minimise(H, slope, l1, lower, w, precision):
    """The best v from the start w, where the smooth part has this slope. H is m x m, symmetric, not negative.

    `precision` is that of the optimality conditions, relative to the slopes at hand, each in units of its coordinate.
    """
    v, now, unit = w.copy(), slope.copy(), np.ones(w.shape[0])
    largest = 0.0
    for j in range(w.shape[0]):
        if H[j, j] > 0.0:
            unit[j] = math.sqrt(H[j, j])  # of slopes, were the columns of unit size
            largest = max(largest, (max(abs(slope[j]), l1[j]) if w[j] != 0.0 else abs(slope[j])) / unit[j])
    tol = precision * largest
    for _ in range(ROUNDS):
        if descend(H, l1, lower, v, now, unit, SWEEPS, tol) <= tol:
            break
        newton(H, l1, lower, v, now)
        now[:] = slope + H @ (v - w)
        if worst_violation(H, l1, lower, v, now, unit) <= tol:
            break
    return v


@compiled(nogil=True, inline="always")
def best_value(centre, l1, lower, curvature):
    """The minimiser of curvature v^2 / 2 - centre v + l1 |v| over v >= lower."""
    if centre > l1:
        return (centre - l1) / curvature
    if centre < -l1 and lower < 0.0:
        return (centre + l1) / curvature
    return 0.0


@compiled(nogil=True, inline="always")
def violation(slope, v, l1, lower):
    """How far a coordinate is from its optimality condition, in units of the slope."""
    if v > 0.0:
        return abs(slope + l1)
    if v < 0.0:
        return abs(slope - l1)
    below = -slope - l1
    return max(below, slope - l1, 0.0) if lower < 0.0 else max(below, 0.0)


@compiled(nogil=True, fastmath=FAST)
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


@compiled(nogil=True)
def worst_violation(H, l1, lower, v, slope, unit):
    """The largest distance from an optimality condition, each divided by its unit."""
    worst = 0.0
    for j in range(v.shape[0]):
        if H[j, j] > 0.0:
            worst = max(worst, violation(slope[j], v[j], l1[j], lower[j]) / unit[j])
    return worst


@compiled(nogil=True)
def newton(H, l1, lower, v, slope):
    """Step to the minimum over the signs of v, cut where they change, in place."""
    S = np.flatnonzero((v != 0.0) & (np.diag(H) > 0.0))
    k = S.shape[0]
    H_S, downhill, l1_S = np.empty((k, k)), np.empty(k), l1[S]
    for p in range(k):
        downhill[p] = -(slope[S[p]] + l1_S[p] * np.sign(v[S[p]]))
        for q in range(k):
            H_S[p, q] = H[S[p], S[q]]
    step = solve(H_S, downhill)
    move, bends, first, shortest = step.copy(), 0.0, -1, np.inf
    for p in range(k):
        now = v[S[p]]
        if (l1_S[p] > 0.0 or lower[S[p]] == 0.0) and (now + step[p]) * now < 0.0:
            move[p] = -now
            if now / -step[p] < shortest:
                first, shortest = p, now / -step[p]
        bends += l1_S[p] * (abs(now + move[p]) - abs(now) - np.sign(now) * move[p])
    if first >= 0 and 0.5 * (move @ (H_S @ move)) - downhill @ move + bends >= 0.0:
        move = shortest * step
        move[first] = -v[S[first]]
    v[S] += move


@compiled(nogil=True)
def solve(H, right):
    """H^-1 right; where H is singular, as with twin columns, the least that makes it regular is added."""
    k, ridge, x = right.shape[0], 0.0, right.copy()
    U = np.eye(k)
    while ridge <= 1.0:
        try:
            U = np.ascontiguousarray(np.linalg.cholesky(H + ridge * np.diag(np.diag(H))).T)
            break
        except Exception:  # numba knows no other
            ridge = max(10.0 * ridge, 1e-12)
    for i in range(k):
        row = U[i]
        x[i] /= row[i]
        x[i + 1 :] -= row[i + 1 :] * x[i]
    for i in range(k - 1, -1, -1):
        row = U[i]
        x[i] = (x[i] - row[i + 1 :] @ x[i + 1 :]) / row[i]
    return x

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


@compiled(nogil=True, fastmath=FAST)
def minimise(H, slope, l1, lower, w, precision):
    """The best v from the start w, where the smooth part has this slope. H is m x m, symmetric, not negative.

    `precision` is that of the optimality conditions, relative to the slopes at hand, each in units of its coordinate.
    """
    m = w.shape[0]
    v, now, unit = w.copy(), slope.copy(), np.empty(m)
    largest = 0.0
    for j in range(m):
        unit[j] = math.sqrt(H[j, j]) if H[j, j] > 0.0 else 1.0  # of slopes, were the columns of unit size
        if H[j, j] > 0.0:
            largest = max(largest, (max(abs(slope[j]), l1[j]) if w[j] != 0.0 else abs(slope[j])) / unit[j])
    tol = precision * largest
    for _ in range(ROUNDS):
        if _descend(H, l1, lower, v, now, unit, SWEEPS, tol) <= tol:
            break
        _newton(H, l1, lower, v, now)
        for k in range(m):
            now[k] = slope[k]
        for j in range(m):
            change, row = v[j] - w[j], H[j]
            if change != 0.0:
                for k in range(m):
                    now[k] += change * row[k]
        worst = 0.0
        for j in range(m):
            if H[j, j] > 0.0:
                worst = max(worst, violation(now[j], v[j], l1[j], lower[j]) / unit[j])
        if worst <= tol:
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
def _descend(H, l1, lower, v, slope, unit, sweeps, tol):
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
def _newton(H, l1, lower, v, slope):
    """Step to the minimum over the signs of v, cut where they change, in place."""
    S, k = np.empty(v.shape[0], dtype=np.int64), 0
    for j in range(v.shape[0]):
        if v[j] != 0.0 and H[j, j] > 0.0:
            S[k] = j
            k += 1
    H_S, downhill, move = np.empty((k, k)), np.empty(k), np.empty(k)
    for p in range(k):
        j = S[p]
        downhill[p] = -(slope[j] + math.copysign(l1[j], v[j]))
        for q in range(k):
            H_S[p, q] = H[j, S[q]]
    step = downhill.copy()
    _solve(H_S, step)
    bends, first, shortest = 0.0, -1, np.inf
    for p in range(k):
        now, level = v[S[p]], l1[S[p]]
        move[p] = step[p]
        if (level > 0.0 or lower[S[p]] == 0.0) and (now + step[p]) * now < 0.0:
            move[p] = -now
            if now / -step[p] < shortest:
                first, shortest = p, now / -step[p]
        bends += level * (abs(now + move[p]) - abs(now)) - math.copysign(level, now) * move[p]
    if first >= 0 and _gain(H_S, downhill, move) <= bends:
        for p in range(k):
            move[p] = shortest * step[p]
        move[first] = -v[S[first]]
    for p in range(k):
        v[S[p]] += move[p]


@compiled(nogil=True, fastmath=FAST)
def _gain(H, downhill, move):
    """How far a move lowers the smooth part."""
    gain = 0.0
    for p in range(move.shape[0]):
        rise = 0.0
        for q in range(move.shape[0]):
            rise += H[p, q] * move[q]
        gain += move[p] * (downhill[p] - 0.5 * rise)
    return gain


@compiled(nogil=True)
def _solve(H, x):
    """x becomes H^-1 x; where H is singular, as with twin columns, the least that makes it regular is added."""
    ridge = 0.0
    while ridge <= 1.0:
        C = H.copy()
        for i in range(x.shape[0]):
            C[i, i] += ridge * H[i, i]
        try:
            _substitute(np.linalg.cholesky(C), x)
            break
        except Exception:  # numba knows no other
            ridge = max(10.0 * ridge, 1e-12)


@compiled(nogil=True, fastmath=FAST)
def _substitute(L, x):
    """x becomes (L L')^-1 x."""
    for i in range(x.shape[0]):
        row, total = L[i], x[i]
        for j in range(i):
            total -= row[j] * x[j]
        x[i] = total / row[i]
    for i in range(x.shape[0] - 1, -1, -1):
        row = L[i]
        x[i] /= row[i]
        for j in range(i):
            x[j] -= row[j] * x[i]

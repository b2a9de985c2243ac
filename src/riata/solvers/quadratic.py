"""The minimum of a penalised quadratic over a working set, to the last digits if need be.

    Q(v) = slope . (v - w) + (v - w)'H(v - w) / 2 + sum_j l1_j |v_j|,   v_j >= lower_j

Coordinate descent finds the signs, Newton steps on the coordinates that are not zero find the values: where columns are
correlated the first alone crawls, and where signs are wrong the second alone errs. A Newton step that would change
signs sets those coordinates to zero if that lowers Q, and otherwise ends at the first change, which always does.
"""

import numpy as np
from scipy.linalg.lapack import dposv

from riata.kernels.quadratic import descend, worst_violation
from riata.threads import one_blas_thread

LARGE = 3000  # coordinates from which on several threads pay for a factorisation
SWEEPS = 8
ROUNDS = 200


def minimise_quadratic(H, slope, l1, lower, w, precision):
    """The best v from the start w, where the smooth part has this slope. H is m x m, symmetric, not negative.

    `precision` is that of the optimality conditions, relative to the slopes at hand, each in units of its coordinate.
    """
    if len(w) < LARGE:
        with one_blas_thread():
            return _minimise(H, slope, l1, lower, w, precision)
    return _minimise(H, slope, l1, lower, w, precision)


def _minimise(H, slope, l1, lower, w, precision):
    v, now = w.copy(), slope.copy()
    curvature = np.diag(H)
    unit = np.sqrt(np.where(curvature > 0.0, curvature, 1.0))  # of slopes, were the columns of unit size
    at_hand = np.where(w != 0.0, np.maximum(np.abs(slope), l1), np.abs(slope))
    tol = precision * np.max(np.where(curvature > 0.0, at_hand / unit, 0.0), initial=0.0)
    for _ in range(ROUNDS):
        worst = descend(H, l1, lower, v, now, unit, SWEEPS, tol)
        if worst <= tol:
            break
        v = _newton(H, l1, lower, v, now)
        now = slope + H @ (v - w)
        if worst_violation(H, l1, lower, v, now, unit) <= tol:
            break
    return v


def _newton(H, l1, lower, v, slope):
    """A step to the minimum over the signs of v, cut where they change."""
    S = np.flatnonzero((v != 0.0) & (np.diag(H) > 0.0))
    if len(S) == 0:
        return v
    signs = np.sign(v[S])
    H_S = H[np.ix_(S, S)]
    downhill = -(slope[S] + l1[S] * signs)
    step = _solve(H_S, downhill)
    keeps_sign = (l1[S] > 0.0) | (lower[S] == 0.0)
    crossing = keeps_sign & ((v[S] + step) * signs < 0.0)
    move = np.where(crossing, -v[S], step)
    bends = l1[S] @ np.abs(v[S] + move) - l1[S] @ np.abs(v[S]) - (l1[S] * signs) @ move
    if crossing.any() and 0.5 * move @ H_S @ move - downhill @ move + bends >= 0.0:
        shares = np.where(crossing, v[S] / np.where(crossing, -step, 1.0), np.inf)
        first = np.argmin(shares)
        move = shares[first] * step
        move[first] = -v[S[first]]
    v = v.copy()
    v[S] += move
    return v


def _solve(H, right):
    """H^-1 right; where H is singular, as with twin columns, the least that makes it regular is added."""
    ridge = 0.0
    while True:
        _, solution, singular = dposv(H + ridge * np.diag(np.diag(H)) if ridge else H, right)
        if not singular:
            return solution
        ridge = max(10.0 * ridge, 1e-12)

"""The parts of the minimum of a penalised quadratic that is held as a matrix; `solvers.convex.quadratic` joins them."""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST

LEAST_SHARE = 1e-3  # of a step that is tried


@compiled(nogil=True, inline="always")
def best_value(centre: float, l1: float, lower: float, upper: float, curvature: float) -> float:
    """The minimiser of curvature v^2 / 2 - centre v + l1 |v| over lower <= v <= upper, between which 0 lies."""
    if centre > l1:
        return min((centre - l1) / curvature, upper)
    if centre < -l1:
        return max((centre + l1) / curvature, lower)
    return 0.0


@compiled(nogil=True, inline="always")
def violation(slope: float, v: float, l1: float, lower: float, upper: float) -> float:
    """How far a coordinate is from its optimality condition, in units of the slope."""
    up = -slope - l1 if v >= 0.0 else -slope + l1  # how much it is drawn upwards,
    down = slope - l1 if v <= 0.0 else slope + l1  # and downwards
    return max(up if v < upper else 0.0, down if v > lower else 0.0, 0.0)


@compiled(interpretable=True, nogil=True)
def largest_slope(H: np.ndarray, slope: np.ndarray, l1: np.ndarray, w: np.ndarray) -> float:
    """The largest slope at hand, the penalty's included, each in units of its coordinate: were columns of unit size."""
    largest = 0.0
    for j in range(w.shape[0]):
        if H[j, j] > 0.0:
            pull = max(abs(slope[j]), l1[j]) if w[j] != 0.0 else abs(slope[j])
            largest = max(largest, pull / math.sqrt(H[j, j]))
    return largest


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def descend(
    H: np.ndarray,
    l1: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    v: np.ndarray,
    slope: np.ndarray,
    sweeps: int,
    tol: float,
) -> float:
    """Cyclic sweeps over all coordinates, updating v and slope in place.

    Returns the last sweep's largest violation, each in units of its coordinate. Between sweeps over all, only
    coordinates that are not zero are visited.
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
            distance = violation(slope[j], v[j], l1[j], lower[j], upper[j])
            if distance == 0.0:
                continue
            worst = max(worst, distance / math.sqrt(curvature))
            new = best_value(curvature * v[j] - slope[j], l1[j], lower[j], upper[j], curvature)
            change = new - v[j]
            if change != 0.0:
                v[j] = new
                row = H[j]
                for k in range(m):
                    slope[k] += change * row[k]
        if everywhere and worst <= tol:
            break
    return worst


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def take_step(
    S: np.ndarray,
    H_S: np.ndarray,
    downhill: np.ndarray,
    step: np.ndarray,
    l1: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    v: np.ndarray,
) -> None:
    """Move the coordinates S of v, none of which is at a bound, by the best share of a step: 1, 1/2, 1/4, and so on.

    Coordinates that would change sign become zero instead, and stop at their bounds, so that many can leave at once.
    Where no share lowers Q, the step ends at the first such change, which always does.
    """
    k = step.shape[0]
    move, place, best = np.empty(k), np.empty(k), np.empty(k)
    lowest, share, first, shortest, first_end = 0.0, 1.0, -1, np.inf, 0.0
    for p in range(k):
        best[p] = v[S[p]]
    while share > LEAST_SHARE:
        crossing = False
        for p in range(k):
            now = v[S[p]]
            move[p] = share * step[p]
            end = min(max(now + move[p], lower[S[p]]), upper[S[p]])
            if l1[S[p]] > 0.0 and end * now < 0.0:
                end = 0.0
            if end != now + move[p]:
                move[p] = end - now
                crossing = True
                if share == 1.0 and move[p] / step[p] < shortest:
                    first, shortest, first_end = p, move[p] / step[p], end
            place[p] = end
        if not crossing and share == 1.0:
            for p in range(k):  # to compile an assignment to all of `best` would take seconds
                best[p] = place[p]
            lowest = -1.0
            break
        change = 0.0
        for p in range(k):
            rise = 0.0
            for q in range(k):
                rise += H_S[p, q] * move[q]
            change += move[p] * (0.5 * rise - downhill[p])
        if change < lowest:
            lowest = change
            for p in range(k):
                best[p] = place[p]
        elif lowest < 0.0:
            break
        share *= 0.5
    if lowest >= 0.0 and first >= 0:
        for p in range(k):
            best[p] = min(max(v[S[p]] + shortest * step[p], lower[S[p]]), upper[S[p]])
        best[first] = first_end
    for p in range(k):
        v[S[p]] = best[p]

"""The relaxation of best k for a quadratic loss, by coordinate descent, for `riata.solvers.subset.proof.relaxation`.

No loop makes an array: to compile that takes longer than to compile the loop.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST


class RelaxedQuadratic(NamedTuple):
    """loss - c'w + w'Gw / 2, what coefficients pay or may not be, and shares of numbers that are rounding."""

    G: np.ndarray
    c: np.ndarray
    ridge: np.ndarray
    limit: np.ndarray
    loss: float
    rounding: float
    slope_rounding: float


class Effort(NamedTuple):
    """How many prices and sweeps there are at most, and what is near enough."""

    prices: int
    sweeps: int
    still: float  # coordinates that lower the objective by less are left
    shares_off: float  # shares that sum to within this of k
    price_off: float  # a price known to within this factor


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def _descend(
    G: np.ndarray,
    ridge: np.ndarray,
    limit: np.ndarray,
    slope: np.ndarray,
    width: np.ndarray,
    least: float,
    sweeps: int,
    w: np.ndarray,
    r: np.ndarray,
) -> None:
    """Sweeps over the coordinates of w'Gw / 2 - c'w + penalty(w), until none of them lowers it by `least`.

    A coefficient pays slope |w_j| up to width_j, ridge_j w_j^2 / 2 and a constant beyond; |w_j| <= limit_j. w and
    r = c - G w change.
    """
    for _ in range(sweeps):
        largest = 0.0
        for j in range(w.shape[0]):
            if w[j] == 0.0 and abs(r[j]) <= slope[j]:
                continue
            curvature = max(G[j, j], 1e-12)  # columns are of unit norm; a diagonal shift may leave nothing of one
            pull = r[j] + curvature * w[j]
            size = abs(pull)
            if size - slope[j] > width[j] * curvature:
                new = size / (curvature + ridge[j])
            else:
                new = max(size - slope[j], 0.0) / curvature
            step = (min(new, limit[j]) if pull > 0.0 else -min(new, limit[j])) - w[j]
            if step != 0.0:
                row = G[j]
                for k in range(w.shape[0]):
                    r[k] -= step * row[k]
                w[j] += step
                largest = max(largest, curvature * step * step)
        if largest <= least:
            break


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def _relief(slope: float, ridge: float, limit: float) -> float:
    """The most that a coefficient can lower a plane of this slope (not negative) by: as `planes.Costs.reliefs`."""
    if slope <= 0.0:
        return 0.0
    farthest = limit
    if slope < ridge * limit:
        farthest = slope / ridge
    return farthest * (slope - 0.5 * ridge * farthest)


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def _keep_largest(top: np.ndarray, count: int, value: float) -> None:
    """Put a value in its place among the `count` largest so far, the largest first."""
    if value <= top[count - 1]:
        return
    i = count - 1
    while i > 0 and top[i - 1] < value:
        top[i] = top[i - 1]
        i -= 1
    top[i] = value


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def _plane_bound(
    quadratic: RelaxedQuadratic,
    state: np.ndarray,
    k: int,
    w: np.ndarray,
    r: np.ndarray,
    top: np.ndarray,
) -> float:
    """The bound of the plane at w, r = c - G w, for models of the columns that are in and k of the free ones.

    It is lowered by what rounding may have changed. `top` has room for k + 1 numbers.
    """
    for i in range(k + 1):
        top[i] = 0.0
    c, ridge, limit, loss = quadratic.c, quadratic.ridge, quadratic.limit, quadratic.loss
    rounding = quadratic.rounding
    square, spent, least = 0.0, 0.0, quadratic.slope_rounding * np.sqrt(2.0 * loss)
    for j in range(w.shape[0]):
        square += 0.5 * w[j] * (c[j] - r[j])
        if state[j] < 0 or r[j] == 0.0:
            continue
        relief = _relief(abs(r[j]) + least, ridge[j], limit[j])
        if state[j] > 0:
            spent += relief
        elif k > 0:
            _keep_largest(top, k, relief)
    for i in range(k):
        spent += top[i]
    return loss - square - rounding * (loss + abs(square)) - spent - rounding * spent


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def relax(
    quadratic: RelaxedQuadratic,
    effort: Effort,
    state: np.ndarray,
    k: int,
    price: float,
    target: float,
    w: np.ndarray,
    r: np.ndarray,
    room: np.ndarray,
    best: np.ndarray,
) -> tuple[float, float]:
    """(bound, price) of the relaxation where k of the free columns may come in; w and r = c - G w are its start.

    The price of a share is moved until the shares sum to k; 0 is a price that is not known. The three rows of `best`
    are left as w, r and the shares of the best bound. `room` is for two rows of as many numbers, and one of k + 2.
    """
    G, ridge, limit, loss = quadratic.G, quadratic.ridge, quadratic.limit, quadratic.loss
    m, prices, sweeps = w.shape[0], effort.prices, effort.sweeps
    still, shares_off, price_off = effort.still, effort.shares_off, effort.price_off
    slope, width, top = room[0], room[1], room[2]
    n_free = 0
    for j in range(m):
        if state[j] == 0:
            n_free += 1
        best[0, j], best[1, j], best[2, j] = w[j], r[j], 0.0
    decided = k <= 0 or n_free <= k  # no price is needed
    chosen = max(min(k, n_free), 0)
    best_bound, best_price = -np.inf, price
    low, high, total_low, total_high = 0.0, 0.0, 0.0, 0.0
    for _ in range(1 if decided else prices):
        if not decided and price <= 0.0:  # between the k-th largest relief and the next
            for i in range(k + 1):
                top[i] = 0.0
            for j in range(m):
                if state[j] == 0:
                    _keep_largest(top, k + 1, _relief(abs(r[j]), ridge[j], limit[j]))
            price = max(np.sqrt(top[k - 1] * top[k]), 1e-9 * loss)
        for j in range(m):
            if state[j] < 0 or (state[j] == 0 and k <= 0):
                slope[j], width[j] = np.inf, np.inf
            elif state[j] > 0 or decided:
                slope[j], width[j] = 0.0, 0.0
            elif ridge[j] > 0.0 and 2.0 * price < ridge[j] * limit[j] * limit[j]:
                slope[j], width[j] = np.sqrt(2.0 * price * ridge[j]), np.sqrt(2.0 * price / ridge[j])
            else:  # its limit is within the width
                slope[j] = price / limit[j] + 0.5 * ridge[j] * limit[j]
                width[j] = np.inf
        _descend(G, ridge, limit, slope, width, still, sweeps, w, r)
        bound = _plane_bound(quadratic, state, chosen, w, r, top)
        better = bound > best_bound
        total = 0.0
        for j in range(m):
            share = 1.0 if state[j] > 0 else 0.0
            if state[j] == 0 and w[j] != 0.0:
                whole = min(width[j], limit[j])
                share = 1.0 if abs(w[j]) >= whole else abs(w[j]) / whole
                total += share
            if better:
                best[0, j], best[1, j], best[2, j] = w[j], r[j], share
        if better:
            best_bound, best_price = bound, price
        if decided or best_bound >= target or abs(total - k) <= shares_off:
            break
        if total > k:
            low, total_low = price, total
        else:
            high, total_high = price, total
        if low > 0.0 and high > 0.0:
            if high <= price_off * low:
                break
            part = (total_low - k) / (total_low - total_high)  # on a line between the two, not too near an end
            price = low * (high / low) ** min(max(part, 0.1), 0.9)
        else:
            price *= 4.0 if low > 0.0 else 0.25
    return best_bound, best_price

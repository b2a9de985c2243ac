"""What a certificate needs of the slopes of all features, in one sweep over them."""

import numpy as np

from riata.kernels.compiled import compiled

CANCELLED = 1e-14  # of two sums: what rounding leaves of their difference where it is 0
MOVING = 1e-12  # of the sums that cancel: a slope above is one


@compiled(interpretable=True)
def _gain(pull: float, l2: float, reach: float) -> float:
    """The largest pull v - l2 / 2 v^2 up to v = reach."""
    if l2 == 0.0:
        return pull * reach
    v = min(pull / l2, reach)
    return pull * v - 0.5 * l2 * v * v


@compiled(interpretable=True)
def slope_checks(
    positive: np.ndarray,
    negative: np.ndarray,
    shrink_positive: float,
    shrink_negative: float,
    l1: np.ndarray,
    l2: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    w: np.ndarray,
) -> tuple[float, float, float]:
    """(the largest pull as a share of its l1, what pulls beyond l1 cost, sum |g w| of features without penalty).

    The slopes g are those of the two sides, each shrunk. Only pulls that no bound ends count as shares. A pull beyond
    l1 costs sup_v (pull - l1) v - l2 / 2 v^2 up to the bound: infinite where there is neither l2 nor a bound. A feature
    without any of them whose weight is 0 must not move: the last sum is infinite if it would.
    """
    largest, cost, free = 0.0, 0.0, 0.0
    for j in range(w.shape[0]):
        g = shrink_positive * positive[j] + shrink_negative * negative[j]
        pull = abs(g)
        if pull <= l1[j] and pull <= largest * l1[j]:  # most of them
            continue
        size, reach = abs(positive[j]) + abs(negative[j]), upper[j] if g < 0.0 else -lower[j]
        if pull <= CANCELLED * size:
            continue
        if reach == 0.0:
            continue
        if l1[j] == 0.0 and l2[j] == 0.0 and reach == np.inf:
            free += abs(g * w[j]) if w[j] != 0.0 or pull <= MOVING * size else np.inf
            continue
        if pull > largest * l1[j] and reach == np.inf:
            largest = pull / l1[j] if l1[j] > 0.0 else np.inf
        if pull > l1[j]:
            cost += _gain(pull - l1[j], l2[j], reach)
    return largest, cost, free


@compiled(interpretable=True)
def cost_of_bounded(
    slope: np.ndarray, share: float, l1: np.ndarray, l2: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> float:
    """What pulls beyond l1 cost by a share of these slopes, of features that are pulled towards a bound."""
    cost = 0.0
    for j in range(slope.shape[0]):
        excess, reach = share * abs(slope[j]) - l1[j], upper[j] if slope[j] < 0.0 else -lower[j]
        if excess > 0.0 and reach < np.inf:
            cost += _gain(excess, l2[j], reach)
    return cost

"""What a certificate needs of the slopes of all features, in one sweep over them."""

import numpy as np

from riata.kernels.compiled import compiled

CANCELLED = 1e-14  # of two sums: what rounding leaves of their difference where it is 0
MOVING = 1e-12  # of the sums that cancel: a slope above is one


@compiled()
def slope_checks(
    positive: np.ndarray,
    negative: np.ndarray,
    shrink_positive: float,
    shrink_negative: float,
    l1: np.ndarray,
    l2: np.ndarray,
    nonnegative: bool,
    w: np.ndarray,
) -> tuple[float, float, float]:
    """(the largest pull as a share of its l1, sum max(pull - l1, 0)^2 / (2 l2), sum |g w| of features without penalty).

    The slopes g are those of the two sides, each shrunk. A feature without penalty whose weight is 0 must not move: the
    last sum is infinite if it would.
    """
    largest, ridge, free = 0.0, 0.0, 0.0
    for j in range(w.shape[0]):
        g = shrink_positive * positive[j] + shrink_negative * negative[j]
        size = abs(positive[j]) + abs(negative[j])
        if abs(g) <= CANCELLED * size:
            continue
        pull = max(-g, 0.0) if nonnegative else abs(g)
        if l1[j] == 0.0 and l2[j] == 0.0:
            free += abs(g * w[j]) if w[j] != 0.0 or pull <= MOVING * size else np.inf
            continue
        if pull > largest * l1[j]:
            largest = pull / l1[j] if l1[j] > 0.0 else np.inf
        if pull > l1[j]:
            ridge += (pull - l1[j]) ** 2 / (2.0 * l2[j]) if l2[j] > 0.0 else np.inf
    return largest, ridge, free

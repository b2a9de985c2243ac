"""Regularised dual averaging on the rows of a chunk. The weights are a formula of the sum of slopes,

    w_j = -soft(z_j, l1 T) / (beta_T + l2 T),    T = sum of weights so far,

worked out for the features of a row when it comes, and for all of them at the end of the chunk.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST, entries
from riata.kernels.steps import Steps, descend, safe_step, slopes_of


@compiled(fastmath=FAST)
def refresh(features: np.ndarray | None, threshold: float, divisor: float, z: np.ndarray, w: np.ndarray) -> None:
    """The weights of some features (None: all) from the sum of their slopes."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        w[j] = -math.copysign(max(abs(z[j]) - threshold, 0.0) / divisor, z[j])


@compiled(inline="always")
def strength(eta: float, safe: float, largest: float, total: float) -> float:
    """beta_T: the quadratic that keeps w near zero. `safe` adds the curvature along the largest row so far."""
    if safe > 0.0 and largest > 0.0:
        return safe * largest + math.sqrt(safe * largest * total) / eta
    return math.sqrt(max(total, 1.0)) / eta


@compiled()
def rda_sweep(
    steps: Steps,
    l1: float,
    l2: float,
    z: np.ndarray,
    total: np.ndarray,
    w: np.ndarray,
    b: float,
    learn_b: float,
    largest: float,
) -> tuple[float, float]:
    """Steps over `visits`, `batch` rows each, updating z, total and w in place; the intercept is the last of z.

    `margins` gets each row's before it is learnt. Returns b and the largest row norm.
    """
    rows, y, weight, visits, batch, loss, etas, safe, margins = steps
    d = w.shape[0]
    factors, slopes = np.empty(batch), z[:d]
    beta = strength(etas[0], safe, largest, total[0])
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        for i in members:
            features, _ = entries(rows, i)
            refresh(features, l1 * total[0], beta + l2 * total[0], z, w)
        slope = slopes_of(rows, members, y, weight, loss, w, b, factors, margins[t * batch : (t + 1) * batch])
        _, largest = safe_step(rows, members, weight, learn_b, safe, etas[t], largest)
        descend(rows, members, -1.0, factors, slopes)
        z[d] += slope
        total[0] += weight[members].mean()
        beta = strength(etas[t], safe, largest, total[0])
        b = -learn_b * z[d] / beta
    refresh(None, l1 * total[0], beta + l2 * total[0], z, w)
    return b, largest

"""Truncated gradient on the rows of a chunk, a step at the cost of the row's non-zeros.

A feature that a row does not hold only shrinks, and only while |w| <= ceiling, which then holds for ever: many
truncations are one, by the difference of the running debt. It is made when a row next holds the feature, and for all
features at the end of the chunk. What less than `every` steps have gathered stays in `pending`.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST, entries
from riata.kernels.steps import Steps, descend, safe_step, slopes_of


@compiled(fastmath=FAST)
def settle(features: np.ndarray | None, debt: float, ceiling: float, w: np.ndarray, paid: np.ndarray) -> None:
    """Make the truncations since `paid` on some features (None: all)."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        if abs(w[j]) <= ceiling:
            w[j] = math.copysign(max(abs(w[j]) - (debt - paid[j]), 0.0), w[j])
        paid[j] = debt


@compiled()
def truncated_sweep(
    steps: Steps,
    l1: float,
    ceiling: float,
    every: int,
    before: int,
    pending: np.ndarray,
    w: np.ndarray,
    b: float,
    learn_b: float,
    largest: float,
) -> tuple[float, float]:
    """Steps over `visits`, `batch` rows each, updating w and pending in place, after `before` earlier steps.

    `margins` gets each row's before it is learnt. With `safe`, eta_t is divided by the curvature along the largest row
    so far. Returns b and the largest row norm.
    """
    rows, y, weight, visits, batch, loss, etas, safe, margins = steps
    debt = 0.0
    paid, factors = np.zeros(w.shape[0]), np.empty(batch)
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        for i in members:
            features, _ = entries(rows, i)
            settle(features, debt, ceiling, w, paid)
        slope = slopes_of(rows, members, y, weight, loss, w, b, factors, margins[t * batch : (t + 1) * batch])
        eta, largest = safe_step(rows, members, weight, learn_b, safe, etas[t], largest)
        descend(rows, members, eta, factors, w)
        b -= learn_b * eta * slope
        pending[0] += eta * l1 * weight[members].mean()
        if (before + t + 1) % every == 0:
            debt += pending[0]
            pending[0] = 0.0
    settle(None, debt, ceiling, w, paid)
    return b, largest

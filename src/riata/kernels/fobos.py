"""Fobos on the rows of a chunk, a step at the cost of the row's non-zeros.

A feature that a row does not hold only shrinks: |w| <- max(|w| - eta l1, 0) / (1 + eta l2). Many such steps are one:
with growth_t = prod_{s<=t} (1 + eta_s l2) and debt_t = sum_{s<=t} eta_s l1 growth_{s-1},
    |w_t| = max(|w_r| growth_r - (debt_t - debt_r), 0) / growth_t    for every r < t,
so a weight is brought up to date when a row next holds its feature, and all of them at the end of the chunk.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST, entries
from riata.kernels.steps import Steps, descend, safe_step, slopes_of

LARGEST_GROWTH = 1e100


@compiled(fastmath=FAST)
def settle(
    features: np.ndarray | None, debt: float, growth: float, w: np.ndarray, paid: np.ndarray, grown: np.ndarray
) -> None:
    """Bring the weights of some features (None: all) up to date; `paid`, `grown` are what each has seen."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        left = max(abs(w[j]) * grown[j] - (debt - paid[j]), 0.0)
        w[j] = math.copysign(left / growth, w[j])
        paid[j] = debt
        grown[j] = growth


@compiled()
def fobos_sweep(
    steps: Steps, l1: np.ndarray, l2: float, w: np.ndarray, b: float, learn_b: float, largest: float
) -> tuple[float, float]:
    """Steps over `visits`, `batch` rows each, updating w and margins in place; returns b and the largest row norm.

    `l1` holds a strength per step. With `safe`, eta_t is divided by the curvature along the largest row so far.
    """
    rows, y, weight, visits, batch, loss, etas, safe, margins = steps
    debt, growth = 0.0, 1.0
    paid, grown = np.zeros(w.shape[0]), np.ones(w.shape[0])
    slopes = np.empty(batch)
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        for i in members:
            features, _ = entries(rows, i)
            settle(features, debt, growth, w, paid, grown)
        slope = slopes_of(rows, members, y, weight, loss, w, b, slopes, margins[t * batch : (t + 1) * batch])
        eta, largest = safe_step(rows, members, weight, learn_b, safe, etas[t], largest)
        descend(rows, members, eta, slopes, w)
        b -= learn_b * eta * slope
        debt += eta * l1[t] * growth
        growth *= 1.0 + eta * l2
        if growth > LARGEST_GROWTH:
            settle(None, debt, growth, w, paid, grown)
            debt, growth = 0.0, 1.0
            paid[:] = 0.0
            grown[:] = 1.0
    settle(None, debt, growth, w, paid, grown)
    return b, largest

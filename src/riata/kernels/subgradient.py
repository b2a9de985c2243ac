"""Stochastic sub-gradient steps on the rows of a chunk, made lazily.

A feature that a row does not hold only moves by -eta_t l1 sign(w). Far from zero many such moves are one; a weight
that crosses zero changes sign and comes back (this is why the method is never sparse), so its crossings are found one
after the other in the running sum of the eta_t l1. A weight that hovers around zero is replayed step by step.
"""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import entries
from riata.kernels.steps import Steps, descend, safe_step, slopes_of


@compiled()
def settle(features: np.ndarray | None, now: int, debts: np.ndarray, w: np.ndarray, last: np.ndarray) -> None:
    """Make the moves of steps last_j + 1 .. now for some features (None: all); `debts` is the running sum."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        t, v = last[j], w[j]
        last[j] = now
        while t < now and v != 0.0:
            zero_at = debts[t] + abs(v)
            if zero_at > debts[now]:
                v += np.copysign(debts[now] - debts[t], -v)
                t = now
            else:
                crossing = t + 1 + np.searchsorted(debts[t + 1 : now + 1], zero_at)
                v = np.copysign(debts[crossing] - zero_at, -v)
                t = crossing
        w[j] = v


@compiled()
def subgradient_sweep(
    steps: Steps, l1: float, w: np.ndarray, b: float, learn_b: float, largest: float
) -> tuple[float, float]:
    """Steps over `visits`, `batch` rows each, updating w and margins in place; returns b and the largest row norm.

    With `safe`, eta_t is divided by the curvature along the largest row so far.
    """
    rows, y, weight, visits, batch, loss, etas, safe, margins = steps
    debts, last = np.zeros(etas.shape[0] + 1), np.zeros(w.shape[0], dtype=np.int64)
    slopes = np.empty(batch)
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        for i in members:
            features, _ = entries(rows, i)
            settle(features, t, debts, w, last)
        slope = slopes_of(rows, members, y, weight, loss, w, b, slopes, margins[t * batch : (t + 1) * batch])
        eta, largest = safe_step(rows, members, weight, learn_b, safe, etas[t], largest)
        debts[t + 1] = debts[t] + eta * l1
        # The sign is that of the weight before the gradient moves it: settle this step's rows first.
        for i in members:
            features, _ = entries(rows, i)
            settle(features, t + 1, debts, w, last)
        descend(rows, members, eta, slopes, w)
        b -= learn_b * eta * slope
    settle(None, etas.shape[0], debts, w, last)
    return b, largest

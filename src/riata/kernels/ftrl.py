"""FTRL-Proximal on the rows of a chunk. The weights are a formula of the memory, so nothing is ever owed:

    w_j = -soft(z_j, l1 * debt) / (1 + sqrt(n_j) + l2 * debt),    debt = sum of eta_t s_t,

worked out for the features of a row when it comes, and for all of them at the end of the chunk.
"""

import math

import numpy as np
from numba import njit

from riata.kernels.rows import FAST, entries
from riata.kernels.steps import descend, safe_step, slopes_of


@njit(cache=True, fastmath=FAST)
def refresh(features, l1, l2, z, n, w):
    """The weights of some features (None: all) from their memory; l1 and l2 have grown with the steps."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        left = max(abs(z[j]) - l1, 0.0)
        w[j] = -math.copysign(left, z[j]) / (1.0 + math.sqrt(n[j]) + l2)


@njit(cache=True, fastmath=FAST)
def absorb(features, eta, slopes, z, n, w):
    """Add a step's slopes to the memory of some features; what is taken becomes zero, so a feature counts once."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        g = slopes[j]
        slopes[j] = 0.0
        root = math.sqrt(n[j])
        n[j] += g * g
        z[j] += eta * g - (math.sqrt(n[j]) - root) * w[j]


@njit(cache=True)
def ftrl_sweep(rows, y, weight, visits, batch, loss, etas, safe, margins, l1, l2, z, n, debt, w, b, learn_b, largest):
    """Steps over `visits`, `batch` rows each, updating z, n, debt and w in place; the intercept is the last of z and n.

    `margins` gets each row's before it is learnt. With `safe`, eta_t is divided by the root of the curvature along the
    largest row so far. Returns b and the largest row norm.
    """
    d = w.shape[0]
    factors, slopes = np.empty(batch), np.zeros(d)
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        for i in members:
            features, _ = entries(rows, i)
            refresh(features, l1 * debt[0], l2 * debt[0], z, n, w)
        slope = slopes_of(rows, members, y, weight, loss, w, b, factors, margins[t * batch : (t + 1) * batch])
        _, largest = safe_step(rows, members, weight, learn_b, safe, etas[t], largest)
        eta = etas[t] / math.sqrt(safe * largest) if safe > 0.0 and largest > 0.0 else etas[t]
        descend(rows, members, -1.0, factors, slopes)
        for i in members:
            features, _ = entries(rows, i)
            absorb(features, eta, slopes, z, n, w)
        root = math.sqrt(n[d])
        n[d] += slope * slope
        z[d] += eta * slope - (math.sqrt(n[d]) - root) * b
        b = -learn_b * z[d] / (1.0 + math.sqrt(n[d]))
        debt[0] += eta * weight[members].mean()
    refresh(None, l1 * debt[0], l2 * debt[0], z, n, w)
    return b, largest

"""Loss, gradient and conjugate over the rows of a chunk, each row read once.

A row is read for its margin and, while it is still in the cache, added to the gradient of the side its slope
u = loss'(y, z) lies on: row 0 of `slopes` gathers u > 0, row 1 the rest. Sums are kept in float64 whatever X holds.
The conjugate comes from the equality of Fenchel and Young, conjugate(y, u) = u z - loss(y, z).

`totals` are sum s, sum s loss, then for each side sum s u and sum s conjugate(y, u).
"""

import numpy as np
from numba import njit

from riata.kernels.losses import value_and_derivative
from riata.kernels.rows import FAST


@njit(cache=True, nogil=True, inline="always")
def account(loss, y, z, weight, totals):
    """Add a row to the totals; returns its slope and its side."""
    f, u = value_and_derivative(loss, y, z)
    side = 0 if u > 0.0 else 1
    totals[0] += weight
    totals[1] += weight * f
    totals[2 + 2 * side] += weight * u
    totals[3 + 2 * side] += weight * (u * z - f)
    return u, side


@njit(cache=True, nogil=True, fastmath=FAST)
def dense_first_order(X, y, weight, loss, w, support, b):
    """Of dense rows, as `in_rows` gives them; `support` are the features of non-zero weight."""
    n, d = X.shape[0], w.shape[0]
    slopes, totals = np.zeros((2, d)), np.zeros(6)
    few = support.shape[0] < d // 4
    for i in range(n):
        x = X[i]
        z = 0.0
        if few:
            for p in range(support.shape[0]):
                z += x[support[p]] * w[support[p]]
        else:
            for j in range(d):
                z += x[j] * w[j]
        u, side = account(loss, y[i], z + b, weight[i], totals)
        if u != 0.0:
            u *= weight[i]
            g = slopes[side]
            for j in range(d):
                g[j] += u * x[j]
    return totals, slopes


@njit(cache=True, nogil=True, fastmath=FAST)
def csr_first_order(indptr, indices, data, y, weight, loss, w, b):
    """Of sparse rows."""
    slopes, totals = np.zeros((2, w.shape[0])), np.zeros(6)
    for i in range(y.shape[0]):
        z = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            z += data[p] * w[indices[p]]
        u, side = account(loss, y[i], z + b, weight[i], totals)
        if u != 0.0:
            u *= weight[i]
            g = slopes[side]
            for p in range(indptr[i], indptr[i + 1]):
                g[indices[p]] += u * data[p]
    return totals, slopes

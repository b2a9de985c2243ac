"""Loss, gradient and conjugate over the rows of a chunk, each row read once.

A row is read for its margin and, while it is still in the cache, added to the gradient of the side its slope
u = loss'(y, z) lies on: row 0 of `slopes` gathers u > 0, row 1 the rest. Sums are kept in float64 whatever X holds.
The conjugate comes from the equality of Fenchel and Young, conjugate(y, u) = u z - loss(y, z).

`totals` are sum s, sum s loss, then for each side sum s u and sum s conjugate(y, u).
"""

import numpy as np
from numba import uint64

from riata.kernels.compiled import compiled
from riata.kernels.losses import value_and_derivative
from riata.kernels.rows import FAST, span


@compiled(nogil=True, inline="always")
def account(loss: int, y: float, z: float, weight: float, totals: np.ndarray) -> tuple[float, int]:
    """Add a row to the totals; returns its slope and its side."""
    f, u = value_and_derivative(loss, y, z)
    side = 0 if u > 0.0 else 1
    totals[0] += weight
    totals[1] += weight * f
    totals[2 + 2 * side] += weight * u
    totals[3 + 2 * side] += weight * (u * z - f)
    return u, side


@compiled(nogil=True, fastmath=FAST)
def dense_first_order(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: int, w: np.ndarray, support: np.ndarray, b: float
) -> tuple[np.ndarray, np.ndarray]:
    """Of dense rows, as `in_rows` gives them; `support` are the features of non-zero weight.

    Rows wait until there are four of a side, so that its gradient is loaded and stored a quarter as often.
    """
    n, d = X.shape[0], w.shape[0]
    slopes, totals = np.zeros((2, d)), np.zeros(6)
    waiting, pulls, count = np.zeros((2, 4), dtype=np.int64), np.zeros((2, 4)), np.zeros(2, dtype=np.int64)
    few = support.shape[0] < d // 4
    for i in range(n):
        x = X[i]
        z = 0.0
        if few:
            for p in range(support.shape[0]):
                j = uint64(support[p])
                z += x[j] * w[j]
        else:
            for j in range(d):
                z += x[j] * w[j]
        u, side = account(loss, y[i], z + b, weight[i], totals)
        if u != 0.0:
            waiting[side, count[side]], pulls[side, count[side]] = i, u * weight[i]
            count[side] += 1
            if count[side] == 4:
                _add_four(slopes[side], X, waiting[side], pulls[side])
                count[side] = 0
    for side in range(2):
        for place in range(count[side], 4):
            pulls[side, place] = 0.0  # places that are left hold rows that were added before
        _add_four(slopes[side], X, waiting[side], pulls[side])
    return totals, slopes


@compiled(nogil=True, fastmath=FAST)
def _add_four(g: np.ndarray, X: np.ndarray, rows: np.ndarray, u: np.ndarray) -> None:
    """g += the sum of u x over four rows."""
    x0, x1, x2, x3 = X[rows[0]], X[rows[1]], X[rows[2]], X[rows[3]]
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    for j in range(g.shape[0]):
        g[j] += u0 * x0[j] + u1 * x1[j] + u2 * x2[j] + u3 * x3[j]


@compiled(nogil=True, fastmath=FAST)
def csr_first_order(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: int,
    w: np.ndarray,
    b: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Of sparse rows."""
    slopes, totals = np.zeros((2, w.shape[0])), np.zeros(6)
    for i in range(y.shape[0]):
        start, stop = span(indptr, i)
        z = 0.0
        for p in range(start, stop):
            z += data[p] * w[uint64(indices[p])]
        u, side = account(loss, y[i], z + b, weight[i], totals)
        if u != 0.0:
            u *= weight[i]
            g = slopes[side]
            for p in range(start, stop):
                g[uint64(indices[p])] += u * data[p]
    return totals, slopes

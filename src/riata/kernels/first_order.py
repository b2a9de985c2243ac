"""Loss, gradient and conjugate over the rows of a chunk, each row read once.

A row is read for its margin and, while it is still in the cache, added to the gradient of the side its slope
u = loss'(y, z) lies on: row 0 of `slopes` gathers u > 0, row 1 the rest. Sums are kept in float64 whatever X holds.
The conjugate comes from the equality of Fenchel and Young, conjugate(y, u) = u z - loss(y, z).

`totals` are sum s, sum s loss, then for each side sum s u and sum s conjugate(y, u).

Arrays are made outside of the compiled loop: to compile their making takes half as long as the loop itself.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.losses import LOGISTIC, Coded, is_logistic, value_and_derivative
from riata.kernels.products import margins_of_rows
from riata.kernels.rows import FAST, LONG_ROW, span

ENTRIES_IN_CACHE = 4096  # of rows that are read twice
MOST_ROWS = 256  # of them
FEW_FETCHED = 48  # times as many numbers of a long row are read once more as fast as single ones are fetched


class Waiting(NamedTuple):
    """Rows that are still to be added to the slopes, up to four of each side, so that a side's slopes are loaded and
    stored a quarter as often."""

    rows: np.ndarray
    pulls: np.ndarray
    counts: np.ndarray
    at_hand: np.ndarray  # the pulls of rows that are in the cache, of both sides


def dense_first_order(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: Coded, w: np.ndarray, support: np.ndarray, b: float
) -> tuple[np.ndarray, np.ndarray]:
    """Totals and slopes of dense rows, as `in_rows` gives them; `support` are the features of non-zero weight."""
    totals, slopes = np.zeros(6), np.zeros((2, len(w)))
    at_hand = np.empty(max(4, min(MOST_ROWS, ENTRIES_IN_CACHE // max(len(w), 1))))
    waiting = Waiting(np.zeros((2, 4), dtype=np.int64), np.zeros((2, 4)), np.zeros(2, dtype=np.int64), at_hand)
    add_dense_rows(X, y, weight, loss, w, support, b, totals, slopes, waiting)
    return totals, slopes


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def add_dense_rows(
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Coded,
    w: np.ndarray,
    support: np.ndarray,
    b: float,
    totals: np.ndarray,
    slopes: np.ndarray,
    waiting: Waiting,
) -> None:
    """Add all rows to the totals and slopes, as many at a time as can be `at_hand`."""
    d, (rows, pulls, counts, at_hand) = w.shape[0], waiting
    few = d >= LONG_ROW and FEW_FETCHED * support.shape[0] < d
    for first in range(0, X.shape[0], at_hand.shape[0]):
        last = min(first + at_hand.shape[0], X.shape[0])
        margins_of_rows(X, first, last, w, support, b, few, at_hand)
        if is_logistic(loss):
            _account_for_all(LOGISTIC, y[first:last], weight[first:last], at_hand, totals)
        else:
            _account_for_all(loss, y[first:last], weight[first:last], at_hand, totals)
        for i in range(first, last):
            u = at_hand[i - first]
            if u != 0.0:
                side = 0 if u > 0.0 else 1
                place = counts[side]
                rows[side, place], pulls[side, place] = i, u
                counts[side] = place + 1
                if place == 3:
                    _add_four(slopes[side], X, rows[side], pulls[side])
                    counts[side] = 0
    for side in range(2):
        for place in range(counts[side], 4):
            pulls[side, place] = 0.0  # places that are left hold rows that were added before
        _add_four(slopes[side], X, rows[side], pulls[side])


@compiled(nogil=True, fastmath=FAST)
def _add_four(g: np.ndarray, X: np.ndarray, rows: np.ndarray, u: np.ndarray) -> None:
    """g += the sum of u x over four rows."""
    x0, x1, x2, x3 = X[rows[0]], X[rows[1]], X[rows[2]], X[rows[3]]
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    for j in range(g.shape[0]):
        g[j] += u0 * x0[j] + u1 * x1[j] + u2 * x2[j] + u3 * x3[j]


class SparseSums(NamedTuple):
    """What sparse rows add up to, and room for as many rows as go together."""

    totals: np.ndarray
    slopes: np.ndarray  # of both sides, one behind the other
    pulls: np.ndarray


def csr_first_order(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Coded,
    w: np.ndarray,
    b: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Of sparse rows."""
    n = len(y)
    at_once = ENTRIES_IN_CACHE * n // max(int(indptr[n]) - int(indptr[0]), 1)
    sums = SparseSums(np.zeros(6), np.zeros(2 * len(w)), np.empty(min(max(at_once, 1), MOST_ROWS)))
    add_csr_rows(indptr, indices, data, y, weight, loss, w, b, sums)
    return sums.totals, sums.slopes.reshape(2, len(w))


@compiled(nogil=True, fastmath=FAST)
def add_csr_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Coded,
    w: np.ndarray,
    b: float,
    sums: SparseSums,
) -> None:
    """Add all rows to the sums, some at a time: margins, losses and slopes in a loop each, which the processor runs
    ahead in. In one loop each row would wait for the last.
    """
    totals, slopes, pulls = sums
    n, d, at_once = y.shape[0], uint64(w.shape[0]), pulls.shape[0]
    for first in range(0, n, at_once):
        last = min(first + at_once, n)
        for i in range(first, last):
            start, stop = span(indptr, i)
            z = 0.0
            for p in range(start, stop):
                z += data[p] * w[uint64(indices[p])]
            pulls[i - first] = z + b
        if is_logistic(loss):
            _account_for_all(LOGISTIC, y[first:last], weight[first:last], pulls, totals)
        else:
            _account_for_all(loss, y[first:last], weight[first:last], pulls, totals)
        for i in range(first, last):
            u = pulls[i - first]
            if u != 0.0:
                start, stop = span(indptr, i)
                of_side = uint64(0) if u > 0.0 else d
                for p in range(start, stop):
                    slopes[of_side + uint64(indices[p])] += u * data[p]


@compiled(nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def _account_for_all(loss: Coded, y: np.ndarray, weight: np.ndarray, pulls: np.ndarray, totals: np.ndarray) -> None:
    """Add rows to the totals, and make weighted slopes of their margins."""
    of_all = cost = up = down = conjugate_up = conjugate_down = 0.0
    for i in range(y.shape[0]):
        z, s = pulls[i], weight[i]
        f, u = value_and_derivative(loss, y[i], z)
        conjugate = s * (u * z - f)
        of_all += s
        cost += s * f
        u *= s
        up += u if u > 0.0 else 0.0
        down += 0.0 if u > 0.0 else u
        conjugate_up += conjugate if u > 0.0 else 0.0
        conjugate_down += 0.0 if u > 0.0 else conjugate
        pulls[i] = u
    totals[0] += of_all
    totals[1] += cost
    totals[2] += up
    totals[3] += conjugate_up
    totals[4] += down
    totals[5] += conjugate_down

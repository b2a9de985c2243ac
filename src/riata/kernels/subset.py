"""Least squares on a growing and shrinking set of columns, from their products alone.

The state, for the m columns whose products H = X'X (and h = X'y) are known and the `size` members of the set:

    members  (size)     which columns are inside
    W  (size, m)        W[s, j]: weight of member s in the regression of column j on the set
    A  (size, size)     inverse of the members' products
    w  (size)           weights of the regression of y on the set
    c  (m)              products of each column with the residual of y
    v  (m)              squared norm of what the set leaves of each column

Adding column p, with t_j the weight of p for column j, and removing member i change them in O(size * m):

    add:     t = (H_p - W_p' H_set) / v_p,  W_s -= W_sp t,  W_new = t,  c -= c_p t,  v -= v_p t^2
    remove:  W_s -= (A_si / A_ii) W_i,      c += (w_i / A_ii) W_i,      v += W_i^2 / A_ii

The squared loss (a sum, not a mean; half of it) falls by c_j^2 / 2 v_j when j comes in and rises by
w_i^2 / 2 A_ii when i leaves; for both at once,

    gain(i, j) = (c_j + w_i W_ij / A_ii)^2 / (v_j + W_ij^2 / A_ii) - w_i^2 / A_ii    (twice the fall of the loss).

No loop makes an array: to compile that takes longer than to compile the loop.
"""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def add(
    H: np.ndarray,
    members: np.ndarray,
    size: int,
    W: np.ndarray,
    A: np.ndarray,
    w: np.ndarray,
    c: np.ndarray,
    v: np.ndarray,
    p: int,
) -> None:
    """Column p becomes member number `size`."""
    m, t, weights = H.shape[0], W[size], A[size]
    fours = size - size % 4
    for s in range(size):
        weights[s] = W[s, p]  # side by side, as W does not have them
    for j in range(m):
        t[j] = H[p, j]
    for s in range(0, fours, 4):  # four at a time: t is read and written a quarter as often
        first, second, third, fourth = H[members[s]], H[members[s + 1]], H[members[s + 2]], H[members[s + 3]]
        a, b, d, e = weights[s], weights[s + 1], weights[s + 2], weights[s + 3]
        for j in range(m):
            t[j] -= a * first[j] + b * second[j] + d * third[j] + e * fourth[j]
    for s in range(fours, size):
        for j in range(m):
            t[j] -= weights[s] * H[members[s], j]
    pivot = t[p]  # v[p], but without the rounding of all updates since the start
    shift = c[p] / pivot
    for j in range(m):
        t[j] /= pivot
        c[j] -= shift * pivot * t[j]
        v[j] -= pivot * t[j] * t[j]
    for s in range(size):
        weight, share = weights[s], weights[s] / pivot
        for r in range(size):
            A[s, r] += share * weights[r]
        for j in range(m):
            W[s, j] -= weight * t[j]
        w[s] -= weight * shift
    for s in range(size):
        A[s, size] = A[size, s] = -weights[s] / pivot
    A[size, size] = 1.0 / pivot
    w[size] = shift
    members[size] = p


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def remove(
    members: np.ndarray, size: int, W: np.ndarray, A: np.ndarray, w: np.ndarray, c: np.ndarray, v: np.ndarray, i: int
) -> None:
    """Member i leaves; the last member takes its place."""
    m = c.shape[0]
    norm2 = 1.0 / A[i, i]
    for j in range(m):
        c[j] += w[i] * norm2 * W[i, j]
        v[j] += norm2 * W[i, j] * W[i, j]
    for s in range(size):
        if s != i:
            share = A[s, i] * norm2
            w[s] -= share * w[i]
            for j in range(m):
                W[s, j] -= share * W[i, j]
            for r in range(size):
                A[s, r] -= share * A[i, r]
    last = size - 1
    members[i], w[i] = members[last], w[last]
    for j in range(m):
        W[i, j] = W[last, j]
    for s in range(size):
        A[i, s] = A[last, s]
    for s in range(size):
        A[s, i] = A[s, last]


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def best_addition(inside: np.ndarray, c: np.ndarray, v: np.ndarray, least: float) -> tuple[int, float]:
    """(column, gain) of the outside column with the largest c_j^2 / v_j, where v_j > least; (-1, 0) if none."""
    best, gain = -1, 0.0
    for j in range(c.shape[0]):
        if v[j] > least and c[j] * c[j] > gain * v[j] and not inside[j]:
            best, gain = j, c[j] * c[j] / v[j]
    return best, gain


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def best_swap(
    inside: np.ndarray,
    size: int,
    W: np.ndarray,
    A: np.ndarray,
    w: np.ndarray,
    c: np.ndarray,
    v: np.ndarray,
    least: float,
) -> tuple[int, int, float]:
    """(member, column, gain) of the swap with the largest gain, where the column keeps more than `least`."""
    best_i, best_j, best = -1, -1, 0.0
    for i in range(size):
        D = 1.0 / A[i, i]
        cost = w[i] * w[i] * D
        for j in range(c.shape[0]):
            norm2 = v[j] + W[i, j] * W[i, j] * D
            product = c[j] + w[i] * W[i, j] * D
            if product * product > (best + cost) * norm2 and norm2 > least and not inside[j]:
                best_i, best_j, best = i, j, product * product / norm2 - cost
    return best_i, best_j, best


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def swap_gains(
    W: np.ndarray,
    diagonal: np.ndarray,
    w: np.ndarray,
    c: np.ndarray,
    v: np.ndarray,
    least: float,
    gains: np.ndarray,
    partners: np.ndarray,
) -> None:
    """Raise every column's gain to the largest of taking it for a member, its partner; `diagonal` is that of A."""
    for i in range(w.shape[0]):
        D = 1.0 / diagonal[i]
        cost = w[i] * w[i] * D
        for j in range(c.shape[0]):
            norm2 = v[j] + W[i, j] * W[i, j] * D
            product = c[j] + w[i] * W[i, j] * D
            if norm2 > least and product * product / norm2 - cost > gains[j]:
                gains[j], partners[j] = product * product / norm2 - cost, i

"""Weighted sums over the rows of a chunk, for all columns at once, in float64 whatever the data's type."""

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.rows import FAST, span


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def dense_sums(
    X: np.ndarray, shift: np.ndarray, u: np.ndarray, curvature: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums over rows of u a, of curvature * a and of curvature * a^2, each a vector of columns; a = x - shift."""
    n, d = X.shape
    by_u, by_curvature, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(n):
        ui, ci = u[i], curvature[i]
        for j in range(d):
            a = X[i, j] - shift[j]
            by_u[j] += ui * a
            by_curvature[j] += ci * a
            squares[j] += ci * a * a
    return by_u, by_curvature, squares


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def dense_centred_slopes(X: np.ndarray, shift: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The first of them alone, four rows at a time: reading the sums would take as long as reading rows."""
    n, d = X.shape
    by_u, fours = np.zeros(d), n - n % 4
    for i in range(0, fours, 4):
        u0, u1, u2, u3 = u[i], u[i + 1], u[i + 2], u[i + 3]
        for j in range(d):
            s = shift[j]
            by_u[j] += u0 * (X[i, j] - s) + u1 * (X[i + 1, j] - s) + u2 * (X[i + 2, j] - s) + u3 * (X[i + 3, j] - s)
    for i in range(fours, n):
        ui = u[i]
        for j in range(d):
            by_u[j] += ui * (X[i, j] - shift[j])
    return by_u


@compiled(fastmath=FAST, nogil=True)
def csr_sums(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, shift: np.ndarray, u: np.ndarray, curvature: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same sums for CSR; a zero that is not stored is -shift away from the shift."""
    d = shift.shape[0]
    by_u, by_curvature, squares, seen = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    n, entries = indptr.shape[0] - 1, np.zeros(d, dtype=np.int64)
    for i in range(n):
        ui, ci = u[i], curvature[i]
        start, stop = span(indptr, i)
        for p in range(start, stop):
            j = uint64(indices[p])
            by_u[j] += ui * data[p]
            by_curvature[j] += ci * data[p]
            squares[j] += ci * (data[p] - shift[j]) ** 2
            seen[j] += ci
            entries[j] += 1
    total_u, total = u.sum(), curvature.sum()
    for j in range(d):
        by_u[j] -= total_u * shift[j]
        by_curvature[j] -= total * shift[j]
        if entries[j] < n:  # or total - seen would be rounding
            squares[j] += (total - seen[j]) * shift[j] * shift[j]
    return by_u, by_curvature, squares

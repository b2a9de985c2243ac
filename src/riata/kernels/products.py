"""Products of rows with weights, and of columns with each other."""

import math

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.rows import FAST, LONG_ROW, span

TILE = 512  # columns of a product that stay in the cache while rows go by
FEW_NUMBERS = 20  # times as many numbers of a row are read as fast, in order, as single ones are fetched


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def dense_margins(X: np.ndarray, w: np.ndarray, support: np.ndarray, b: float) -> np.ndarray:
    """X w + b; `support` are the features of non-zero weight."""
    z = np.empty(X.shape[0])
    margins_of_rows(X, 0, X.shape[0], w, support, b, FEW_NUMBERS * support.shape[0] < w.shape[0], z)
    return z


@compiled(nogil=True, fastmath=FAST)
def margins_of_rows(
    X: np.ndarray, start: int, stop: int, w: np.ndarray, support: np.ndarray, b: float, few: bool, z: np.ndarray
) -> None:
    """Write the margins of some rows to z. Of `few` features numbers are fetched one by one; otherwise rows are read
    as a whole, and long ones four at a time, which is as fast as memory."""
    d, i = w.shape[0], start
    while not few and d >= LONG_ROW and i + 4 <= stop:
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        z0 = z1 = z2 = z3 = b
        for j in range(d):
            z0 += x0[j] * w[j]
            z1 += x1[j] * w[j]
            z2 += x2[j] * w[j]
            z3 += x3[j] * w[j]
        z[i - start], z[i - start + 1], z[i - start + 2], z[i - start + 3] = z0, z1, z2, z3
        i += 4
    while i < stop:
        x, total = X[i], b
        if few:
            for p in range(support.shape[0]):
                j = uint64(support[p])
                total += x[j] * w[j]
        else:
            for j in range(d):
                total += x[j] * w[j]
        z[i - start] = total
        i += 1


@compiled(nogil=True, fastmath=FAST)
def csr_margins(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, w: np.ndarray, b: float) -> np.ndarray:
    """X w + b."""
    z = np.empty(indptr.shape[0] - 1)
    for i in range(z.shape[0]):
        start, stop = span(indptr, i)
        total = 0.0
        for p in range(start, stop):
            total += data[p] * w[uint64(indices[p])]
        z[i] = total + b
    return z


@compiled(nogil=True, fastmath=FAST)
def csr_slopes(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
    """X'u, for d columns."""
    slopes = np.zeros(d)
    for i in range(u.shape[0]):
        start, stop = span(indptr, i)
        for p in range(start, stop):
            slopes[uint64(indices[p])] += u[i] * data[p]
    return slopes


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def centred_columns(X: np.ndarray, weight: np.ndarray, columns: np.ndarray, A: np.ndarray, mean: np.ndarray) -> None:
    """Write sqrt(d) (x - mean) of some columns to A; their means, weighted by d, are added to the zeros in `mean`."""
    n, m = A.shape
    total = 0.0
    for i in range(n):  # the columns are fetched once: they lie far apart
        x = X[i]
        total += weight[i]
        for p in range(m):
            entry = x[uint64(columns[p])]
            A[i, p] = entry
            mean[p] += weight[i] * entry
    for p in range(m):
        mean[p] /= max(total, 1e-300)
    for i in range(n):
        root = math.sqrt(weight[i])
        for p in range(m):
            A[i, p] = root * (A[i, p] - mean[p])


@compiled(nogil=True)
def csr_products(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    weight: np.ndarray,
    place: np.ndarray,
    n_left: int,
    n_right: int,
    symmetric: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """sum_i d_i a_i b_i', sum_i d_i a_i and sum_i d_i b_i.

    `place[0, j]` is the position of column j among the left ones or -1, `place[1, j]` among the right ones. Where the
    two sets are the same, only the half that is needed is multiplied.
    """
    products, left_sum, right_sum = np.zeros((n_left, n_right)), np.zeros(n_left), np.zeros(n_right)
    flat, width = products.reshape(n_left * n_right), uint64(n_right)  # a row of them would be an object for each entry
    left_at, left_values = np.empty(n_left + 1, dtype=np.int32), np.empty(n_left + 1)
    right_at, right_values = np.empty(n_right + 1, dtype=np.int32), np.empty(n_right + 1)
    for i in range(weight.shape[0]):
        rights = _chosen(indptr, indices, data, i, place[1], right_at, right_values)
        lefts = rights
        if not symmetric:
            lefts = _chosen(indptr, indices, data, i, place[0], left_at, left_values)
        at, values = (right_at, right_values) if symmetric else (left_at, left_values)
        for q in range(uint64(0) if symmetric else rights):
            right_sum[uint64(right_at[q])] += right_values[q] * weight[i]
        for p in range(lefts):
            factor = values[p] * weight[i]
            j = uint64(at[p])
            left_sum[j] += factor
            row = j * width
            for q in range(p if symmetric else uint64(0), rights):
                flat[row + uint64(right_at[q])] += factor * right_values[q]
    if symmetric:
        right_sum[:] = left_sum
        for p in range(n_left):
            for q in range(p):
                both = products[p, q] + products[q, p]
                products[p, q] = both
                products[q, p] = both
    return products, left_sum, right_sum


@compiled(nogil=True, fastmath=FAST)
def sparse_column_products(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    row_starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    weight: np.ndarray,
    seen: np.ndarray,
    products: np.ndarray,
) -> None:
    """Add the upper half of A'DA to the zeros in `products`: of all columns, which are given by columns and by rows.

    A row of products is made at a time, which stays in the cache. `seen` are zeros: the entries of each row that lie
    before the column at hand, whose products with it are made already.
    """
    for j in range(products.shape[0]):
        product = products[j]
        start, stop = span(indptr, j)
        for p in range(start, stop):
            i = uint64(indices[p])
            factor = weight[i] * data[p]
            first, last = span(row_starts, i)
            for q in range(first + uint64(seen[i]), last):
                product[uint64(columns[q])] += factor * values[q]
            seen[i] += 1


@compiled(nogil=True, inline="always")
def _chosen(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    i: int,
    place: np.ndarray,
    at: np.ndarray,
    values: np.ndarray,
) -> int:
    """Write down the entries of a row that have a place; how many.

    An entry that has none is written too, and then overwritten: a branch would often be guessed wrong.
    """
    start, stop = span(indptr, i)
    found = uint64(0)
    for p in range(start, stop):
        k = place[uint64(indices[p])]
        at[found] = k
        values[found] = data[p]
        found += uint64(k >= 0)
    return found


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def narrow_products(A: np.ndarray, X: np.ndarray, n_features: int) -> np.ndarray:
    """A'X for a few columns A and a wide X of any type, in float64, without a copy of X: four rows at a time."""
    n, width = A.shape
    products = np.zeros((width, n_features))
    for first in range(0, n_features, TILE):
        last = min(first + TILE, n_features)
        for i in range(0, n - n % 4, 4):
            x0, x1, x2, x3 = X[i, first:last], X[i + 1, first:last], X[i + 2, first:last], X[i + 3, first:last]
            for c in range(width):
                a0, a1, a2, a3 = A[i, c], A[i + 1, c], A[i + 2, c], A[i + 3, c]
                row = products[c, first:last]
                for j in range(last - first):
                    row[j] += a0 * x0[j] + a1 * x1[j] + a2 * x2[j] + a3 * x3[j]
        for i in range(n - n % 4, n):
            for c in range(width):
                for j in range(first, last):
                    products[c, j] += A[i, c] * X[i, j]
    return products

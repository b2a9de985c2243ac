"""Weighted products of columns about a shift, wherever the rows are and however they lie."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dgemm, dsyrk

from riata.kernels.products import csr_products, narrow_products
from riata.matrices import device_sums as parts
from riata.matrices.rows import DeviceRows
from riata.solvers.subset.refit import curved

BLOCK_ROWS = 128  # converted to float64 at a time: stays in the cache until it is multiplied
NARROW = 8  # columns for which converting the others takes longer than multiplying


def column_products(X, D, shift, left, right=None):
    """sum_i D_i (x_ic - shift_c) x_ij for columns c of `left` and j of `right` (None is all of them).

    Centring one side is enough to keep the digits, and leaves the other as it lies.
    """
    d = X.shape[1]
    if len(left) == 0:
        return np.zeros((0, d if right is None else len(right)))
    if isinstance(X, DeviceRows):
        return parts.column_products(X, left, right, shift[left], D)
    every = right is None and np.array_equal(left, np.arange(d))
    if sp.issparse(X):
        right = np.arange(d) if right is None else right
        place = np.full((2, d), -1, dtype=np.int32)
        place[0, left], place[1, right] = np.arange(len(left)), np.arange(len(right))
        products, _, sums = csr_products(X.indptr, X.indices, X.data, D, place, len(left), len(right), every)
        return products - np.outer(shift[left], sums)
    if every:
        return dense_squares(X, shift, D)
    rows = curved(D, 0.0)
    A = D[rows, None] * (X[rows][:, left] - shift[left])
    return dense_products(A, X[rows] if right is None else X[rows][:, right])


def dense_products(A, B):
    """A'B for a narrow A in float64 and a wide B of any type, converted some rows at a time."""
    if B.dtype == np.float64:
        return A.T @ B
    if A.shape[1] <= NARROW and B.flags.c_contiguous:
        return narrow_products(A, B)
    products = np.zeros((B.shape[1], A.shape[1]), order="F")
    block = np.empty((min(BLOCK_ROWS, len(B)), B.shape[1]))
    for i in range(0, len(B), BLOCK_ROWS):
        rows = block[: len(B[i : i + BLOCK_ROWS])]
        np.copyto(rows, B[i : i + BLOCK_ROWS])
        products = dgemm(1.0, rows.T, A[i : i + BLOCK_ROWS].T, 1.0, products, trans_b=True, overwrite_c=True)
    return products.T


def dense_squares(X, shift, D):
    """sum_i D_i (x_i - shift) x_i' for all columns: by symmetry half the work of `dense_products`."""
    root = np.sqrt(D)
    rows = curved(root, 0.0)
    root = root[rows]
    A = X[rows] - shift
    A *= root[:, None]
    upper = np.triu(dsyrk(1.0, A.T))
    return upper + np.triu(upper, 1).T + np.outer(root @ A, shift)

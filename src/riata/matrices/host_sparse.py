"""Sparse rows, by SciPy: the reference of those on a GPU, and what takes their place where there is none."""

import numpy as np
import scipy.sparse as sp

from riata.kernels.columns import csr_sums
from riata.matrices.rows import DenseRows, DeviceRows


class SparseRows(DeviceRows):
    """A CSR matrix."""

    dense = False

    def __init__(self, X):
        self.matrix, self.shape = sp.csr_array(X), X.shape

    def margins(self, w):
        return self.matrix @ w

    def slopes(self, U):
        return (self.matrix.T @ U.T).T

    def sums(self, shift, u, curvature):
        X = self.matrix
        return csr_sums(X.indptr, X.indices, X.data, np.asarray(shift), np.asarray(u), np.asarray(curvature))

    def columns(self, numbers, rows=slice(None)):
        return self.matrix[rows][:, numbers].toarray().astype(np.float64)

    def __getitem__(self, rows):
        return SparseRows(self.matrix[rows])

    def narrowed(self, numbers):
        return DenseRows(self.columns(numbers))

    def dense_rows(self, array):
        return DenseRows(array)

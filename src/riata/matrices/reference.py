"""Rows in memory that are summed like rows on a GPU: they stand in for one in tests on machines without it."""

from typing import Any

import numpy as np

from riata.matrices.array_api import ArrayMatrix
from riata.matrices.csr import CsrMatrix
from riata.matrices.matrix import Matrix
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp


class SparseReference(CsrMatrix):
    """Sparse rows that are summed by the array functions of `Matrix`, without the compiled loops for single passes."""

    first_order = Matrix.first_order
    moments = Matrix.moments
    products = Matrix.products
    _column_products = Matrix._column_products
    standardised = Matrix.standardised  # type: ignore[assignment] # (rows of `dense`, not of `DenseMatrix`)

    def narrowed(self, numbers: np.ndarray) -> Any:
        return self.dense(self.columns(numbers))

    def columns(self, numbers: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        return self.array[rows][:, numbers].toarray().astype(np.float64)

    def dense(self, array: np.ndarray) -> Any:
        return ArrayMatrix(array)


def reference(X: Any, xp: Any) -> Matrix:
    """Rows of a NumPy array, as an array of the library xp, or of a SciPy matrix."""
    return SparseReference(sp.csr_array(X)) if is_sparse(X) else ArrayMatrix(xp.asarray(X))

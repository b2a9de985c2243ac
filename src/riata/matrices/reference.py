"""Rows in memory whose passes are those of a device: where there is none, they take its place and are tested in it."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from riata.matrices.array_api import ArrayMatrix
from riata.matrices.csr import CsrMatrix
from riata.matrices.matrix import Matrix


class SparseReference(CsrMatrix):
    """Sparse rows that are summed as `Matrix` says, without the compiled loops that know the whole of a pass."""

    first_order = Matrix.first_order
    moments = Matrix.moments
    products = Matrix.products
    _column_products = Matrix._column_products
    standardised = Matrix.standardised  # type: ignore[assignment]

    def narrowed(self, numbers: np.ndarray) -> Any:
        return self.dense(self.columns(numbers))

    def columns(self, numbers: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        return self.array[rows][:, numbers].toarray().astype(np.float64)

    def dense(self, array: np.ndarray) -> Any:
        return ArrayMatrix(array)


def reference(X: Any, xp: Any) -> Matrix:
    """Rows of a NumPy array, as an array of the library xp, or of a SciPy matrix."""
    return SparseReference(sp.csr_array(X)) if sp.issparse(X) else ArrayMatrix(xp.asarray(X))

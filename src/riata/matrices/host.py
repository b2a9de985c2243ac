"""Rows in memory, from what users and files have."""

from typing import Any

import numpy as np

from riata.matrices.csr import CsrMatrix
from riata.matrices.csr_parts import CsrParts
from riata.matrices.dense import DenseMatrix
from riata.matrices.matrix import Matrix
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp


def as_matrix(X: Any) -> Matrix:
    """Rows of a NumPy array or a SciPy matrix, without a copy where it is an array or CSR; a Matrix is one already."""
    if isinstance(X, Matrix):
        return X
    if isinstance(X, CsrParts):
        return CsrMatrix(X)
    return CsrMatrix(sp.csr_array(X)) if is_sparse(X) else DenseMatrix(np.asarray(X))


def from_parts(parts: dict[str, np.ndarray], shape: tuple[int, int]) -> Matrix:
    """The matrix of `Matrix.parts`."""
    if "X" in parts:
        return DenseMatrix(parts["X"])
    return CsrMatrix(sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape))

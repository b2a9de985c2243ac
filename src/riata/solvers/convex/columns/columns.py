"""Columns in memory, one by one, dense ones or the entries of sparse ones, and what work along them costs."""

from typing import Protocol

import numpy as np

from riata.kernels.products import sparse_column_products
from riata.kernels.rows import CsrRows, DenseRows, Rows
from riata.matrices.matrix import Matrix
from riata.positive import mirrored
from riata.scipy_later import sparse as sp

FASTER = 10.0  # so many times as many operations a second has a product of matrices, or a factorisation, as a sweep
SPARSE = 3.0  # what an entry of a sparse column costs, in entries of a dense one
PAIR = 8.0  # what two entries of a row cost in the products of sparse columns, were all rows as long
NO_SCALE = np.empty(0)


class Columns(Protocol):
    """What coordinate descent and Newton steps ask of columns. Costs are in entries of a dense column in a sweep."""

    @property
    def rows(self) -> Rows:
        """The columns, as compiled loops take rows."""

    @property
    def stored(self) -> np.ndarray:
        """The entries of each column."""

    def sweep_cost(self, entries: float) -> float:
        """That of a sweep along so many entries."""

    def products_cost(self, support: np.ndarray) -> float:
        """That of the products of these columns."""

    def products(self, support: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The weighted products of these columns with one another."""


class DenseColumns:
    """Columns of which every entry is there."""

    def __init__(self, A: np.ndarray) -> None:
        self.rows: Rows = DenseRows(A, NO_SCALE)
        self.A = A  # a row for every column
        self.stored = np.full(len(A), A.shape[1])

    def sweep_cost(self, entries: float) -> float:
        return float(entries)

    def products_cost(self, support: np.ndarray) -> float:
        return float(len(support) * self.stored[support].sum() / FASTER)

    def products(self, support: np.ndarray, weight: np.ndarray) -> np.ndarray:
        A = self.A[support] * np.sqrt(weight)
        products: np.ndarray = A @ A.T
        return products


class SparseColumns:
    """Columns of which only the entries that are not zero are there."""

    def __init__(self, matrix: "sp.csc_array") -> None:  # quoted: to evaluate it would import SciPy
        self._matrix = matrix
        starts, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        self.rows: Rows = CsrRows(starts, indices, matrix.data.astype(np.float64, copy=False), NO_SCALE)
        self.stored = np.diff(matrix.indptr)

    def sweep_cost(self, entries: float) -> float:
        return float(SPARSE * entries)

    def products_cost(self, support: np.ndarray) -> float:
        return float(PAIR * float(self.stored[support].sum()) ** 2 / self._matrix.shape[0])

    def products(self, support: np.ndarray, weight: np.ndarray) -> np.ndarray:
        A, products = self._matrix[:, support].astype(np.float64), np.zeros((len(support),) * 2)
        rows, seen = A.tocsr(), np.zeros(A.shape[0], dtype=np.int64)  # its rows are in the order of columns
        parts = A.indptr, A.indices, A.data, rows.indptr, rows.indices, rows.data
        sparse_column_products(*parts, weight, seen, products)
        return mirrored(products)


def one_by_one(matrix: Matrix, weight: np.ndarray | None) -> tuple[Columns, np.ndarray]:
    """The columns of some rows, and what was taken off each: with weights of the rows, the means of dense columns."""
    origin = np.zeros(matrix.shape[1])
    if matrix.sparse:
        return SparseColumns(matrix.as_csr().tocsc()), origin
    A = np.array(matrix.toarray().T, dtype=np.float64, order="C")
    if weight is not None:
        origin = A @ weight / weight.sum()
        A -= origin[:, None]
    return DenseColumns(A), origin

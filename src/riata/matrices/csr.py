"""Sparse rows in memory: SciPy's CSR, summed by compiled loops over the entries."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from riata.kernels.columns import csr_sums
from riata.kernels.first_order import csr_first_order
from riata.kernels.losses import code_of
from riata.kernels.products import csr_margins, csr_products, csr_slopes
from riata.kernels.rows import CsrRows, shrink_of
from riata.losses import Loss
from riata.matrices.csr_parts import CsrParts, StackedRows
from riata.matrices.dense import DenseMatrix
from riata.matrices.matrix import ALL, Matrix
from riata.matrices.moments import Products
from riata.scipy_later import sparse as sp

AT_ONCE = 1 << 20  # entries that are counted at a time, at least
WIDE = 1 << 20  # with more features, vectors over all of them are avoided


class CsrMatrix(Matrix):
    """A CSR array; a run of its rows is a view."""

    sparse = True

    def __init__(self, X: "sp.csr_array | CsrParts"):
        self.shape = X.shape
        if isinstance(X, CsrParts):
            self.stored = X
        else:
            self.stored, self.array = CsrParts.of(X), X

    @cached_property
    def array(self) -> "sp.csr_array":
        """The rows as SciPy has them, whose import waits until somebody asks for it."""
        return self.stored.matrix()

    @property
    def dtype(self) -> Any:
        return self.stored.dtype

    def margins(self, w: np.ndarray, b: Any = 0.0) -> np.ndarray:
        X = self.stored
        return self.array @ w + b if w.ndim == 2 else csr_margins(X.indptr, X.indices, X.data, w, float(b))

    def slopes(self, u: np.ndarray) -> np.ndarray:
        X = self.stored
        return self._slopes(u) if u.ndim == 2 else csr_slopes(X.indptr, X.indices, X.data, u, self.shape[1])

    def _slopes(self, U: np.ndarray) -> np.ndarray:
        return self.array.T @ U

    def sums(
        self, shift: np.ndarray, u: np.ndarray, curvature: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = self.stored
        return csr_sums(X.indptr, X.indices, X.data, shift, u, curvature)

    def columns(self, numbers: np.ndarray, rows: slice = ALL) -> np.ndarray:
        return self[rows].narrowed(numbers).toarray().astype(np.float64, copy=False)

    def __getitem__(self, rows: Any) -> "CsrMatrix":
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            return type(self)(self.array[rows])
        start, stop, _ = rows.indices(self.shape[0])
        return type(self)(self.stored.rows(start, max(start, stop)))

    def narrowed(self, numbers: np.ndarray) -> "CsrMatrix":
        """Costs as much as X has stored entries, however many columns it has."""
        X = self.stored
        if self.has_all(numbers):
            return self
        if self.shape[1] <= max(WIDE, X.nnz):
            return type(self)(self.array[:, numbers])
        ids = np.asarray(numbers)
        if len(ids) == 0:
            return type(self)(sp.csr_array((self.shape[0], 0), dtype=X.dtype))
        order = np.argsort(ids, kind="stable")
        at = np.searchsorted(ids[order], X.indices).clip(max=len(ids) - 1)
        found = ids[order[at]] == X.indices
        indptr = np.concatenate([[0], np.cumsum(found)])[X.indptr]
        return type(self)(sp.csr_array((X.data[found], order[at[found]], indptr), shape=(self.shape[0], len(ids))))

    def dense(self, array: np.ndarray) -> DenseMatrix:
        return DenseMatrix(array)

    def first_order(
        self, loss: Loss, y: np.ndarray, weight: np.ndarray, w: np.ndarray, b: float
    ) -> tuple[np.ndarray, np.ndarray]:
        X = self.stored
        if loss.code is None:
            return super().first_order(loss, y, weight, w, b)
        return csr_first_order(X.indptr, X.indices, X.data, y, weight, code_of(loss), w, b)

    def products(self, weight: np.ndarray, left: np.ndarray, right: np.ndarray) -> Products:
        products, left_sum, right_sum = self._multiplied(weight, left, right, left is right)
        return Products.from_sums(float(weight.sum()), left_sum, right_sum, products)

    def _column_products(
        self, curvature: np.ndarray, shift: np.ndarray, left: np.ndarray, right: np.ndarray | None
    ) -> np.ndarray:
        every = np.arange(self.shape[1])
        symmetric = right is None and self.has_all(left)
        products, _, sums = self._multiplied(curvature, left, every if right is None else right, symmetric)
        for row, its_shift in zip(products, shift[left], strict=True):
            row -= its_shift * sums  # in place: for all rows at once there would be two more copies of them
        return products

    def _multiplied(
        self, weight: np.ndarray, left: np.ndarray, right: np.ndarray, symmetric: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of d a b', d a and d b over the rows, for columns a of `left` and b of `right`."""
        X = self.stored
        place = np.full((2, self.shape[1]), -1, dtype=np.int32)
        place[0, left], place[1, right] = np.arange(len(left)), np.arange(len(right))
        return csr_products(X.indptr, X.indices, X.data, weight, place, len(left), len(right), symmetric)

    def stored_in_columns(self) -> np.ndarray:
        indices, width = self.stored.indices, self.shape[1]
        counts, at_once = np.zeros(width, np.intp), max(width, AT_ONCE)  # all at once NumPy makes a wider copy of them
        for start in range(0, len(indices), at_once):
            counts += np.bincount(indices[start : start + at_once], minlength=width)
        return counts

    def without_rare(self, least: int) -> "CsrMatrix":
        X = self.stored
        kept = (self.stored_in_columns() >= least)[X.indices]
        if kept.all():
            return self
        indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr].astype(X.indptr.dtype)
        return CsrMatrix(sp.csr_array((X.data[kept], X.indices[kept], indptr), shape=self.shape))

    def stored_less(self, shift: np.ndarray) -> "CsrMatrix":
        X = self.stored
        values = (X.data - shift[X.indices]).astype(X.dtype)
        return CsrMatrix(sp.csr_array((values, X.indices, X.indptr), shape=self.shape))

    def standardised(self, columns: np.ndarray, mean: np.ndarray, scale: np.ndarray, constant: float) -> DenseMatrix:
        A = DenseMatrix(self.columns(columns))
        return A.standardised(np.arange(len(columns)), mean, scale, constant)

    def stacked(self, others: Iterable[Matrix]) -> "CsrMatrix":
        rows = StackedRows(self.stored)
        for other in others:
            rows.add(other.csr_parts())
        return CsrMatrix(rows.whole())

    def unit_rows(self) -> "CsrMatrix":
        X = self.stored
        lengths = np.diff(X.indptr)  # SciPy's own sums of squares take memory for every column, and hashes have many
        rows = np.repeat(np.arange(len(lengths)), lengths)
        norms = np.sqrt(np.bincount(rows, np.square(X.data, dtype=np.float64), minlength=len(lengths)))
        factors = 1.0 / np.where(norms > 0, norms, 1.0)
        data = X.data * factors[rows].astype(X.dtype)
        return CsrMatrix(sp.csr_array((data, X.indices, X.indptr), shape=self.shape))

    def row_squares(self, v: np.ndarray) -> np.ndarray:
        return self.array.power(2) @ v

    def contiguous(self) -> "CsrMatrix":
        return self

    def row_layout(self, scale: np.ndarray | float = 1.0) -> CsrRows:
        X = self.stored
        return CsrRows(X.indptr, X.indices, X.data, shrink_of(scale, self.shape[1]))

    def column_layout(self) -> CsrRows:
        X = self.array.tocsc()
        return CsrRows(X.indptr, X.indices, X.data, np.ones(self.shape[0]))

    def toarray(self) -> np.ndarray:
        return self.array.toarray()

    def as_csr(self) -> "sp.csr_array":
        return self.array

    def csr_parts(self) -> CsrParts:
        return self.stored

    def parts(self) -> dict[str, np.ndarray]:
        return {"data": self.stored.data, "indices": self.stored.indices, "indptr": self.stored.indptr}

"""Dense rows in memory: a NumPy array, summed by compiled loops and BLAS."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from riata.kernels.columns import dense_centred_slopes, dense_sums
from riata.kernels.first_order import dense_first_order
from riata.kernels.losses import code_of
from riata.kernels.moments import dense_moments
from riata.kernels.products import centred_columns, dense_margins, narrow_products
from riata.kernels.rows import DenseRows, in_rows, shrink_of
from riata.losses import Loss
from riata.matrices.matrix import ALL, Matrix
from riata.matrices.moments import Moments, Products, target_moments
from riata.positive import mirrored, upper_squares
from riata.scipy_later import linalg
from riata.scipy_later import sparse as sp

CENTRED_ROWS = 2048  # length of centred copies of columns: a few dozen of them fit in the cache
CONVERTED_ROWS = 128  # rows converted to float64 at a time: they stay in the cache until they are multiplied
FEW_NUMBERS = 1 << 14  # in a matrix: up to here array functions take about as long as compiled loops, and no compiling
FEW_NEW = 0.2  # of the columns that are known: fewer new ones are multiplied with them as they are
FEW_ROWS, MOST_DEVIATIONS = 64, 100.0  # that tell whether they may be: means that are longer cost more than two digits
MANY_OTHERS = 2.0  # times as many columns in all: then those that are known are copied first
NARROW = 8  # columns for which converting the others takes longer than multiplying


class DenseMatrix(Matrix):
    """A NumPy array of any real type in any memory order; it may be a view."""

    sparse = False

    array: np.ndarray

    def __init__(self, X: np.ndarray):
        self.array, self.shape = X, X.shape
        self.few = X.size <= FEW_NUMBERS

    def margins(self, w: np.ndarray, b: Any = 0.0) -> np.ndarray:
        """Only the columns with a weight are read."""
        X = self.array
        z: np.ndarray
        if w.ndim == 2:
            z = X @ w + b
            return z
        support = np.flatnonzero(w != 0.0)
        if self.few or X.strides[1] != X.itemsize:  # a copy of a few columns is cheaper than one of all rows
            z = X[:, support] @ w[support] + b
        else:
            z = dense_margins(in_rows(X), w, support, float(b))
        return z

    def _slopes(self, U: np.ndarray) -> np.ndarray:
        return transposed_product(U, self.array).T

    def sums(
        self, shift: np.ndarray, u: np.ndarray, curvature: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self.few:
            a = self.array - shift
            return u @ a, curvature @ a, curvature @ (a * a)
        return dense_sums(self.array, shift, u, curvature)

    def centred_slopes(self, shift: np.ndarray, u: np.ndarray) -> np.ndarray:
        if self.few:
            return super().centred_slopes(shift, u)
        return dense_centred_slopes(self.array, shift, u)

    def columns(self, numbers: np.ndarray, rows: slice = ALL) -> np.ndarray:
        return DenseMatrix(self.array[rows])._some(numbers).astype(np.float64, copy=False)

    def _some(self, numbers: np.ndarray) -> np.ndarray:
        """Some columns, row by row in memory; the array itself if those are all."""
        if self.has_all(numbers):
            return self.array
        if self.array.flags.c_contiguous:
            return np.take(self.array, numbers, axis=1)
        return np.ascontiguousarray(self.array[:, numbers])  # np.take would copy the whole array first

    def __getitem__(self, rows: Any) -> "DenseMatrix":
        return DenseMatrix(self.array[rows])

    def narrowed(self, numbers: np.ndarray) -> "DenseMatrix":
        return DenseMatrix(self._some(numbers))

    def dense(self, array: np.ndarray) -> "DenseMatrix":
        return DenseMatrix(array)

    def first_order(
        self, loss: Loss, y: np.ndarray, weight: np.ndarray, w: np.ndarray, b: float
    ) -> tuple[np.ndarray, np.ndarray]:
        if loss.code is None or self.few:
            return super().first_order(loss, y, weight, w, b)
        return dense_first_order(in_rows(self.array), y, weight, code_of(loss), w, np.flatnonzero(w != 0.0), b)

    def moments(self, y: np.ndarray, weight: np.ndarray) -> Moments:
        if self.few:
            return super().moments(y, weight)
        total, y_mean, y_squares = target_moments(y, weight)
        mean, squares, cross = dense_moments(in_rows(self.array), self.shape[1], y, weight)
        return Moments(total, mean, squares, cross, y_mean, y_squares)

    def products(self, weight: np.ndarray, left: np.ndarray, right: np.ndarray) -> Products:
        """Float32 columns are multiplied in float32 within some rows, where they are small differences from the mean:
        a curvature good to six digits, which is what Newton steps need."""
        if self.few:
            return super().products(weight, left, right)
        starts = range(0, max(1, self.shape[0]), CENTRED_ROWS)
        blocks = (slice(i, i + CENTRED_ROWS) for i in starts)
        first, *others = [_products(self.array[rows], weight[rows], left, right) for rows in blocks]
        return sum(others, start=first)

    def _column_products(
        self, curvature: np.ndarray, shift: np.ndarray, left: np.ndarray, right: np.ndarray | None
    ) -> np.ndarray:
        X = self.array
        if right is None and self.has_all(left):
            return _squares(X, shift, curvature)
        rows = curved(curvature, 0.0)
        there = DenseMatrix(X[rows])
        A = curvature[rows, None] * (there._some(left) - shift[left])
        return transposed_product(A, there.array if right is None else there._some(right))

    def stored_in_columns(self) -> np.ndarray:
        return np.full(self.shape[1], self.shape[0])

    def stored_less(self, shift: np.ndarray) -> "DenseMatrix":
        return DenseMatrix((self.array - shift).astype(self.array.dtype, copy=False))

    def standardised(self, columns: np.ndarray, mean: np.ndarray, scale: np.ndarray, constant: float) -> "DenseMatrix":
        A = np.empty((self.shape[0], len(columns) + 1))
        np.subtract(self._some(columns), mean, out=A[:, :-1])
        A[:, :-1] /= scale
        A[:, -1] = constant
        return DenseMatrix(A)

    def stacked(self, others: Iterable[Matrix]) -> "DenseMatrix":
        return DenseMatrix(np.concatenate([self.array, *(other.array for other in others)]))

    def unit_rows(self) -> "DenseMatrix":
        X = self.array
        norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
        return DenseMatrix(X / np.where(norms > 0, norms, 1.0).astype(X.dtype)[:, None])

    def row_squares(self, v: np.ndarray) -> np.ndarray:
        return np.square(self.array) @ v

    def contiguous(self) -> "DenseMatrix":
        return DenseMatrix(np.ascontiguousarray(self.array))

    def row_layout(self, scale: np.ndarray | float = 1.0) -> DenseRows:
        return DenseRows(np.ascontiguousarray(self.array), shrink_of(scale, self.shape[1]))

    def column_layout(self) -> DenseRows:
        return DenseRows(np.ascontiguousarray(self.array.T), np.ones(self.shape[0]))

    def toarray(self) -> np.ndarray:
        return self.array

    def as_csr(self) -> "sp.csr_array":
        return sp.csr_array(self.array)

    def parts(self) -> dict[str, np.ndarray]:
        return {"X": self.array}


def _products(X: np.ndarray, weight: np.ndarray, left: np.ndarray, right: np.ndarray) -> Products:
    known = len(right) - len(left)
    joined = np.array_equal(right[known:], left)  # as where features joined a working set
    if (
        joined
        and len(left) < FEW_NEW * known
        and X.dtype != np.float32
        and _about_zero(X[:FEW_ROWS].take(right, axis=1))
    ):
        return _products_of_few(X, weight, left, right)
    B, right_mean = _centred(X, weight, right)
    if joined:
        products, left_mean = _with_last(B, known), right_mean[known:]
    else:
        A, left_mean = _centred(X, weight, left)
        products = A.T @ B
    return Products(float(weight.sum()), left_mean, right_mean, products.astype(np.float64, copy=False))


def _products_of_few(X: np.ndarray, weight: np.ndarray, left: np.ndarray, right: np.ndarray) -> Products:
    """The products of a few last columns with all of `right`, of which no centred copy is made: centring one side is
    enough, up to as many digits as a mean is longer than a deviation."""
    A, left_mean = _centred(X, weight, left)
    among = A.T @ A
    A *= np.sqrt(weight)[:, None]
    total, known = float(weight.sum()), right[: len(right) - len(left)]
    some = len(known) < X.shape[1] / MANY_OTHERS
    B = X.take(known, axis=1) if some else X
    products, sums = A.T @ B, weight @ B
    if not some:
        products, sums = products[:, known], sums[known]
    mean = sums / max(total, 1e-300)
    products -= np.outer(A.sum(axis=0), mean)  # what rounding left of sums that should be 0
    return Products(total, left_mean, np.concatenate([mean, left_mean]), np.hstack([products, among]))


def _about_zero(some_rows: np.ndarray) -> bool:
    """Whether columns lie within a few digits of zero, by some of their rows."""
    return bool(np.all(np.abs(some_rows.mean(axis=0)) <= MOST_DEVIATIONS * some_rows.std(axis=0)))


def _with_last(B: np.ndarray, known: int) -> np.ndarray:
    """The products of all columns after so many with all columns; with one another by half the work (symmetry)."""
    A = B[:, known:]
    among: np.ndarray = A.T @ A
    return among if known == 0 else np.hstack([A.T @ B[:, :known], among])


def _centred(X: np.ndarray, weight: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sqrt(d) (x - mean) of some columns, in the precision of X, and the means."""
    A = np.empty((len(X), len(columns)), dtype=X.dtype if X.dtype == np.float32 else np.float64)
    mean = np.zeros(len(columns))
    centred_columns(in_rows(X), weight, columns, A, mean)
    return A, mean


def transposed_product(A: np.ndarray, X: np.ndarray) -> np.ndarray:
    """A'X for a narrow A in float64 and a wide X of any type, converted some rows at a time."""
    products: np.ndarray
    if X.dtype == np.float64 or not X.shape[1]:  # BLAS refuses matrices without columns
        products = A.T @ X.astype(np.float64, copy=False)
        return products
    if A.shape[1] <= NARROW and X.strides[1] == X.itemsize:
        products = narrow_products(A, in_rows(X), X.shape[1])
        return products
    products = np.zeros((X.shape[1], A.shape[1]), order="F")
    block = np.empty((min(CONVERTED_ROWS, len(X)), X.shape[1]))
    for i in range(0, len(X), CONVERTED_ROWS):
        rows = block[: len(X[i : i + CONVERTED_ROWS])]
        np.copyto(rows, X[i : i + CONVERTED_ROWS])
        products = linalg.blas.dgemm(
            1.0, rows.T, A[i : i + CONVERTED_ROWS].T, 1.0, products, trans_b=True, overwrite_c=True
        )
    return products.T


def _squares(X: np.ndarray, shift: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """sum_i D_i (x_i - shift) x_i' for all columns: by symmetry half the work of a product."""
    root = np.sqrt(curvature)
    rows = curved(root, 0.0)
    root = root[rows]
    A = X[rows] - shift
    A *= root[:, None]
    products = mirrored(upper_squares(A))
    if shift.any():
        products += np.outer(root @ A, shift)
    return products


def curved(root: np.ndarray, share: float) -> Any:
    """The rows whose curvature (its roots are given) is above this share of the largest; all rows, if most are."""
    above = root > share**0.5 * root.max(initial=0.0)
    return np.flatnonzero(above) if above.mean() < 0.75 else ALL

"""Dense rows by functions of the array API alone: the reference implementation for rows on a GPU."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.matrices.dense import DenseMatrix
from riata.matrices.matrix import ALL, Matrix


class ArrayMatrix(Matrix):
    """A dense array of any library, float32 or float64."""

    sparse = False

    def __init__(self, X: Any):
        self.array, self.shape = X, tuple(X.shape)

    @property
    def nbytes(self) -> int:
        n, d = self.shape
        bits: int = namespace(self.array).finfo(self.dtype).bits
        return n * d * bits // 8

    def margins(self, w: np.ndarray, b: Any = 0.0) -> Array:
        support = np.flatnonzero(w if w.ndim == 1 else w.any(axis=1))
        xp = namespace(self.array)
        weights = xp.asarray(w[support])
        z = [self.columns(support, rows) @ weights for rows in self.blocks(len(support))]
        return (z[0] if len(z) == 1 else xp.concat(z)) + intercepts(xp, b)

    def _slopes(self, U: Array) -> np.ndarray:
        return self._summed(self.shape[1], lambda rows: self._float64(rows).T @ U[rows, :])

    def sums(self, shift: np.ndarray, u: Array, curvature: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        xp = namespace(self.array)
        centre = xp.asarray(shift)

        def part(rows: slice) -> Array:
            a = self._float64(rows) - centre
            return xp.stack([u[rows] @ a, curvature[rows] @ a, curvature[rows] @ (a * a)])

        by_u, by_curvature, squares = self._summed(self.shape[1], part)
        return by_u, by_curvature, squares

    def columns(self, numbers: np.ndarray, rows: slice = ALL) -> Array:
        xp = namespace(self.array)
        return xp.astype(xp.take(self.array[rows, :], xp.asarray(numbers), axis=1), xp.float64)

    def __getitem__(self, rows: Any) -> "ArrayMatrix":
        xp = namespace(self.array)
        if isinstance(rows, slice):
            return type(self)(self.array[slice(*rows.indices(self.shape[0])), :])
        return type(self)(xp.take(self.array, xp.asarray(positions(rows)), axis=0))

    def narrowed(self, numbers: np.ndarray) -> "ArrayMatrix":
        xp = namespace(self.array)
        return type(self)(xp.take(self.array, xp.asarray(numbers), axis=1))

    def on_host(self) -> Matrix:
        return DenseMatrix(to_host(self.array))

    def dense(self, array: Array) -> "ArrayMatrix":
        return type(self)(array)

    def _float64(self, rows: slice) -> Array:
        xp = namespace(self.array)
        return xp.astype(self.array[rows, :], xp.float64)


def positions(rows: Any) -> np.ndarray:
    """The positions of rows that are given by a mask or by their positions."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows


def intercepts(xp: Any, b: Any) -> Array:
    """An intercept, or several, as margins of the library xp can be added to it."""
    return float(b) if np.ndim(b) == 0 else xp.asarray(b)

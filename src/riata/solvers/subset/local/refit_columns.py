"""The standardised columns of a support beside a constant one, as Newton steps see them: dense, or sparse as they are.

Of the levels of a category each row has one: their products, in their own layout, cost next to nothing, where a dense
copy of thousands of columns would take all the time and memory.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.data.in_memory import InMemory
from riata.matrices.dense import curved
from riata.matrices.matrix import Matrix
from riata.positive import upper_squares

NEGLIGIBLE_CURVATURE = 1e-10  # of the largest: Newton's steps leave out rows of less
FASTER = 20.0  # so many times as many operations a second have squares of a dense matrix, of which one half is made
SPARSE = 2.0  # operations of a product of two entries
FAR_FROM_ZERO = 1e4  # deviations: products about such a mean lose digits unless it is taken off first


class Columns(Protocol):
    """The columns of some rows."""

    def margins(self, v: np.ndarray) -> Array:
        """The margins of weights, the last of which is that of the constant."""

    def slopes(self, u: Array) -> np.ndarray:
        """The columns times a vector over the rows."""

    def squares(self, curvature: Array) -> np.ndarray:
        """The weighted products of the columns, of which only the upper triangle is used."""


@dataclass(frozen=True)
class DenseColumns:
    """Columns that were standardised."""

    A: Array

    def margins(self, v: np.ndarray) -> Array:
        return self.A @ namespace(self.A).asarray(v)

    def slopes(self, u: Array) -> np.ndarray:
        return to_host(self.A.T @ u)

    def squares(self, curvature: Array) -> np.ndarray:
        xp = namespace(self.A)
        root = xp.sqrt(curvature)
        if xp is not np:
            curved_rows = self.A * root[:, None]
            return to_host(curved_rows.T @ curved_rows)
        rows = curved(root, NEGLIGIBLE_CURVATURE)
        return upper_squares(self.A[rows, :] * root[rows, None])


@dataclass(frozen=True)
class SparseColumns:
    """Columns as they were given, with the means and scales to standardise them by."""

    X: Matrix
    columns: np.ndarray  # of X
    mean: np.ndarray
    scale: np.ndarray
    constant: float

    def margins(self, v: np.ndarray) -> np.ndarray:
        w, each = np.zeros(self.X.shape[1]), v[:-1] / self.scale
        w[self.columns] = each
        return self.X.margins(w, self.constant * v[-1] - self.mean @ each)

    def slopes(self, u: np.ndarray) -> np.ndarray:
        total = u.sum()
        return np.append((self.X.slopes(u)[self.columns] - total * self.mean) / self.scale, self.constant * total)

    def squares(self, curvature: np.ndarray) -> np.ndarray:
        found, m = self.X.products(curvature, self.columns, self.columns), len(self.columns)
        off = (found.right_mean - self.mean) / self.scale
        H = np.empty((m + 1, m + 1))
        H[:m, :m] = found.about_means / self.scale / self.scale[:, None] + found.weight * np.outer(off, off)
        H[:m, m] = H[m, :m] = self.constant * found.weight * off
        H[m, m] = self.constant**2 * found.weight
        return H


def stay_sparse(data: InMemory, columns: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> bool:
    """Whether the products of these columns cost less as they are than those of a dense copy, and are as good."""
    if not data.chunk.X.sparse or np.any(np.abs(mean) > FAR_FROM_ZERO * scale):
        return False
    n, entries = data.n_rows, data.stored(columns)
    return SPARSE * entries**2 / max(n, 1) < n * len(columns) ** 2 / FASTER

"""Second-order statistics of some columns: weighted products about the weighted means, merged without losing digits.

    about_means = sum_i d_i (a_i - mean_a)(b_i - mean_b)',

for the columns `left` (a) and `right` (b) of X. Each chunk is centred on its own means, and two results merge by
Chan's formula, as in `riata.data.moments`. Dense float32 columns are multiplied in float32 within a chunk, where they
are small differences from the mean: a curvature good to six digits, which is what Newton steps need.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from riata.kernels.products import centred_columns, csr_products
from riata.kernels.rows import in_rows
from riata.matrices import device_sums as parts
from riata.matrices.rows import DeviceRows

BLOCK_ROWS = 2048  # centred copies of columns are this long: a few dozen of them stay in the cache


@dataclass(frozen=True)
class Products:
    """Sum of the weights d, the means of both sets of columns, and their products about them."""

    weight: float
    left_mean: np.ndarray
    right_mean: np.ndarray
    about_means: np.ndarray

    def __add__(self, other: "Products") -> "Products":
        return self._merged(other, self.about_means + other.about_means)

    def __iadd__(self, other: "Products") -> "Products":
        return self._merged(other, np.add(self.about_means, other.about_means, out=self.about_means))

    def _merged(self, other, about_means):
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        left, right = other.left_mean - self.left_mean, other.right_mean - self.right_mean
        about_means += np.outer(self.weight * share * left, right)
        return Products(weight, self.left_mean + share * left, self.right_mean + share * right, about_means)


def chunk_products(X, weight, left, right) -> Products:
    """The products of columns `left` with columns `right` over the rows of a chunk."""
    if isinstance(X, DeviceRows):
        return Products(*parts.products(X, weight, left, right))
    if sp.issparse(X):
        return _sparse(X, weight, left, right)
    starts = range(0, max(1, X.shape[0]), BLOCK_ROWS)
    blocks = (slice(i, i + BLOCK_ROWS) for i in starts)
    first, *others = [_dense(X[block], weight[block], left, right) for block in blocks]
    return sum(others, start=first)


def _dense(X, weight, left, right):
    A, left_mean = _centred(X, weight, left)
    B, right_mean = (A, left_mean) if left is right else _centred(X, weight, right)
    return Products(float(weight.sum()), left_mean, right_mean, (A.T @ B).astype(np.float64))


def _centred(X, weight, columns):
    """sqrt(d) (x - mean) of some columns, in the precision of X, and the means."""
    A = np.empty((len(X), len(columns)), dtype=X.dtype if X.dtype == np.float32 else np.float64)
    return A, centred_columns(in_rows(X), weight, columns, A)


def _sparse(X, weight, left, right):
    place = np.full((2, X.shape[1]), -1, dtype=np.int32)
    place[0, left] = np.arange(len(left))
    place[1, right] = np.arange(len(right))
    sums, left_sum, right_sum = csr_products(
        X.indptr, X.indices, X.data, weight, place, len(left), len(right), left is right
    )
    total = max(float(weight.sum()), 1e-300)
    return Products(total, left_sum / total, right_sum / total, sums - np.outer(left_sum / total, right_sum))

"""Weighted means and second moments of columns, also with the target, by chunk, merged without losing digits.

Each chunk is centred on its own mean; two results merge by Chan's formula
    M2 = M2_a + M2_b + (mean_a - mean_b)^2 * W_a W_b / (W_a + W_b),
so a column of large mean and small spread keeps its variance.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from riata.arrays import namespace
from riata.kernels.moments import dense_moments
from riata.kernels.rows import in_rows
from riata.matrices import device_sums as parts
from riata.matrices.rows import DeviceRows


@dataclass(frozen=True)
class Moments:
    """Sum of weights, and per column (and for the target) the mean and the centred sum of squares; products with y."""

    weight: float
    mean: np.ndarray
    squares: np.ndarray
    cross: np.ndarray
    y_mean: float
    y_squares: float

    def __add__(self, other: "Moments") -> "Moments":
        weight = self.weight + other.weight
        share = other.weight / weight
        cross = self.weight * share
        shift, y_shift = other.mean - self.mean, other.y_mean - self.y_mean
        return Moments(
            weight,
            self.mean + share * shift,
            self.squares + other.squares + cross * shift**2,
            self.cross + other.cross + cross * shift * y_shift,
            self.y_mean + share * y_shift,
            self.y_squares + other.y_squares + cross * y_shift**2,
        )

    @property
    def scale(self) -> np.ndarray:
        """Standard deviation of each column; 1 for a column that does not vary."""
        deviation = np.sqrt(self.squares / self.weight)
        return np.where(varies(deviation, self.mean), deviation, 1.0)

    @property
    def y_varies(self) -> bool:
        """Whether the target takes more than one value."""
        return bool(varies(np.sqrt(self.y_squares / self.weight), self.y_mean))


def varies(deviation, mean):
    """Rounding gives a constant column a deviation of some ulps of its mean."""
    return deviation > 1e-12 * np.abs(mean)


def chunk_moments(chunk) -> Moments:
    """The moments of one chunk, in float64."""
    X, y, weight = chunk
    total = float(namespace(weight).sum(weight))
    y_mean = float(weight @ y) / total
    if isinstance(X, DeviceRows):
        mean, squares, cross = parts.moments(X, y - y_mean, weight)
    elif sp.issparse(X):
        mean, squares, cross = _sparse(X, y - y_mean, weight, total)
    else:
        mean, squares, cross = dense_moments(in_rows(X), X.shape[1], y, weight)
    return Moments(total, mean, squares, cross, y_mean, float(weight @ (y - y_mean) ** 2))


def _sparse(X, y_off, weight, total):
    d = X.shape[1]
    weights = np.repeat(weight, np.diff(X.indptr))
    mean = np.bincount(X.indices, weights * X.data, minlength=d) / total
    seen = np.bincount(X.indices, weights, minlength=d)
    squares = np.bincount(X.indices, weights * (X.data - mean[X.indices]) ** 2, minlength=d)
    squares = squares + (total - seen) * mean**2  # rows that hold a zero are mean away from it
    return mean, squares, np.bincount(X.indices, np.repeat(weight * y_off, np.diff(X.indptr)) * X.data, minlength=d)

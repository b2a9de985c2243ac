"""Weighted means and second moments of columns, merged without losing digits.

Each chunk is centred on its own mean; two results merge by Chan's formula
    M2 = M2_a + M2_b + (mean_a - mean_b)^2 * W_a W_b / (W_a + W_b),
so a column of large mean and small spread keeps its variance.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riata.arrays import Array, namespace
from riata.errors import DataError

AT_ONCE = 1 << 16  # columns


def in_blocks(n_columns: int) -> Iterator[slice]:
    """Slices of very many columns, one after the other: what is made on the way takes little memory."""
    return (slice(start, start + AT_ONCE) for start in range(0, n_columns, AT_ONCE))


class Merge(NamedTuple):
    """Chan's merge of two sets of rows by their weights; a sign of -1 takes the second away from the first."""

    weight: float  # of both
    share: float  # of the difference of means, by which the first mean moves
    cross: float  # times the product of two differences of means, to be added to products about the means

    @classmethod
    def of(cls, weight: float, other: float, sign: int = 1) -> "Merge":
        total = weight + sign * other
        share = sign * other / (total or 1.0)  # two sets without a row make another
        return cls(total, share, weight * share)


LARGEST = 1e140  # and its inverse: numbers whose squares, summed over rows, floating point still holds
MOST_WEIGHT = 1e25  # and its inverse, of all rows together: such weights times such squares are numbers still
LARGE_CONSTANT = 1e8  # of which rounding is a share that counts beside numbers near 1
VANISHING = 1e-280  # times a weight it may be nothing, and a column of such numbers would pass for an empty one
VARIES = 1e-12  # a deviation of no more than this share of the mean is rounding


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
        own = replace(self, mean=self.mean.copy(), squares=self.squares.copy(), cross=self.cross.copy())
        own += other
        return own

    def __iadd__(self, other: "Moments") -> "Moments":
        """The sum, in the arrays of this one: of millions of columns each copy counts."""
        both = Merge.of(self.weight, other.weight)
        y_shift = other.y_mean - self.y_mean
        mean, squares, cross = self.mean, self.squares, self.cross
        for some in in_blocks(len(mean)):
            shift = other.mean[some] - mean[some]
            mean[some] += both.share * shift
            squares[some] += other.squares[some]
            squares[some] += both.cross * shift**2
            cross[some] += other.cross[some]
            cross[some] += both.cross * shift * y_shift
        return Moments(
            both.weight, mean, squares, cross, self.y_mean + both.share * y_shift,
            self.y_squares + other.y_squares + both.cross * y_shift**2,
        )  # fmt: skip

    def of(self, columns: np.ndarray) -> "Moments":
        """The moments of some columns."""
        return replace(self, mean=self.mean[columns], squares=self.squares[columns], cross=self.cross[columns])

    @cached_property
    def scale(self) -> np.ndarray:
        """Standard deviation of each column; 1 for a column that does not vary, or its size where that is large.

        The slope of such a constant is a rounding of that size, which must not pass for a pull. Numbers whose squares
        vanish or overflow would look like a constant: they are refused.
        """
        check_weight(self.weight)
        deviation = np.sqrt(self.squares / self.weight)
        size = np.maximum(deviation, np.abs(self.mean))
        beyond = np.flatnonzero((size != 0) & ~((size > 1 / LARGEST) & (size < LARGEST)))
        if len(beyond):
            about = f" of {size[beyond[0]]:.3g}" if np.isfinite(size[beyond[0]]) else ""
            raise DataError(
                f"column {beyond[0]} of the features (counted from 0) holds numbers{about} whose "
                "squares are beyond the range of floating-point numbers: give it in another unit"
            )
        of_constant = np.where(size > LARGE_CONSTANT, size, 1.0)
        return np.where(varies(deviation, self.mean), deviation, of_constant)

    @property
    def y_varies(self) -> bool:
        """Whether the target takes more than one value."""
        return bool(varies(np.sqrt(self.y_squares / self.weight), self.y_mean))


def vanishing(column: str) -> DataError:
    """The error of a column that is not empty, and has no number that is larger than VANISHING."""
    return DataError(
        f"{column} holds no number beyond {VANISHING:g}: products with them vanish in floating point; give it in "
        "another unit"
    )


def check_weight(total: float) -> None:
    """Refuse weights so large or small that products with them overflow or vanish."""
    if not 1 / MOST_WEIGHT < total < MOST_WEIGHT:
        raise DataError(f"the weights add up to {total:.3g}: only their ratios matter, give them in a unit near 1")


def varies(deviation: Array, mean: Array) -> Array:
    """Rounding gives a constant column a deviation of some ulps of its mean."""
    return deviation > VARIES * np.abs(mean)


def target_moments(y: Array, weight: Array) -> tuple[float, float, float]:
    """The sum of the weights, the weighted mean of the target, and its weighted squares about it."""
    total = float(namespace(weight).sum(weight))
    if total > 1.0:  # of some rows alone it may be next to nothing
        check_weight(total)
    mean = float(weight @ y) / total
    return total, mean, float(weight @ (y - mean) ** 2)


@dataclass(frozen=True)
class Products:
    """Weighted products of some columns (left) with some columns (right) about the means of both:

    about_means = sum_i d_i (a_i - mean_a)(b_i - mean_b)'.
    """

    weight: float
    left_mean: np.ndarray
    right_mean: np.ndarray
    about_means: np.ndarray

    def __add__(self, other: "Products") -> "Products":
        return self._merged(other, self.about_means + other.about_means)

    def __iadd__(self, other: "Products") -> "Products":
        return self._merged(other, np.add(self.about_means, other.about_means, out=self.about_means))

    def _merged(self, other: "Products", about_means: np.ndarray) -> "Products":
        both = Merge.of(self.weight, other.weight)
        left, right = other.left_mean - self.left_mean, other.right_mean - self.right_mean
        about_means += np.outer(both.cross * left, right)
        return Products(
            both.weight, self.left_mean + both.share * left, self.right_mean + both.share * right, about_means
        )

    @classmethod
    def from_sums(cls, weight: float, left: np.ndarray, right: np.ndarray, products: np.ndarray) -> "Products":
        """From sums that are not centred: of d, d a, d b and d a b'. A set without weight has means of zero."""
        unit = weight or 1.0
        return cls(weight, left / unit, right / unit, products - np.outer(left / unit, right))

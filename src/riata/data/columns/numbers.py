"""Columns of numbers: the value, or the mean where it is missing, and a feature that marks missing values."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.arrow_values import nulls_of, stored_values
from riata.data.columns.column import MISSING, BadRow, Encoder, Learner, as_floats
from riata.data.columns.column_profile import Bins, ColumnProfile
from riata.data.columns.explained import BinSums, Explained, Labels
from riata.data.columns.gaps import Gap, gaps_are_counted, tell_gaps
from riata.data.columns.histogram import Histogram, histogram_of
from riata.data.columns.lists import exact_in_single
from riata.data.columns.row_order import RowNumbering
from riata.data.formats.source import Source
from riata.data.whole_numbers import EXACT, check_range, whole_range, written
from riata.matrices.moments import VANISHING, vanishing
from riata.scipy_later import sparse as sp


@dataclass(frozen=True)
class Number(Encoder):
    """x, with the mean in place of missing values; and, if any were missing, a feature that is 1 for them."""

    column: str
    mean: float
    missing: bool
    share_nonzero: float = field(default=1.0, compare=False)
    kind = "number"

    @property
    def names(self) -> Sequence[str]:
        return [self.column, f"{self.column}={MISSING}"] if self.missing else [self.column]

    @property
    def nonzeros(self) -> float:
        return self.share_nonzero

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        values, null = self._filled(columns[0])
        if gaps_are_counted():
            tell_gaps(id(self), self.column, Gap.NUMBER, len(values), 0 if null is None else int(null.sum()), [])
        if not self.missing:
            return values.astype(dtype, copy=False)[:, None]
        both = np.zeros((2, len(values)), dtype)  # one after the other, as they are put beside those of other columns
        both[0] = values
        if null is not None:
            both[1] = null
        return both.T

    def _filled(self, column: pa.Array) -> tuple[np.ndarray, np.ndarray | None]:
        """Numbers with the mean in place of missing ones, and which these are; None: none."""
        null = None
        if (pa.types.is_integer(column.type) or pa.types.is_float64(column.type)) and column.buffers()[1] is not None:
            null = nulls_of(column)
            values = stored_values(column).astype(np.float64, copy=null is not None)
            if null is not None:
                values[null] = self.mean
        else:
            values = as_floats(column, self.column)
        if np.isfinite(values.sum()):
            return values, null
        nan = np.isnan(values)
        values = np.where(nan, self.mean, values)
        check_finite(values, self.column)
        return values, nan if null is None else nan | null


def check_finite(values: np.ndarray, column: str) -> None:
    """Refuse infinite numbers."""
    if not np.isfinite(values.sum()) and np.isinf(values).any():
        raise BadRow(
            np.argmax(np.isinf(values)), f"column {column!r} holds an infinite number; replace it, or drop the column"
        )


class NumberLearner(Learner):
    """Weighted mean and deviation, range, histogram, and how much of the target the column alone explains."""

    def __init__(self, column: str) -> None:
        self.column = column
        self.n_rows = self.n_missing = self.n_zero = 0
        self.least, self.largest = np.inf, -np.inf
        self.weight = 0.0
        self.means = np.zeros(2)  # of x and y
        self.products = np.zeros((2, 2))  # centred sums of xx, xy, yy
        self.histogram: Histogram | None = None
        self.integers = True  # whether all values are whole numbers
        self.whole: tuple[int, int] | None = None  # the exact range in batches with large whole numbers
        self.row_numbers: RowNumbering | None = RowNumbering()  # None when values are known not to number the rows
        self.bins = BinSums()

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        values = as_floats(columns[0], self.column)
        valid = ~np.isnan(values)
        self.n_rows += len(values)
        n_valid = int(valid.sum())
        self.n_missing += len(values) - n_valid
        if y is not None:
            check_finite(values, self.column)
            self.bins.add(values, weight, y)
        if n_valid == 0:
            return
        if n_valid < len(values):
            values, weight = values[valid], weight[valid]
            y = y[valid] if isinstance(y, np.ndarray) else None
        check_finite(values, self.column)
        self.n_zero += len(values) - int(np.count_nonzero(values))
        least, largest = values.min(), values.max()
        self.least, self.largest = min(self.least, least), max(self.largest, largest)
        if max(-least, largest) >= EXACT:
            self._add_whole(whole_range(columns[0]))
        self.single = self.single and exact_in_single(values)
        self.integers = self.integers and bool((values == np.floor(values)).all())
        seen = histogram_of(values)
        self.histogram = seen if self.histogram is None else self.histogram + seen
        if self.row_numbers is not None:
            self.row_numbers.add(values)
            self.row_numbers = self.row_numbers.possible
        self._merge(values, y if isinstance(y, np.ndarray) else np.zeros(len(values)), weight)

    @property
    def constant(self) -> bool:
        return self.least == self.largest

    def _add_whole(self, whole: tuple[int, int] | None) -> None:
        if whole is not None and self.whole is not None:
            whole = min(whole[0], self.whole[0]), max(whole[1], self.whole[1])
        self.whole = whole or self.whole

    def check_sizes(self, source: Source) -> None:
        size = max(-self.least, self.largest)
        if 0.0 < size < VANISHING:
            raise vanishing(f"column {self.column!r}{source.place()}")
        if self.integers and self.whole is None and size >= EXACT:  # another look at the text: there are few such
            self.whole = written(float(self.least), float(self.largest), self.column, source, self.column)
        if self.whole is not None:  # an end that is another is of rows without such numbers, and exact
            low, high = self.whole
            low = low if float(low) == self.least else int(self.least)
            high = high if float(high) == self.largest else int(self.largest)
            check_range(low, high, self.column, source.place())

    def _merge(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Add weighted pairs (x, y)."""
        total = weight.sum()
        means = np.array([(weight * x).sum(), (weight * y).sum()]) / total
        x, y = x - means[0], y - means[1]
        cross = (weight * x * y).sum()
        self._add(total, means, np.array([[(weight * x * x).sum(), cross], [cross, (weight * y * y).sum()]]))

    def _add(self, total: float, means: np.ndarray, products: np.ndarray) -> None:
        """Add a set of pairs by its weight, means and centred products: Chan's formula for two variables."""
        shift = means - self.means
        both = self.weight + total
        self.products += products + np.outer(shift, shift) * (self.weight * total / both)
        self.means += shift * (total / both)
        self.weight = both

    def merge(self, later: Self) -> None:
        for name in ("n_rows", "n_missing", "n_zero"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.least, self.largest = min(self.least, later.least), max(self.largest, later.largest)
        self.single, self.integers = self.single and later.single, self.integers and later.integers
        self._add_whole(later.whole)
        self.bins.merge(later.bins)
        if self.row_numbers is not None and later.row_numbers is not None:
            self.row_numbers.merge(later.row_numbers)
        else:
            self.row_numbers = None
        if later.weight > 0:
            self._add(later.weight, later.means, later.products)
        if later.histogram is not None:
            self.histogram = later.histogram if self.histogram is None else self.histogram + later.histogram

    def explained(self, spread: float) -> Explained:
        """What the column explains of the target, by a line or by means in bins, whichever is more.

        It is a share of all rows, also of those without a value: a few values lie near a line by chance, which says
        nothing of the target in the other rows.
        """
        both = self.products[0, 0] * spread
        in_a_line = min(float(self.products[0, 1] ** 2 / both), 1.0) if both > 0 else 0.0
        by_bins = self.bins.explained(spread) or Explained(0.0)
        return Explained(max(in_a_line, by_bins.share), by_bins.told)

    def encoder(self, n_rows: int) -> Number:
        share = 1.0 - self.n_zero / max(self.n_rows, 1)
        return Number(self.column, float(self.means[0]), self.n_missing > 0, share)

    def summary(self) -> ColumnProfile:
        found = ColumnProfile(
            "number", self.n_missing, histogram=self._bins(), whole=self.integers, numbers_rows=self._numbers_rows()
        )
        if self.weight == 0:
            return found
        deviation = float(np.sqrt(self.products[0, 0] / self.weight))
        least, largest = float(self.least), float(self.largest)
        return replace(found, mean=float(self.means[0]), deviation=deviation, least=least, largest=largest)

    def _numbers_rows(self) -> bool:
        return self.row_numbers is not None and self.row_numbers.number(self.n_rows - self.n_missing)

    def _bins(self) -> Bins | None:
        """The histogram; that of whole numbers has bins of whole width."""
        if self.histogram is None:
            return None
        return (self.histogram.coarser(0) if self.integers else self.histogram).bins

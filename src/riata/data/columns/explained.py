"""How much of the target the groups of a column explain, whether those are levels or bins of a histogram.

It is the share of the target's variance that lies between the groups: the correlation ratio. The variance of classes
is that of their indicators together, which makes it Goodman and Kruskal's tau. Many groups explain much by chance; as
with an adjusted R2, what they would explain of noise is taken away. A group of a few rows, such as the one row without
a value, may explain all by one outlier; it counts only in part, so that one row or two make no more than 40%.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from riata.data.columns.column_profile import Told
from riata.data.columns.histogram import Histogram, binned

MOST_CELLS = 1 << 18  # of a table of groups and classes; for more nothing is said
MOST_BINS = 32
MOST_LABELS = 100  # whose histograms are kept apart
FEWEST_ROWS = 10  # of a class that a column may be said to give away
FULL_GROUP = 5  # rows of a group that counts in full: one row is then at most a fifth of what is explained


class Labels(NamedTuple):
    """The classes of some rows: the position of each among labels that may differ from batch to batch."""

    labels: Sequence[Any]
    positions: np.ndarray

    def at(self, rows: np.ndarray) -> "Labels":
        return Labels(self.labels, self.positions[rows])


class Explained(NamedTuple):
    """What the groups of a column explain of the target, and of the class that they explain best."""

    share: float
    told: Told | None = None


class Sums:
    """Sums over the rows of every group: weights and weighted targets, or the weights of every class.

    A column of a class stays where it is, and new classes get new columns behind those that are known.
    """

    def __init__(self) -> None:
        self.labels: dict[Any, int] | None = None  # of the columns; None for a target of numbers

    def of(self, groups: np.ndarray, n_groups: int, weight: np.ndarray, y: np.ndarray | Labels) -> np.ndarray:
        """The sums of some rows: a row for each of n_groups groups."""
        if not isinstance(y, Labels):
            return np.stack([np.bincount(groups, v, n_groups) for v in (weight, weight * y)], axis=1)
        columns = self.columns_of(y.labels)
        width = len(self.labels or ())
        cells = np.bincount(groups * width + columns[y.positions], weight, n_groups * width)
        return cells.reshape(n_groups, width)

    def columns_of(self, labels: Sequence[Any]) -> np.ndarray:
        """The columns of these classes; new ones get the next."""
        if self.labels is None:
            self.labels = {}
        return np.array([self.labels.setdefault(label, len(self.labels)) for label in labels], dtype=np.int64)

    def aligned(self, table: np.ndarray, other: "Sums") -> np.ndarray:
        """The table of another, with its columns where they are here."""
        if other.labels is None:
            return table
        columns = self.columns_of(list(other.labels))
        placed = np.zeros((len(table), len(self.labels or ())))
        placed[:, columns[: table.shape[1]]] = table
        return placed

    def explained(self, table: np.ndarray, total: "Total") -> Explained | None:
        """What groups with these sums explain; None where they are too many for the rows."""
        table = table[table[:, 0] > 0] if self.labels is None else table[table.sum(axis=1) > 0]
        if total.rows < 2 * len(table) + 2:
            return None
        chance = (total.rows - 1) / (total.rows - len(table))
        if self.labels is None:
            weight, sums = table.T
            counted = weight * _counts_for(weight, total.rows)
            between = float(counted @ (sums / weight - sums.sum() / weight.sum()) ** 2)
            return Explained(_corrected(between, total.spread, chance))
        weight = table.sum(axis=1)
        by_class = table.sum(axis=0)
        apart = by_class - by_class**2 / weight.sum()  # the variance of every class's indicator, times the weight
        counted = weight * _counts_for(weight, total.rows)
        between_each = counted @ (table / weight[:, None] - by_class / weight.sum()) ** 2
        known = {column: label for label, column in self.labels.items()}
        told = [
            Told(str(known[c]), _corrected(between_each[c], apart[c], chance))
            for c in range(table.shape[1])
            if by_class[c] * total.rows >= FEWEST_ROWS * weight.sum()
        ]
        share = _corrected(float(between_each.sum()), float(apart.sum()), chance)
        # of classes that are told equally well the same one, in whatever order they were seen
        return Explained(share, min(told, key=lambda one: (-round(one.share, 9), one.label), default=None))


class Total(NamedTuple):
    """All rows together: how many, and the centred weighted sum of squares of a target of numbers."""

    rows: int
    spread: float = 0.0


def _counts_for(weight: np.ndarray, rows: int) -> np.ndarray:
    """How much groups of these weights count, of so many rows together: those of few rows less than in full."""
    return np.minimum(weight * (rows / weight.sum()) / FULL_GROUP, 1.0)


def _corrected(between: float, spread: float, chance: float) -> float:
    """The explained share, less what chance explains."""
    if not spread > 0:
        return 0.0
    return float(min(max(1.0 - (1.0 - between / spread) * chance, 0.0), 1.0))


def padded(table: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """A table with rows and columns of zeros behind its own."""
    if shape[0] <= len(table) and shape[1] <= table.shape[1]:
        return table
    wider = np.zeros(np.maximum(shape, table.shape))
    wider[: len(table), : table.shape[1]] = table
    return wider


class LevelSums:
    """The sums of every level of a column, by places, until there are too many; the first row is of missing values."""

    def __init__(self) -> None:
        self.sums = Sums()
        self.table: np.ndarray | None = np.zeros((0, 0))

    def add(self, places: np.ndarray, codes: np.ndarray, weight: np.ndarray, y: np.ndarray | Labels) -> None:
        """Add rows; codes say at which of the places the level of each is, or, behind them, that it is missing."""
        n_columns = len(y.labels) if isinstance(y, Labels) else 2
        if len(places) * n_columns > MOST_CELLS:
            self.forget()
        if self.table is not None:
            self._put(np.append(places + 1, 0), self.sums.of(codes, len(places) + 1, weight, y))

    def merge(self, later: Self, places: np.ndarray) -> None:
        """Add what another has seen, whose levels have these places here."""
        if later.table is None:
            self.forget()
        elif self.table is not None and later.table.size:
            rows = np.append(0, places + 1)[: len(later.table)]
            self._put(rows, self.sums.aligned(later.table[: len(rows)], later.sums))

    def _put(self, rows: np.ndarray, sums: np.ndarray) -> None:
        n = int(rows.max()) + 1
        if self.table is None or n * sums.shape[1] > MOST_CELLS:
            self.forget()
            return
        if n > len(self.table) or sums.shape[1] > self.table.shape[1]:
            self.table = padded(self.table, (2 * n, sums.shape[1]))  # room for more, not to copy each time
        self.table[rows, : sums.shape[1]] += sums  # different levels have different rows

    def forget(self) -> None:
        """Give up: there are too many levels."""
        self.table = None

    def explained(self, alone: np.ndarray, total: Total) -> Explained | None:
        """What the levels explain, those that are not features of their own (`alone`) being one group."""
        if self.table is None or self.table.size == 0:
            return None
        groups = np.append(0, np.where(alone, np.arange(len(alone)) + 1, len(alone) + 1))[: len(self.table)]
        pooled = np.zeros((len(alone) + 2, self.table.shape[1]))
        np.add.at(pooled, groups, self.table[: len(groups)])
        return self.sums.explained(pooled, total)


class BinSums:
    """The sums of the bins of a histogram of a column of numbers, and those of rows without a number."""

    def __init__(self) -> None:
        self.sums = Sums()
        self.histogram: Histogram | None = None
        self.missing = np.zeros((1, 0))
        self.rows = 0
        self.gave_up = False

    def add(self, values: np.ndarray, weight: np.ndarray, y: np.ndarray | Labels) -> None:
        """Add rows with these values, some of which may be NaN."""
        if self.gave_up or (isinstance(y, Labels) and len(y.labels) > MOST_LABELS):
            self.give_up()
            return
        self.rows += len(values)
        missing = np.isnan(values)
        if missing.any():
            self._put_missing(self.sums.of(np.zeros(int(missing.sum()), np.int64), 1, *_at(missing, weight, y)))
            values, (weight, y) = values[~missing], _at(~missing, weight, y)
        if len(values):
            exponent, first, bins = binned(values, MOST_BINS)
            table = self.sums.of(bins, int(bins.max()) + 1, weight, y)
            self._put(Histogram(exponent, first, table, MOST_BINS))

    def merge(self, later: Self) -> None:
        if self.gave_up or later.gave_up:
            self.give_up()
            return
        self.rows += later.rows
        self._put_missing(self.sums.aligned(later.missing, later.sums))
        if later.histogram is not None:
            seen = later.histogram
            table = self.sums.aligned(seen.counts, later.sums)
            self._put(Histogram(seen.exponent, seen.first, table, MOST_BINS))

    def give_up(self) -> None:
        """Keep nothing: there are too many classes."""
        self.gave_up, self.histogram, self.missing = True, None, np.zeros((1, 0))

    def _put_missing(self, sums: np.ndarray) -> None:
        width = max(sums.shape[1], self.missing.shape[1])
        self.missing = padded(self.missing, (1, width)) + padded(sums, (1, width))

    def _put(self, seen: Histogram) -> None:
        if self.histogram is not None:
            known, width = self.histogram, seen.counts.shape[1]
            seen = Histogram(known.exponent, known.first, padded(known.counts, (0, width)), MOST_BINS) + seen
        self.histogram = seen
        if seen.counts.shape[1] > MOST_LABELS:
            self.give_up()

    def explained(self, spread: float) -> Explained | None:
        """What the bins explain of a target with this centred sum of squares, if that is of numbers."""
        tables = [self.missing] if self.histogram is None else [self.missing, self.histogram.counts]
        width = max(table.shape[1] for table in tables)
        together = np.concatenate([padded(table, (0, width)) for table in tables])
        return self.sums.explained(together, Total(self.rows, spread)) if width else None


def _at(rows: np.ndarray, weight: np.ndarray, y: np.ndarray | Labels) -> tuple[np.ndarray, np.ndarray | Labels]:
    """Weights and targets of some rows."""
    return weight[rows], y.at(rows) if isinstance(y, Labels) else y[rows]

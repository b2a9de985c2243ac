"""Whole numbers of 64 bits become floats of 53: where that leaves of a column no more than noise, it is refused."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.errors import DataError

EXACT = 2**53  # whole numbers up to here are floats without loss
ENOUGH = 100  # steps of floating point between the least and the largest number of a column


class DigitsLost(Exception):
    """The digits of numbers were read as floating point, and what they were read from cannot be looked at again."""


class Reread(Protocol):
    """Rows that may know more of a column than its floats: a source."""

    def whole_range(self, column: str) -> tuple[int, int] | None: ...

    def place(self) -> str: ...


def check_sparse(X: Any, names: Any = None) -> None:
    """Refuse the same in sparse rows: columns of whole numbers that have an entry in every row."""
    ranges = SparseRanges()
    if X.dtype.kind in "iu" and X.ndim == 2:
        ranges.add(X.indices, X.data, X.indptr)
    ranges.check(lambda j: f"x{j}" if names is None else str(names[j]))


def check_whole_numbers(X: np.ndarray, names: Any = None) -> None:
    """Refuse columns of large whole numbers that are so near to each other that as floats they are nearly the same."""
    ranges = Ranges()
    if X.ndim == 2:
        ranges.add(X)
    ranges.check((lambda j: f"x{j}") if names is None else (lambda j: str(names[j])))


def check_listed(rows: Sequence[Any]) -> None:
    """Refuse the same in rows that are Python's lists: of whole numbers and others, of which NumPy makes floats."""
    try:
        X = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return  # no matrix of numbers: others say so
    if X.ndim != 2 or not len(X):
        return
    least, most = X.min(axis=0), X.max(axis=0)
    for j in np.flatnonzero((most >= EXACT) | (least <= -EXACT)):
        if nearly_the_same(least[j], most[j]):
            column = [row[j] for row in rows]
            if all(isinstance(value, int | np.integer) for value in column):
                check_range(int(min(column)), int(max(column)), f"x{j}")


class Ranges:
    """The least and the largest number of every column of 64 bits.

    Of floats, which may have been whole numbers in text, only where the first row has large ones: others are far away.
    """

    def __init__(self) -> None:
        self._ends: tuple[np.ndarray, np.ndarray] | None = None
        self._over = False

    def add(self, X: np.ndarray) -> None:
        """See some rows."""
        if X.dtype.itemsize < 8 or not len(X) or self._over:
            return
        if self._ends is None and X.dtype.kind == "f":
            self._over = not (np.abs(X[0]) >= EXACT).any()
        if not self._over:
            self._take((X.min(axis=0), X.max(axis=0)))

    def merge(self, later: "Ranges") -> None:
        """Take over what was seen elsewhere."""
        self._over |= later._over
        if later._ends is not None:
            self._take(later._ends)

    def _take(self, ends: tuple[np.ndarray, np.ndarray]) -> None:
        if self._ends is not None:
            ends = np.minimum(self._ends[0], ends[0]), np.maximum(self._ends[1], ends[1])
        self._ends = ends

    def check(self, name: Callable[[int], str], source: Reread | None = None, column: str = "") -> None:
        """Refuse columns whose numbers are large and near to each other; `column` of the source has them all."""
        if self._ends is None or self._over:
            return
        least, most = self._ends
        for j in np.flatnonzero((most >= EXACT) | (least <= -EXACT)):
            _check(least[j].item(), most[j].item(), name(int(j)), source, column)


class SparseRanges:
    """The least and the largest number of features that are large in every row; what a row lacks is zero, far away."""

    def __init__(self) -> None:
        self._ends: dict[int, tuple[Any, Any]] | None = None  # None before the first row
        self._names: dict[int, str] = {}

    def add(self, features: np.ndarray, values: np.ndarray, indptr: np.ndarray, names: Any = None) -> None:
        """See some rows, whose features may have names beside their numbers."""
        n_rows = len(indptr) - 1
        if n_rows <= 0 or self._ends == {} or values.dtype.itemsize < 8:
            return
        if self._ends is None:
            first = range(int(indptr[0]), int(indptr[1]))
            large = [i for i in first if abs(values[i].item()) >= EXACT]
            ends = {int(features[i]): (values[i].item(), values[i].item()) for i in large}
            self._names = {int(features[i]): str(names[i]) for i in large} if names is not None else {}
            self._ends = ends
        for feature in list(self._ends):
            here = values[features == feature]
            self._see(feature, here.min().item() if len(here) >= n_rows else 0, here.max().item() if len(here) else 0)

    def merge(self, later: "SparseRanges") -> None:
        """Take over what was seen elsewhere."""
        if self._ends is None:
            self._ends, self._names = later._ends, later._names
        elif later._ends is not None:
            for feature in list(self._ends):
                self._see(feature, *later._ends.get(feature, (0, 0)))

    def _see(self, feature: int, low: Any, high: Any) -> None:
        assert self._ends is not None
        least, most = self._ends[feature]
        least, most = min(least, low), max(most, high)
        if nearly_the_same(least, most):
            self._ends[feature] = least, most
        else:
            del self._ends[feature]

    def check(self, name: Callable[[int], str], source: Reread | None = None, column: str = "") -> None:
        """Refuse features whose numbers are large and near to each other; `column` of the source has them all."""
        for feature, (least, most) in (self._ends or {}).items():
            _check(least, most, self._names.get(feature) or name(feature), source, column)


def _check(low: Any, high: Any, name: str, source: Reread | None, column: str) -> None:
    if isinstance(low, int):
        check_range(low, high, name, "" if source is None else source.place())
    elif source is not None:
        written(low, high, name, source, column)


def written(low: float, high: float, name: str, source: Reread, column: str) -> tuple[int, int] | None:
    """The whole numbers that a source has read as large floats from `low` to `high`, if these are nearly the same.

    None where they are no whole numbers, or are not nearly the same. An error says that this cannot be told.
    """
    if max(abs(low), abs(high)) < EXACT or not nearly_the_same(low, high):
        return None
    try:
        return source.whole_range(column)
    except DigitsLost:
        raise DataError(
            f"column {name!r}{source.place()} has numbers from {low:.17g} to {high:.17g}, which floating point hardly "
            "tells apart, and their digits cannot be read again: subtract a number near them first, or drop the column "
            "if it is an identifier"
        ) from None


def check_range(low: int, high: int, name: str, place: str = "") -> None:
    """Refuse a column of whole numbers from `low` to `high` if these are large and near to each other."""
    if low < high and nearly_the_same(low, high):
        raise DataError(
            f"column {name!r}{place} has whole numbers from {low} to {high}, which floating point hardly tells apart: "
            "subtract a number near them first, or drop the column if it is an identifier"
        )


def nearly_the_same(low: float, high: float) -> bool:
    """Whether large numbers from `low` to `high` are only some steps of floating point from each other."""
    return bool(high - low < ENOUGH * np.spacing(float(max(abs(low), abs(high), EXACT))))


def whole_range(column: pa.Array) -> tuple[int, int] | None:
    """The least and the largest number of a column of whole numbers of 64 bits; None for another."""
    if not (pa.types.is_int64(column.type) or pa.types.is_uint64(column.type)):
        return None
    found = pc.min_max(column).as_py()
    return found["min"], found["max"]


def written_range(columns: Iterable[pa.Array]) -> tuple[int, int] | None:
    """The least and the largest number of a column of strings, if all of them are whole numbers."""
    ends: list[int] = []
    for column in columns:
        words = pc.utf8_trim_whitespace(column.drop_null())
        if not pc.all(pc.match_substring_regex(words, r"^-?[0-9]{1,38}$"), min_count=0).as_py():
            return None
        found = pc.min_max(words.cast(pa.decimal128(38, 0))).as_py()
        ends += [int(end) for end in found.values() if end is not None]
    return (min(ends), max(ends)) if ends else None

"""Whole numbers of 64 bits become floats of 53: where that leaves of a column no more than noise, it is refused."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.errors import DataError

EXACT = 2**53  # whole numbers up to here are floats without loss
ENOUGH = 100  # steps of floating point between the least and the largest number of a column


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
    """The least and the largest number of every column of whole numbers of 64 bits; of others nothing."""

    def __init__(self) -> None:
        self._ends: tuple[np.ndarray, np.ndarray] | None = None

    def add(self, X: np.ndarray) -> None:
        """See some rows."""
        if X.dtype.kind in "iu" and X.dtype.itemsize == 8 and len(X):
            self._take((X.min(axis=0), X.max(axis=0)))

    def merge(self, later: "Ranges") -> None:
        """Take over what was seen elsewhere."""
        if later._ends is not None:
            self._take(later._ends)

    def _take(self, ends: tuple[np.ndarray, np.ndarray]) -> None:
        if self._ends is not None:
            ends = np.minimum(self._ends[0], ends[0]), np.maximum(self._ends[1], ends[1])
        self._ends = ends

    def check(self, name: Callable[[int], str], place: str = "") -> None:
        """Refuse columns whose numbers are large and near to each other."""
        if self._ends is None:
            return
        least, most = self._ends
        for j in np.flatnonzero((most > EXACT) | (least < -EXACT)):
            check_range(int(least[j]), int(most[j]), name(int(j)), place)


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

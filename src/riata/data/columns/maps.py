"""Columns of maps from names to numbers: rows of named features, such as Vowpal Wabbit's.

Every name is a feature, or, where there are too many of them, every hash bucket. A name that a row has twice counts
with the sum of its numbers.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of, string_array, values_of
from riata.data.columns.column import BadRow, Encoder, Entries, Learner, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.distinct import DistinctCount
from riata.data.columns.explained import Labels
from riata.data.columns.hashed import Unbounded
from riata.data.columns.hashed_names import HashedNames
from riata.data.columns.lists import check_values, exact_in_single
from riata.data.columns.names import Buckets, Listed
from riata.data.columns.strings import (
    BucketNames,
    GrowingNames,
    as_numbers,
    bucket_of,
    different,
    hashes_of,
    taken_from,
)
from riata.data.formats.source import Source
from riata.data.whole_numbers import SparseRanges
from riata.kernels.text_hashing import look_up, make_table, rows_of_buckets
from riata.matrices.csr_parts import CsrParts
from riata.scipy_later import sparse as sp

HASHED = pa.struct([("value", pa.float64()), ("hash", pa.uint64())])  # what names map to where they are hashed already
SHORT = 256  # entries of a row that are sorted one by one


class Named(NamedTuple):
    """The entries of some maps, row by row."""

    names: pa.Array
    values: np.ndarray
    indptr: np.ndarray
    given_hashes: np.ndarray | None = None

    @property
    def hashes(self) -> np.ndarray:
        """The hashes of the names."""
        return hashes_of(self.names) if self.given_hashes is None else self.given_hashes


def named_values(column: pa.Array, name: str) -> Named:
    """The entries of a column of maps; a number that is missing or infinite makes a bad row."""
    if column.null_count:
        row = int(np.argmax(values_of(column.is_null())))
        raise BadRow(row, f"{name!r} has no map here; an empty one may be meant")
    offsets = values_of(column.offsets).astype(np.int64)
    start, count = int(offsets[0]), int(offsets[-1] - offsets[0])
    names = as_strings(column.keys.slice(start, count))
    items, hashes = column.items.slice(start, count), None
    if items.type == HASHED:
        items, hashed = items.flatten()
        hashes = values_of(hashed)
    values = values_of(items.cast(pa.float64()))
    check_values(values, names, offsets - start)
    return Named(names, values, offsets - start, hashes)


class OfMap:
    """What encoders of maps share."""

    column: str
    per_row: float  # entries of a row, on average

    @property
    def stem(self) -> str:
        """What the names of features begin with: nothing where the map is all of the row."""
        return "" if self.column == "X" else f"{self.column}."

    @property
    def nonzeros(self) -> float:
        return self.per_row


@dataclass(frozen=True)
class Map(OfMap, Encoder):
    """The numbers of some names, in their order; other names are ignored."""

    column: str
    keys: tuple[str, ...]
    per_row: float = field(default=1.0, compare=False)
    kind = "map"

    @property
    def names(self) -> Sequence[str]:
        return self._names

    @cached_property
    def _names(self) -> Listed:
        return Listed(self.keys, self.stem)

    def narrowed(self, names: Collection[str]) -> "Map":
        places = {place for name in names if (place := self._names.find(name)) is not None}
        return replace(self, keys=tuple(key for i, key in enumerate(self.keys) if i in places))

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """The hashes of the names, and a hash table of their positions."""
        known = hashes_of(string_array(self.keys, pa.large_string()))
        return known, make_table(known)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        found = named_values(columns[0], self.column)
        known, table = self._table
        return _rows(look_up(table, known, found.hashes), found, len(self.keys), dtype)


@dataclass(frozen=True)
class HashedMap(OfMap, HashedNames):
    """The sums of the numbers in each hash bucket of names."""

    per_row: float = field(default=1.0, compare=False)
    kind = "hashed map"

    @property
    def prefix(self) -> str:
        return self.stem

    @cached_property
    def _names(self) -> Buckets:
        return Buckets(self.stem, self.bits, self.bucket_names)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        X = self.part(columns, dtype)
        return X.matrix() if isinstance(X, CsrParts) else X

    def part(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "sp.csr_array | CsrParts":
        found = named_values(columns[0], self.column)
        hashes = found.hashes
        if isinstance(self.bucket_names, GrowingNames):
            self.bucket_names.add(hashes, taken_from(found.names))
        if len(hashes) and int(np.diff(found.indptr).max()) > SHORT:
            return _rows(bucket_of(hashes, self.bits), found, 2**self.bits, dtype)
        ends, features = np.empty(len(found.indptr), np.int32), np.empty(len(hashes), np.int32)
        sums = np.empty(len(hashes), dtype)
        n = rows_of_buckets(hashes, found.values, found.indptr, 64 - self.bits, ends, features, sums)
        return CsrParts(sums[:n], features[:n], ends, (len(ends) - 1, 2**self.bits), canonical=True)


@dataclass(frozen=True)
class AnyNames(OfMap, Unbounded):
    """The numbers of all names, which are not known in advance."""

    column: str
    per_row: float = field(default=1.0, compare=False)
    kind = "any names"

    def gives(self, names: Collection[str]) -> bool:
        return any(name.startswith(self.stem) for name in names)

    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries:
        found = named_values(columns[0], self.column)
        numbers = as_numbers(hashes_of(found.names, self.stem) if self.stem else found.hashes)

        def name_at(place: int) -> str:
            return self.stem + str(found.names[place])

        return Entries(found.indptr, numbers, found.values.astype(dtype, copy=False), name_at, repeats=True)


def _rows(features: np.ndarray, found: Named, width: int, dtype: npt.DTypeLike) -> "sp.csr_array":
    """Sparse rows of these features; -1 stands for none."""
    values, indptr = found.values.astype(dtype, copy=False), found.indptr
    known = features >= 0
    if not known.all():
        features, values = features[known], values[known]
        indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
    X = sp.csr_array((values, features.astype(np.int32), indptr.astype(np.int32)), shape=(len(indptr) - 1, width))
    X.sum_duplicates()
    return X


class MapLearner(Learner):
    """All names, until there are more than `max_names`; from then on only names of hash buckets."""

    def __init__(self, column: str, max_names: int, bits: int, more_to_come: bool = False) -> None:
        self.column, self.max_names, self.bits, self.more_to_come = column, max_names, bits, more_to_come
        self.known: dict[int, str] = {}  # names by their hashes
        self.buckets: BucketNames | None = None
        self.distinct = DistinctCount()  # of names, from the time on when they are hashed
        self.n_rows = self.n_entries = 0
        self.ranges = SparseRanges()

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        found = named_values(columns[0], self.column)
        self.n_rows, self.n_entries = self.n_rows + len(found.indptr) - 1, self.n_entries + len(found.values)
        self.single = self.single and exact_in_single(found.values)
        hashes = found.hashes
        self.ranges.add(hashes, found.values, found.indptr, found.names)
        first = different(hashes, found.indptr)[0]
        self._take(hashes[first], found.names.take(arrow_of(first)))

    def _take(self, hashes: np.ndarray, names: pa.Array) -> None:
        """Take in different names, in the order in which they were seen."""
        if self.buckets is None:
            new = np.array([h not in self.known for h in hashes.tolist()], dtype=bool)
            if len(self.known) + int(new.sum()) > self.max_names:
                self._start_hashing()
            else:
                fresh = names.filter(arrow_of(new)).to_pylist()
                self.known.update(zip(hashes[new].tolist(), fresh, strict=True))
        if self.buckets is not None:
            self.distinct.add(hashes)
            self.buckets.add(hashes, taken_from(names))

    def _start_hashing(self) -> None:
        if self.buckets is None:
            self.buckets = BucketNames(self.bits)
            hashes = np.array(list(self.known), dtype=np.uint64)
            self._take(hashes, string_array(list(self.known.values()), pa.large_string()))
            self.known = {}

    def merge(self, later: Self) -> None:
        self.n_rows, self.n_entries = self.n_rows + later.n_rows, self.n_entries + later.n_entries
        self.single = self.single and later.single
        self.ranges.merge(later.ranges)
        if later.buckets is None:
            hashes = np.array(list(later.known), dtype=np.uint64)
            self._take(hashes, string_array(list(later.known.values()), pa.large_string()))
            return
        self._start_hashing()
        assert self.buckets is not None
        self.buckets.merge(later.buckets)
        self.distinct.merge(later.distinct)

    def check_sizes(self, source: Source) -> None:
        self.ranges.check(str, source, self.column)

    @property
    def per_row(self) -> float:
        return self.n_entries / max(self.n_rows, 1)

    def encoder(self, n_rows: int) -> Encoder:
        if self.buckets is None:
            return Map(self.column, tuple(sorted(self.known.values())), self.per_row)
        names = GrowingNames(self.buckets) if self.more_to_come else self.buckets.named()
        return HashedMap(self.column, self.bits, names, self.per_row)

    def summary(self) -> ColumnProfile:
        hashed = self.buckets is not None
        distinct = self.distinct.count if hashed else len(self.known)
        return ColumnProfile("sparse", levels=None if hashed else distinct, hashed=hashed, distinct=distinct)


class AnyNamesLearner(MapLearner):
    """Counts entries of a row; names need not be known."""

    def __init__(self, column: str) -> None:
        super().__init__(column, 0, 1)

    def _take(self, hashes: np.ndarray, names: pa.Array) -> None:
        """Keep no list of names."""

    def encoder(self, n_rows: int) -> Encoder:
        return AnyNames(self.column, self.per_row)

    def summary(self) -> ColumnProfile:
        return ColumnProfile("sparse", hashed=True)

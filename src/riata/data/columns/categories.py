"""Columns of categories: one feature per level, or per hash bucket where there are too many levels.

Levels of very few rows share one feature, "(rare)", which levels never seen before get as well; missing values have a
feature of their own. Where that makes two features, which mirror each other, one is left: an L1 penalty would split a
coefficient between them as it likes. Of two levels that of fewer rows stays, of a level and gaps that of the gaps.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import arrow_of, filled, string_array, values_of
from riata.data.columns.beside import Codes, one_hot
from riata.data.columns.column import ENOUGH_ROWS, MISSING, RARE, Encoder, Learner
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.distinct import DistinctCount
from riata.data.columns.explained import Explained, Labels, LevelSums, Total
from riata.data.columns.gaps import MOST_LEVELS, Gap, gaps_are_counted, tell_gaps
from riata.data.columns.hashed_names import HashedNames
from riata.data.columns.histogram import MOST_BINS
from riata.data.columns.levels import LastDictionary, LevelsOfRows, coded_by_strings, codes_of, levels_of_rows
from riata.data.columns.names import Buckets, Joined, Listed
from riata.data.columns.seen_levels import SeenLevels
from riata.data.columns.strings import (
    BucketNames,
    GrowingNames,
    StringsAt,
    bucket_of,
    buffers_as_they_are,
    different,
    hashes_of,
    taken_from,
)
from riata.kernels.text_hashing import UNSEEN, buckets_of_codes, look_up, make_table
from riata.scipy_later import sparse as sp

RARE_ROWS = 10  # a level of fewer rows is rare, if they are
RARE_SHARE = 0.01  # also less than this share of all rows; one of a single row is rare in any case

MOST_OTHERS = 100  # levels of a column that a model knows beside those of its features


@dataclass(frozen=True)
class Category(Encoder):
    """One-hot encoding: a feature per level, then one for rare levels, then one for missing values."""

    column: str
    levels: tuple[str, ...]
    rare: bool
    missing: bool
    others: tuple[str, ...] | None = field(default=None, compare=False)  # levels without features; None: not known
    kind = "category"

    def fault(self) -> str | None:
        return "knows levels without features beside rare ones" if self.rare and self.others else None

    @property
    def names(self) -> Sequence[str]:
        return self._names

    @cached_property
    def _names(self) -> Listed:
        extra = [RARE] * self.rare + [MISSING] * self.missing
        return Listed((*self.levels, *extra), f"{self.column}=")

    def narrowed(self, names: Collection[str]) -> "Category":
        """The encoder of these levels alone; itself if the rare ones are asked for, which all others define."""
        n = len(self.levels)
        places = {place for name in names if (place := self._names.find(name)) is not None}
        if self.rare and n in places:
            return self
        levels = tuple(level for i, level in enumerate(self.levels) if i in places)
        left = tuple(level for i, level in enumerate(self.levels) if i not in places)
        others = None if self.others is None or n + len(self.others) > MOST_OTHERS else (*left, *self.others)
        missing = self.missing and n + self.rare in places
        return replace(self, levels=levels, rare=False, missing=missing, others=others)

    @property
    def nonzeros(self) -> float:
        return 1.0

    def part(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Codes:
        n, counted = len(self.levels), gaps_are_counted()
        if not counted and coded_by_strings(columns[0]):
            of_levels = self._last.numbers(columns[0].dictionary, self._codes_of_levels)
            return Codes(of_levels[codes_of(columns[0])], n + self.rare + self.missing)
        levels = levels_of_rows(columns[0])
        known = self._known_strings if counted else self._level_strings
        found = pc.index_in(levels.strings, value_set=known.cast(levels.strings.type))
        codes = values_of(filled(found, n if self.rare else -1)).astype(np.int32)
        if counted:
            self._tell_gaps(levels, codes < 0)
            codes[codes >= n + self.rare] = -1
        if (missing := levels.missing) is not None:
            codes[missing] = self._of_missing
        return Codes(levels.of_rows(codes, self._of_missing), n + self.rare + self.missing)

    def part_by_hashes(self, hashes: np.ndarray, strings_at: StringsAt) -> Codes:
        """`part` for levels that are given by their hashes; none is missing, and gaps are not counted."""
        known, table = self._level_hashes
        codes = look_up(table, known, hashes).astype(np.int32)
        if self.rare:
            codes[codes < 0] = len(self.levels)
        return Codes(codes, len(self.levels) + self.rare + self.missing)

    @cached_property
    def _level_hashes(self) -> tuple[np.ndarray, np.ndarray]:
        """The hashes of all levels, and a table to find one of them."""
        hashes = hashes_of(self._level_strings)
        return hashes, make_table(hashes)

    def _codes_of_levels(self, levels: pa.Array) -> np.ndarray:
        """The code of every level of a dictionary, and behind them that of a missing value."""
        found = pc.index_in(levels, value_set=self._level_strings.cast(levels.type))
        codes = values_of(filled(found, len(self.levels) if self.rare else -1))
        return np.append(codes, self._of_missing).astype(np.int32)

    @cached_property
    def _last(self) -> LastDictionary:
        return LastDictionary()

    @cached_property
    def _level_strings(self) -> pa.Array:
        """The levels as Arrow has them."""
        return string_array(self.levels, pa.string())

    @cached_property
    def _known_strings(self) -> pa.Array:
        """The levels as Arrow has them, and behind them those that are known but are no features."""
        return string_array((*self.levels, *(self.others or ())), pa.string())

    @property
    def _of_missing(self) -> int:
        """The code of a missing value."""
        return len(self.levels) + self.rare if self.missing else -1

    def _tell_gaps(self, levels: LevelsOfRows, strange: np.ndarray) -> None:
        """Tell how many rows have no level, or a strange one, which is not known."""
        strings, n_rows = levels.strings, len(levels.strings if levels.places is None else levels.places)
        if not self.missing:
            null = strings.null_count if levels.places is None else int((levels.places < 0).sum())
            tell_gaps(id(self), self.column, Gap.NO_LEVEL, n_rows, null, [])
        if self.others is not None:
            if levels.missing is not None:
                strange = strange & ~levels.missing
            count = int(levels.of_rows(strange.astype(np.int32), 0).sum())
            examples = strings.filter(arrow_of(strange)).unique()[:MOST_LEVELS].to_pylist() if count else []
            tell_gaps(id(self), self.column, Gap.LEVEL, n_rows, count, examples)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        return one_hot(*self.part(columns, dtype), dtype)

    def to_json(self) -> dict[str, Any]:
        plain = super().to_json()
        return {name: value for name, value in plain.items() if name != "others" or value is not None}


@dataclass(frozen=True)
class HashedCategory(HashedNames):
    """A one in the hash bucket of the row's level; the last feature is for missing values."""

    kind = "hashed category"

    @property
    def prefix(self) -> str:
        return f"{self.column}="

    @cached_property
    def _names(self) -> Joined:
        return Joined([Buckets(self.prefix, self.bits, self.bucket_names), [self.prefix + MISSING]])

    @property
    def nonzeros(self) -> float:
        return 1.0

    def part(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Codes:
        if coded_by_strings(columns[0]):
            return Codes(self._buckets_of_codes(columns[0]), 2**self.bits + 1)
        levels = levels_of_rows(columns[0])
        strings, missing, n = levels.strings, levels.missing, 2**self.bits
        hashes = hashes_of(strings)
        buckets = bucket_of(hashes, self.bits)
        if isinstance(self.bucket_names, GrowingNames):
            there = slice(None) if missing is None else ~missing
            self.bucket_names.add(hashes[there], taken_from(strings if missing is None else strings.drop_null()))
        if missing is not None:
            buckets[missing] = n
        return Codes(levels.of_rows(buckets, n), n + 1)

    def part_by_hashes(self, hashes: np.ndarray, strings_at: StringsAt) -> Codes:
        """`part` for levels that are given by their hashes; none is missing."""
        if isinstance(self.bucket_names, GrowingNames):
            self.bucket_names.add(hashes, strings_at)
        return Codes(bucket_of(hashes, self.bits), 2**self.bits + 1)

    def _buckets_of_codes(self, column: pa.Array) -> np.ndarray:
        """The bucket of each row, where rows are codes: a level is hashed once for all batches of a dictionary."""
        dictionary = column.dictionary
        known, codes = self._last.numbers(dictionary, self._unseen), codes_of(column)
        buckets = np.empty(len(codes), np.int32)
        most = min(len(codes), len(dictionary))
        new, hashes = np.empty(most, np.int32), np.empty(most, np.uint64)
        text, offsets = buffers_as_they_are(dictionary)
        n = buckets_of_codes(codes, text, offsets, 64 - self.bits, known, buckets, new, hashes)
        if n and isinstance(self.bucket_names, GrowingNames):
            self.bucket_names.add(hashes[:n], taken_from(dictionary, new[:n]))
        return buckets

    def _unseen(self, dictionary: pa.Array) -> np.ndarray:
        """Before the first row: no level of a dictionary has a bucket yet, but a missing value has its own."""
        return np.append(np.full(len(dictionary), UNSEEN), 2**self.bits).astype(np.int32)

    @cached_property
    def _last(self) -> LastDictionary:
        return LastDictionary()

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        return one_hot(*self.part(columns, dtype), dtype)


class CategoryLearner(Learner):
    """Counts levels, until there are more than max_levels; from then on it only names hash buckets."""

    def __init__(
        self, column: str, max_levels: int, bits: int, more_to_come: bool = False, asked_for: bool = False
    ) -> None:
        self.column, self.max_levels, self.bits, self.more_to_come = column, max_levels, bits, more_to_come
        self.asked_for = asked_for  # then it stays a feature, even where all levels are rare
        self.seen = SeenLevels()
        self.n_missing = 0
        self.buckets: BucketNames | None = None
        self.distinct = DistinctCount()  # of levels, from the time on when they are hashed
        self.n_rows, self.target_sums = 0, LevelSums()

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        found = levels_of_rows(columns[0])
        levels, places = found.strings, found.places
        if places is None:
            coded = levels.dictionary_encode()
            levels, places = coded.dictionary, values_of(filled(coded.indices, -1))
        codes = np.where(places < 0, len(levels), places).astype(np.int64)  # behind all levels: a missing value
        self.n_rows, self.n_missing = self.n_rows + len(codes), self.n_missing + int((places < 0).sum())
        counts = np.bincount(codes, minlength=len(levels) + 1)[: len(levels)]
        if self._too_many(counts, taken_from(levels)):
            self._name_all(levels)
            return
        places = self._count(levels, counts)
        if y is not None and self.buckets is None:
            self.target_sums.add(places, codes, weight, y)

    def add_by_hashes(self, hashes: np.ndarray, strings_at: StringsAt) -> None:
        """Learn from rows whose levels are known by their hashes; none is missing."""
        self.n_rows += len(hashes)
        first, rows = different(hashes, np.arange(len(hashes) + 1))

        def strings_of(some: np.ndarray) -> pa.Array:
            return strings_at(first[some])

        if self._too_many(rows, strings_of):
            self._name(hashes[first], strings_of)
        else:
            self._count(strings_at(first), rows)

    def _too_many(self, rows: np.ndarray, strings_at: StringsAt) -> bool:
        """Whether levels are hashed, of which these, of so many rows, are the next."""
        if self.buckets is None and len(rows) > self.max_levels:  # they need not be counted to know that
            most = np.sort(np.argsort(-rows, kind="stable")[: self.max_levels])
            self._count(strings_at(most), rows[most])
            self._start_hashing()
        return self.buckets is not None

    def _count(self, levels: pa.Array, rows: np.ndarray) -> np.ndarray:
        """Count so many rows of different levels; returns their places among those that were seen."""
        places = self.seen.add(levels, rows)
        if len(self.seen) > self.max_levels:
            self._start_hashing()
        return places

    def _name_all(self, levels: pa.Array) -> None:
        self._name(hashes_of(levels), taken_from(levels))

    def _name(self, hashes: np.ndarray, strings_at: StringsAt) -> None:
        """Name the hash buckets of these levels."""
        assert self.buckets is not None
        self.distinct.add(hashes)
        self.buckets.add(hashes, strings_at)

    def _start_hashing(self) -> None:
        if self.buckets is None:
            self.buckets = BucketNames(self.bits)
            self.target_sums.forget()
            self._name_all(self.seen.strings)

    def merge(self, later: Self) -> None:
        self.n_rows, self.n_missing = self.n_rows + later.n_rows, self.n_missing + later.n_missing
        if later.buckets is not None:
            self._start_hashing()
        if self.buckets is None:
            places = self._count(later.seen.strings, later.seen.rows)
            self.target_sums.merge(later.target_sums, places)
        elif later.buckets is None:
            self._name_all(later.seen.strings)
        else:
            self.buckets.merge(later.buckets)
        self.distinct.merge(later.distinct)

    def encoder(self, n_rows: int) -> Category | HashedCategory:
        if self.buckets is not None:
            names = GrowingNames(self.buckets) if self.more_to_come else self.buckets.named()
            return HashedCategory(self.column, self.bits, names)
        is_frequent = self._frequent(n_rows)
        frequent, others = (tuple(sorted(self.seen.of(np.flatnonzero(some)))) for some in (is_frequent, ~is_frequent))
        rare_rows = int(self.seen.rows[~is_frequent].sum())
        rare = rare_rows > 1 or (rare_rows == 1 and self.more_to_come)  # of one row nothing can be learnt
        missing = self.n_missing > 0
        whole = Category(self.column, frequent, rare, missing, None if rare else others)
        mirrored = frequent and len(whole.names) == 2 and not self.more_to_come
        return self._without_mirror_image(whole) if mirrored else whole

    def _without_mirror_image(self, whole: Category) -> Category:
        """One of two features, of which each row has one."""
        if whole.missing:
            return replace(whole, levels=(), others=whole.levels)
        if whole.rare:
            return replace(whole, rare=False)
        other, level = self.seen.of(self.seen.most_frequent(2))
        return replace(whole, levels=(level,), others=(other, *(whole.others or ())))

    def explained(self, spread: float) -> Explained | None:
        """What the levels explain of the target; rare ones are one group."""
        return self.target_sums.explained(self._frequent(self.n_rows), Total(self.n_rows, spread))

    def _frequent(self, n_rows: int) -> np.ndarray:
        """Which levels, by places, are features of their own."""
        frequent: np.ndarray = self.seen.rows >= fewest_rows(n_rows)
        return frequent if frequent.any() or not self.asked_for else np.ones_like(frequent)

    def summary(self) -> ColumnProfile:
        most = self.seen.most_frequent(max(3, MOST_BINS))
        hashed = self.buckets is not None
        return ColumnProfile(
            "category", self.n_missing, levels=None if hashed else len(self.seen), hashed=hashed,
            most_frequent=self.seen.of(most[:3]), counts=self.seen.rows[most[:MOST_BINS]].tolist(),
            distinct=self.distinct.count if hashed else len(self.seen),
        )  # fmt: skip


def fewest_rows(n_rows: int) -> float:
    """The rows of a level that is not rare, at least."""
    return max(2.0, min(RARE_ROWS, RARE_SHARE * n_rows)) if n_rows >= ENOUGH_ROWS else 1.0

"""Features numbered by a 62-bit hash of their name, for data with more features than a vocabulary can list.

Every value of a column and every word of a text is a feature of its own. Names are not stored: they are looked up while
a chunk in which they occur is in memory. The numbers do not depend on the column: `carrier=UA` has the hash of that
string.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.arrow_values import filled, string_array
from riata.data.columns.column import MISSING, Encoder, Entries, Learner, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.levels import levels_of_rows
from riata.data.columns.strings import as_numbers, hashes_of, numbers_of
from riata.data.columns.texts import ngrams_fault
from riata.data.columns.words import WordRules
from riata.kernels.text_hashing import joined_hashes
from riata.matrices.csr_parts import CsrParts
from riata.scipy_later import sparse as sp

SPACE = 1 << 62  # how many numbers there are for features


def side_by_side(parts: Sequence[Entries]) -> "tuple[sp.csr_array | CsrParts, Callable[[np.ndarray], dict[int, str]]]":
    """One matrix of the features of several encoders, and a function from numbers of its features to names."""
    X = _sorted(parts) if any(part.repeats for part in parts) else _in_order(parts)

    def names(wanted: np.ndarray) -> dict[int, str]:
        from riata.kernels.sketch import places_among  # imports numba, which a small fit does without

        found: dict[int, str] = {}
        for part in parts:
            places = places_among(wanted, part.numbers)
            met = places >= 0
            found |= {
                number: part.name_at(place)
                for number, place in zip(wanted[met].tolist(), places[met].tolist(), strict=True)
            }
        return found

    return X, names


def _in_order(parts: Sequence[Entries]) -> CsrParts:
    """The features of every row in the order of the parts: nothing is sorted."""
    lengths = np.full(len(parts[0].indptr) - 1, sum(part.of_levels for part in parts))
    for part in parts:
        if not part.of_levels:
            lengths += np.diff(part.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    numbers = np.empty(indptr[-1], dtype=np.int64)
    values = np.ones(indptr[-1], dtype=np.result_type(*(part.values for part in parts)))
    begin = indptr[:-1].copy()
    for part in parts:
        if part.of_levels:
            numbers[begin] = part.numbers
            begin += 1
            continue
        count = np.diff(part.indptr)
        at = np.repeat(begin - part.indptr[:-1], count) + np.arange(len(part.numbers))
        numbers[at], values[at] = part.numbers, part.values
        begin += count
    return CsrParts(values, numbers, indptr, (len(indptr) - 1, SPACE))


def _sorted(parts: Sequence[Entries]) -> "sp.csr_array":
    """The features of every row by their numbers, where entries of the same feature become one."""
    n_rows = len(parts[0].indptr) - 1
    row = np.concatenate([np.repeat(np.arange(n_rows), np.diff(part.indptr)) for part in parts])
    numbers, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("numbers", "values"))
    return sp.csr_array(sp.coo_array((values, (row, numbers)), shape=(n_rows, SPACE)))


class Unbounded(Encoder):
    """An encoder whose features are not known in advance."""

    separator: str

    @property
    def names(self) -> Sequence[str]:
        raise NotImplementedError("the features of a hashed column cannot be listed")

    @property
    def width(self) -> int:
        return SPACE

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        X = side_by_side([self.entries(columns, dtype)])[0]
        return X.matrix() if isinstance(X, CsrParts) else X

    @abstractmethod
    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries: ...

    def gives(self, names: Collection[str]) -> bool:
        return any(name.startswith(f"{self.column}{self.separator}") for name in names)


@dataclass(frozen=True)
class Levels(Unbounded):
    """A one for the level of the row; a missing value is a level, too."""

    column: str
    kind, separator = "levels", "="

    @property
    def nonzeros(self) -> float:
        return 1.0

    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries:
        levels, prefix = levels_of_rows(columns[0]), self.prefix
        strings, places = filled(levels.strings, MISSING), levels.places
        numbers = numbers_of(strings, prefix)
        if places is not None:
            numbers = np.append(numbers, numbers_of([MISSING], prefix))[places]  # the last is that of -1

        def name_at(row: int) -> str:
            place = row if places is None else places[row]
            return prefix + (str(strings[place]) if place >= 0 else MISSING)

        ones = np.broadcast_to(np.ones(1, dtype), len(numbers))
        return Entries(np.arange(len(numbers) + 1), numbers, ones, name_at, of_levels=True)

    @property
    def prefix(self) -> str:
        """The beginning of all names."""
        return f"{self.column}="


@dataclass(frozen=True)
class Words(Unbounded):
    """How often each word occurs in the row."""

    column: str
    ngrams: int = 1
    stop_words: tuple[str, ...] = ()
    per_row: float = field(default=1.0, compare=False)
    kind, separator = "words", ":"

    def fault(self) -> str | None:
        return ngrams_fault(self.ngrams)

    @cached_property
    def _rules(self) -> WordRules:
        return WordRules(self.ngrams, self.stop_words)

    @property
    def nonzeros(self) -> float:
        return self.per_row

    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries:
        found = self._rules.words(as_strings(columns[0]))
        prefix = f"{self.column}:"
        numbers = as_numbers(joined_hashes(hashes_of(string_array([prefix], pa.string()))[0], found.hashes))

        def name_at(place: int) -> str:
            return prefix + self._rules.name(found.spelled(np.array([place]))[0])

        return Entries(found.indptr, numbers, np.ones(len(numbers), dtype), name_at, repeats=True)


class LevelsLearner(Learner):
    """Counts missing values; levels need not be known."""

    def __init__(self, column: str) -> None:
        self.column, self.n_missing = column, 0

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        self.n_missing += as_strings(columns[0]).null_count

    def merge(self, later: Self) -> None:
        self.n_missing += later.n_missing

    def encoder(self, n_rows: int) -> Encoder:
        return Levels(self.column)

    def summary(self) -> ColumnProfile:
        return ColumnProfile("category", self.n_missing, hashed=True)


class WordsLearner(LevelsLearner):
    """Counts missing values and words per row."""

    def __init__(self, column: str, rules: WordRules) -> None:
        super().__init__(column)
        self.rules, self.n_words, self.n_rows = rules, 0, 0

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        super().add(columns, weight, y)
        indptr = self.rules.words(as_strings(columns[0])).indptr
        self.n_words, self.n_rows = self.n_words + int(indptr[-1]), self.n_rows + len(indptr) - 1

    def merge(self, later: Self) -> None:
        super().merge(later)
        self.n_words, self.n_rows = self.n_words + later.n_words, self.n_rows + later.n_rows

    def encoder(self, n_rows: int) -> Words:
        return Words(self.column, self.rules.ngrams, self.rules.stop_words, self.n_words / max(self.n_rows, 1))

    def summary(self) -> ColumnProfile:
        return replace(super().summary(), type="text")

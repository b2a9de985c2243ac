"""Features known by a hash of their name, 62 bits wide, for data with more of them than any vocabulary could hold.

Every value of a column and every word of a text is a feature of its own; the name of one is found again while the rows
it occurs in are at hand. All columns share the numbers: `carrier=UA` has the hash of that text.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pyarrow as pa

from riata.data.columns.column import MISSING, Encoder, Entries, Learner, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.strings import as_numbers, hashes_of, numbers_of, words_of
from riata.data.columns.texts import phrase
from riata.kernels.text_hashing import joined_hashes
from riata.scipy_later import sparse as sp

SPACE = 1 << 62  # numbers that a hashed feature may have


def side_by_side(parts: Sequence[Entries]):
    """The rows of several encoders as one matrix, and a function that names features of it."""
    n_rows = len(parts[0].indptr) - 1
    row = np.concatenate([np.repeat(np.arange(n_rows), np.diff(part.indptr)) for part in parts])
    numbers, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("numbers", "values"))
    X = sp.csr_array(sp.coo_array((values, (row, numbers)), shape=(n_rows, SPACE)))

    @cache
    def vocabularies():
        return [part.vocabulary() for part in parts]

    def names(wanted: np.ndarray) -> dict[int, str]:
        found: dict[int, str] = {}
        for known, texts in vocabularies():
            found |= {int(known[i]): texts[i] for i in np.flatnonzero(np.isin(known, wanted)).tolist()}
        return found

    return X, names


class Unbounded(Encoder):
    """An encoder whose features are not known in advance."""

    separator: str

    @property
    def names(self):
        raise NotImplementedError("the features of a hashed column have no list")

    @property
    def width(self):
        return SPACE

    def encode(self, columns, dtype):
        return side_by_side([self.entries(columns, dtype)])[0]

    @abstractmethod
    def entries(self, columns, dtype) -> Entries: ...

    def gives(self, names):
        return any(name.startswith(f"{self.column}{self.separator}") for name in names)


@dataclass(frozen=True)
class Levels(Unbounded):
    """A one for the level of the row, whichever it is; a missing value is a level, too."""

    column: str
    kind, separator = "levels", "="

    @property
    def nonzeros(self):
        return 1.0

    def entries(self, columns, dtype):
        strings = as_strings(columns[0]).fill_null(MISSING)
        prefix = self.prefix

        def vocabulary():
            levels = strings.unique()
            return numbers_of(levels, prefix), [prefix + level for level in levels.to_pylist()]

        return Entries(
            np.arange(len(strings) + 1), numbers_of(strings, prefix), np.ones(len(strings), dtype), vocabulary
        )

    @property
    def prefix(self) -> str:
        """What the names begin with."""
        return f"{self.column}="


@dataclass(frozen=True)
class Words(Unbounded):
    """How often each word is in the row."""

    column: str
    pairs: bool
    per_row: float = field(default=1.0, compare=False)
    kind, separator = "words", ":"

    @property
    def nonzeros(self):
        return self.per_row

    def entries(self, columns, dtype):
        text, starts, ends, hashes, indptr = words_of(as_strings(columns[0]), self.pairs)
        prefix = f"{self.column}:"
        numbers = as_numbers(joined_hashes(hashes_of(pa.array([prefix]))[0], hashes))

        def vocabulary():
            known, first = np.unique(numbers, return_index=True)
            raw = (text[starts[i] : ends[i]].tobytes().decode(errors="replace") for i in first)
            return known, [prefix + phrase(word) for word in raw]

        return Entries(indptr, numbers, np.ones(len(numbers), dtype), vocabulary)


class LevelsLearner(Learner):
    """Nothing but how many values are missing."""

    def __init__(self, column: str):
        self.column, self.n_missing = column, 0

    def add(self, columns, weight, y):
        self.n_missing += as_strings(columns[0]).null_count

    def merge(self, later):
        self.n_missing += later.n_missing

    def encoder(self, n_rows):
        return Levels(self.column)

    def summary(self) -> ColumnProfile:
        return ColumnProfile("category", self.n_missing, hashed=True)


class WordsLearner(LevelsLearner):
    """The same, and how long texts are."""

    def __init__(self, column: str, pairs: bool):
        super().__init__(column)
        self.pairs, self.n_words, self.n_rows = pairs, 0, 0

    def add(self, columns, weight, y):
        super().add(columns, weight, y)
        *_, indptr = words_of(as_strings(columns[0]), self.pairs)
        self.n_words, self.n_rows = self.n_words + int(indptr[-1]), self.n_rows + len(indptr) - 1

    def merge(self, later):
        super().merge(later)
        self.n_words, self.n_rows = self.n_words + later.n_words, self.n_rows + later.n_rows

    def encoder(self, n_rows):
        return Words(self.column, self.pairs, self.n_words / max(self.n_rows, 1))

    def summary(self) -> ColumnProfile:
        return replace(super().summary(), type="text")

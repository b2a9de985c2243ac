"""Free text: how often each word, and each pair of neighbouring words if asked, occurs in a row.

Features are the words of a vocabulary, those found in most rows, or hash buckets. Words are identified by 64-bit
hashes. While words are counted, those of fewest rows are dropped when there are too many (lossy counting), so that
memory is bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.column import Encoder, Learner, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.strings import BucketNames, bits_fault, bucket_of, words_of
from riata.kernels.text_hashing import look_up, make_table
from riata.scipy_later import sparse as sp

ROOM = 8  # how many times the size of the vocabulary is kept while counting
RARE_ROWS = 5  # a word of fewer rows does not become a feature


PROSE_WORDS = 4  # values of more words, on average, that hardly repeat are free text
PROSE_VALUES = 20  # fewer different values do not tell


def look_like_prose(strings: pa.Array) -> bool:
    """Whether these strings are sentences rather than levels: of several words, and most of them different."""
    strings = strings.drop_null()
    distinct = strings.unique()
    if len(distinct) < max(PROSE_VALUES, 0.5 * len(strings)):
        return False
    return bool(pc.mean(pc.count_substring_regex(distinct, r"\s+")).as_py() >= PROSE_WORDS - 1)


@dataclass(frozen=True)
class Text(Encoder):
    """Counts of the words of a vocabulary."""

    column: str
    words: tuple[str, ...]
    pairs: bool
    per_row: float = field(default=1.0, compare=False)
    kind = "text"

    @property
    def names(self) -> Sequence[str]:
        return [f"{self.column}:{word}" for word in self.words]

    @property
    def nonzeros(self) -> float:
        return self.per_row

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """The hashes of the vocabulary, and a hash table of their positions."""
        *_, hashes, indptr = words_of(pa.array(self.words, pa.string()), self.pairs)
        # with pairs, the entry "not good" is split into not, good and the pair: the last one is the entry itself
        known = hashes[indptr[1:] - 1]
        return known, make_table(known)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        *_, hashes, indptr = words_of(as_strings(columns[0]), self.pairs)
        known, table = self._table
        return counts(look_up(table, known, hashes), indptr, len(self.words), dtype)


@dataclass(frozen=True)
class HashedText(Encoder):
    """Counts of the words in each hash bucket."""

    column: str
    bits: int
    pairs: bool
    bucket_names: dict[str, str] = field(hash=False)
    per_row: float = field(default=1.0, compare=False)
    kind = "hashed text"

    def fault(self) -> str | None:
        return bits_fault(self.bits)

    @property
    def names(self) -> Sequence[str]:
        return [f"{self.column}:{self.bucket_names.get(str(b), f'#{b}')}" for b in range(2**self.bits)]

    @property
    def nonzeros(self) -> float:
        return self.per_row

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        *_, hashes, indptr = words_of(as_strings(columns[0]), self.pairs)
        return counts(bucket_of(hashes, self.bits), indptr, 2**self.bits, dtype)


def counts(features: np.ndarray, indptr: np.ndarray, width: int, dtype: npt.DTypeLike) -> "sp.csr_array":
    """How often each feature occurs in each row; -1 stands for no feature."""
    known = features >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[indptr]
    indices = features[known].astype(np.int32)
    X = sp.csr_array((np.ones(len(indices), dtype), indices, ends.astype(np.int32)), shape=(len(indptr) - 1, width))
    X.sum_duplicates()
    return X


class TextLearner(Learner):
    """The number of rows with each word, and its spelling."""

    def __init__(self, column: str, max_words: int, pairs: bool, bits: int | None) -> None:
        self.column, self.max_words, self.pairs, self.bits = column, max_words, pairs, bits
        self.hashes = np.zeros(0, dtype=np.uint64)
        self.rows = np.zeros(0, dtype=np.int64)
        self.names: dict[int, str] = {}
        self.n_rows = self.n_words = self.n_missing = 0

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        strings = as_strings(columns[0])
        self.n_missing += strings.null_count
        text, starts, ends, hashes, indptr = words_of(strings, self.pairs)
        self.n_rows += len(strings)
        row = np.repeat(np.arange(len(strings)), np.diff(indptr))
        order = np.lexsort((row, hashes))
        once = np.ones(len(order), dtype=bool)  # counts a word once per row
        once[1:] = (hashes[order][1:] != hashes[order][:-1]) | (row[order][1:] != row[order][:-1])
        self.n_words += int(once.sum())
        found, first, rows = np.unique(hashes[order[once]], return_index=True, return_counts=True)
        at = order[once][first]
        for i in np.flatnonzero(~np.isin(found, self.hashes)).tolist():
            raw = text[starts[at[i]] : ends[at[i]]].tobytes().decode(errors="replace")
            self.names[int(found[i])] = phrase(raw)
        self._merge(found, rows)

    def _merge(self, found: np.ndarray, rows: np.ndarray) -> None:
        both = np.concatenate([self.hashes, found])
        self.hashes, inverse = np.unique(both, return_inverse=True)
        self.rows = np.bincount(inverse, np.concatenate([self.rows, rows]), len(self.hashes)).astype(np.int64)
        if len(self.hashes) > 2 * ROOM * self.max_words:
            self._keep(np.argsort(-self.rows, kind="stable")[: ROOM * self.max_words])

    def merge(self, later: Self) -> None:
        for name in ("n_rows", "n_words", "n_missing"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.names = later.names | self.names
        self._merge(later.hashes, later.rows)

    def _keep(self, chosen: np.ndarray) -> None:
        chosen = np.sort(chosen)
        self.hashes, self.rows = self.hashes[chosen], self.rows[chosen]
        self.names = {h: self.names[h] for h in self.hashes.tolist()}

    def encoder(self, n_rows: int) -> Text | HashedText:
        per_row = self.n_words / max(self.n_rows, 1)
        if self.bits is not None:
            buckets = BucketNames()
            order = np.argsort(-self.rows, kind="stable")
            buckets.add(bucket_of(self.hashes[order], self.bits), [self.names[h] for h in self.hashes[order].tolist()])
            return HashedText(self.column, self.bits, self.pairs, buckets.to_json(), per_row)
        frequent = self.rows >= min(RARE_ROWS, 0.01 * n_rows)
        order = np.argsort(-self.rows, kind="stable")
        chosen = [self.names[h] for h in self.hashes[order[frequent[order]]][: self.max_words].tolist()]
        return Text(self.column, tuple(sorted(chosen)), self.pairs, per_row)

    def summary(self) -> ColumnProfile:
        top = np.argsort(-self.rows, kind="stable")[:3]
        frequent = [self.names[h] for h in self.hashes[top].tolist()]
        return ColumnProfile("text", self.n_missing, levels=len(self.hashes), most_frequent=frequent)


def phrase(raw: str) -> str:
    """A word or pair as it is counted: in lower case, with one space between words."""
    letters = "".join(c.lower() if c.isascii() else c for c in raw)
    return " ".join("".join(c if c.isalnum() or not c.isascii() else " " for c in letters).split())

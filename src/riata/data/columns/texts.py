"""Free text: how often each word, and each run of neighbouring words if asked, occurs in a row.

Features are the words of a vocabulary, those found in most rows, or hash buckets. Words are identified by 64-bit
hashes. While words are counted, those of fewest rows are dropped when there are too many (lossy counting), so that
memory is bounded.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.budget import MOST_WORDS_COUNTED
from riata.data.columns.arrow_values import arrow_of, bytes_array, string_array
from riata.data.columns.column import ENOUGH_ROWS, Encoder, Learner, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.hashed_names import HashedNames
from riata.data.columns.names import Buckets, Listed
from riata.data.columns.strings import BucketNames, bucket_of, buffers_as_they_are, different, taken_from
from riata.data.columns.words import MOST_NGRAMS, Found, WordRules
from riata.kernels.text_hashing import look_up, make_table
from riata.scipy_later import sparse as sp

ROOM = 8  # how many times the size of the vocabulary is kept while counting, where there is memory for it
RARE_ROWS = 5  # a word of fewer rows does not become a feature, if they are less than one per cent, or one row
BYTES_AT_ONCE = 2  # of text whose words are counted together, for each word that there is room for
SPELLED_AT_ONCE = 10_000  # words that are objects at the same time
PROSE_WORDS = 4  # values of more words, on average, that hardly repeat are free text
LAST_SPACE = ord(" ")  # no byte after it is white space
PROSE_VALUES = 20  # fewer different values do not tell


def look_like_prose(strings: pa.Array) -> bool:
    """Whether these strings are sentences rather than levels: of several words, and most of them different."""
    if len(strings) < PROSE_VALUES:
        return False
    content, ends = buffers_as_they_are(strings)
    if not (content[int(ends[0]) : int(ends[-1])] <= LAST_SPACE).any():
        return False  # as of most columns of levels, in a tenth of the time
    strings = strings.drop_null()
    distinct = strings.unique()
    if len(distinct) < max(PROSE_VALUES, 0.5 * len(strings)):
        return False
    return bool(pc.mean(pc.count_substring_regex(distinct, r"\s+")).as_py() >= PROSE_WORDS - 1)


@dataclass(frozen=True)
class Text(Encoder):
    """Counts of the words of a vocabulary; with `idf`, weighted by it and divided by the norm of the row."""

    column: str
    words: tuple[str, ...]
    ngrams: int = 1
    stop_words: tuple[str, ...] = ()
    idf: tuple[float, ...] | None = None
    per_row: float = field(default=1.0, compare=False)
    kind = "text"

    def fault(self) -> str | None:
        if self.idf is not None and len(self.idf) != len(self.words):
            return f"has {len(self.idf)} weights for {len(self.words)} words"
        return ngrams_fault(self.ngrams)

    @property
    def names(self) -> Sequence[str]:
        return self._names

    @cached_property
    def _names(self) -> Listed:
        return Listed(self.words, f"{self.column}:")

    def narrowed(self, names: Collection[str]) -> "Text":
        """The encoder of these words alone; itself if the norm of a row needs all words."""
        if self.idf is not None:
            return self
        places = {place for name in names if (place := self._names.find(name)) is not None}
        return replace(self, words=tuple(word for i, word in enumerate(self.words) if i in places))

    @property
    def nonzeros(self) -> float:
        return self.per_row

    @cached_property
    def _rules(self) -> WordRules:
        return WordRules(self.ngrams, self.stop_words)

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """The hashes of the vocabulary, and a hash table of their positions."""
        known = self._rules.own_hashes(self.words)
        return known, make_table(known)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        found = self._rules.words(as_strings(columns[0]))
        known, table = self._table
        X = counts(look_up(table, known, found.hashes), found.indptr, len(self.words), dtype)
        if self.idf is not None:
            X.data *= np.asarray(self.idf, dtype)[X.indices]
            row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            X.data /= np.sqrt(np.bincount(row, X.data**2, X.shape[0]))[row].astype(dtype)
        return X


@dataclass(frozen=True)
class HashedText(HashedNames):
    """Counts of the words in each hash bucket."""

    ngrams: int = 1
    stop_words: tuple[str, ...] = ()
    per_row: float = field(default=1.0, compare=False)
    kind = "hashed text"

    def fault(self) -> str | None:
        return super().fault() or ngrams_fault(self.ngrams)

    @property
    def prefix(self) -> str:
        return f"{self.column}:"

    @cached_property
    def _names(self) -> Buckets:
        return Buckets(self.prefix, self.bits, self.bucket_names)

    @property
    def nonzeros(self) -> float:
        return self.per_row

    @cached_property
    def _rules(self) -> WordRules:
        return WordRules(self.ngrams, self.stop_words)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        found = self._rules.words(as_strings(columns[0]))
        return counts(bucket_of(found.hashes, self.bits), found.indptr, 2**self.bits, dtype)


def ngrams_fault(ngrams: int) -> str | None:
    """What is wrong with a length of runs of words, if anything."""
    return None if 1 <= ngrams <= MOST_NGRAMS else f"has runs of {ngrams} words, not 1 to {MOST_NGRAMS}"


def counts(features: np.ndarray, indptr: np.ndarray, width: int, dtype: npt.DTypeLike) -> "sp.csr_array":
    """How often each feature occurs in each row; -1 stands for no feature."""
    known = features >= 0
    ends = np.concatenate([[0], np.cumsum(known)])[indptr]
    indices = features[known].astype(np.int32)
    X = sp.csr_array((np.ones(len(indices), dtype), indices, ends.astype(np.int32)), shape=(len(indptr) - 1, width))
    X.sum_duplicates()
    return X


@dataclass(frozen=True)
class Vocabulary:
    """Which words of a text become features, and how they count."""

    rules: WordRules
    max_words: int = 50_000
    min_rows: int | None = None  # a word of fewer rows does not become a feature
    tfidf: bool = False
    bits: int | None = None  # of hashes, in place of a vocabulary
    most_words: int = MOST_WORDS_COUNTED  # counted at a time; beyond, the rarer half of them is forgotten

    @property
    def most_counted(self) -> int:
        """How many words are counted at a time: those that may become features, and many more to choose from."""
        return min(2 * ROOM * self.max_words, max(self.most_words, 2 * self.max_words))


class TextLearner(Learner):
    """The number of rows with each word, and its spelling."""

    def __init__(self, column: str, vocabulary: Vocabulary) -> None:
        self.column, self.vocabulary = column, vocabulary
        self.single = not vocabulary.tfidf  # counts are exact
        self.hashes = np.zeros(0, dtype=np.uint64)  # of all words, in order
        self.rows = np.zeros(0, dtype=np.int64)  # with each
        self.places = np.zeros(0, dtype=np.int64)  # of each among the spellings
        self.spellings = pa.chunked_array([], pa.large_binary())  # as first found; few of them become names
        self.n_rows = self.n_words = self.n_missing = 0

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        strings = as_strings(columns[0])
        self.n_missing += strings.null_count
        self.n_rows += len(strings)
        step = max(1, len(strings) * BYTES_AT_ONCE * self.vocabulary.most_words // max(strings.nbytes, 1))
        for start in range(0, len(strings), step):
            found = self.vocabulary.rules.words(strings.slice(start, step))
            first, rows = different(found.hashes, found.indptr)
            self.n_words += int(rows.sum())
            self._count(found.hashes[first], rows, partial(_spelled_as_found, found, first))

    def _count(self, hashes: np.ndarray, rows: np.ndarray, spelled: Callable[[np.ndarray], pa.Array]) -> None:
        """Count words, each of which is there once; `spelled` tells how some of them are written."""
        known = _contains(self.hashes, hashes)
        at = np.searchsorted(self.hashes, hashes)
        self.rows[at[known]] += rows[known]
        new = np.flatnonzero(~known)
        new = new[np.argsort(hashes[new])]
        places = len(self.spellings) + np.arange(len(new))
        self.spellings = pa.chunked_array([*self.spellings.chunks, spelled(new)], pa.large_binary())
        self.hashes = np.insert(self.hashes, at[new], hashes[new])
        self.rows = np.insert(self.rows, at[new], rows[new])
        self.places = np.insert(self.places, at[new], places)
        most = self.vocabulary.most_counted
        if len(self.hashes) > most:
            self._keep(np.argsort(-self.rows, kind="stable")[: most // 2])

    def merge(self, later: Self) -> None:
        for name in ("n_rows", "n_words", "n_missing"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self._count(later.hashes, later.rows, later._spelled)

    def _keep(self, chosen: np.ndarray) -> None:
        chosen = np.sort(chosen)
        spelled = self._spelled(chosen)
        self.hashes, self.rows = self.hashes[chosen], self.rows[chosen]
        self.spellings, self.places = pa.chunked_array([spelled]), np.arange(len(chosen))

    def _spelled(self, positions: np.ndarray) -> pa.Array:
        return self.spellings.take(arrow_of(self.places[positions])).combine_chunks()

    def _names(self, positions: np.ndarray) -> list[str]:
        return [self.vocabulary.rules.name(raw) for raw in self._spelled(positions).to_pylist()]

    def encoder(self, n_rows: int) -> Text | HashedText:
        per_row = self.n_words / max(self.n_rows, 1)
        asked, rules = self.vocabulary, self.vocabulary.rules
        order = np.argsort(-self.rows, kind="stable")
        if asked.bits is not None:
            buckets = BucketNames(asked.bits)
            hashes = self.hashes[order]
            buckets.add(hashes, taken_from(string_array(self._names(order), pa.string())))
            return HashedText(
                self.column, asked.bits, dict(buckets.named().items()), rules.ngrams, rules.stop_words, per_row=per_row
            )
        fewest = _fewest_rows(n_rows) if asked.min_rows is None else asked.min_rows
        chosen = order[self.rows[order] >= fewest][: asked.max_words]
        rows_of = dict(zip(self._names(chosen), self.rows[chosen].tolist(), strict=True))
        words = tuple(sorted(rows_of))
        idf = None
        if asked.tfidf:
            idf = tuple(float(np.log((1 + self.n_rows) / (1 + rows_of[word])) + 1) for word in words)
        return Text(self.column, words, rules.ngrams, rules.stop_words, idf, per_row)

    def summary(self) -> ColumnProfile:
        top = np.argsort(-self.rows, kind="stable")[:3]
        return ColumnProfile("text", self.n_missing, levels=len(self.hashes), most_frequent=self._names(top))


def _fewest_rows(n_rows: int) -> float:
    """The rows of a word that becomes a feature, at least, where nothing was said of them."""
    return max(2.0, min(RARE_ROWS, 0.01 * n_rows)) if n_rows >= ENOUGH_ROWS else 1.0


def _spelled_as_found(found: Found, first: np.ndarray, which: np.ndarray) -> pa.Array:
    """How some of the different words are written; a few at a time, as objects take far more than their letters."""
    starts = range(0, len(which), SPELLED_AT_ONCE)
    parts = [bytes_array(found.spelled(first[which[i : i + SPELLED_AT_ONCE]])) for i in starts]
    return pa.concat_arrays(parts) if parts else bytes_array([])


def _contains(known: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Which of the hashes are among the known ones, which are in order."""
    if len(known) == 0:
        return np.zeros(len(hashes), dtype=bool)
    return known[np.searchsorted(known, hashes).clip(max=len(known) - 1)] == hashes

"""From texts to words and runs of neighbouring words, each known by a hash."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import filled, string_array
from riata.data.columns.strings import buffers
from riata.kernels.text_hashing import hash_words, make_table

MOST_NGRAMS = 5
BETWEEN_WORDS = r"[^\pL\pM\pN]+"  # letters, marks on them, and digits make words
# bytes as the kernel sees them: all that are no letters, digits or parts of longer characters separate words
SEPARATED = bytes(c if c >= 128 or chr(c).isalnum() else 32 for c in range(256))


class Found(NamedTuple):
    """Words of some texts: where they are in the bytes, their hashes, and which of them each text has."""

    text: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    hashes: np.ndarray
    indptr: np.ndarray

    def spelled(self, which: np.ndarray) -> list[bytes]:
        """How some of them are written."""
        content: memoryview = self.text.data
        spans = zip(self.starts[which].tolist(), self.ends[which].tolist(), strict=True)
        return [content[start:end].tobytes() for start, end in spans]


@dataclass(frozen=True)
class WordRules:
    """What counts: words but for stop words, and runs of up to `ngrams` of the words that count."""

    ngrams: int = 1
    stop_words: tuple[str, ...] = ()

    @cached_property
    def _stop(self) -> tuple[np.ndarray, np.ndarray]:
        """The hashes of stop words, and a hash table of them; empty where there are none."""
        if not self.stop_words:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64)
        known = WordRules().own_hashes(self.stop_words)
        return known, make_table(known)

    def words(self, strings: pa.Array) -> Found:
        """The words of every string, each followed by the runs that it ends."""
        text, offsets = buffers(_plain(strings))
        n_bytes = int(offsets[-1] - offsets[0])
        room = (n_bytes // 2 + len(strings) + 1) * self.ngrams  # a word takes at least a letter and a separator
        starts, ends = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        hashes, indptr = np.empty(room, dtype=np.uint64), np.empty(len(strings) + 1, dtype=np.int64)
        recent, recent_starts = np.zeros(self.ngrams, np.uint64), np.zeros(self.ngrams, np.int64)
        n = hash_words(text, offsets, *self._stop, recent, recent_starts, starts, ends, hashes, indptr)
        return Found(text, starts[:n], ends[:n], hashes[:n], indptr)

    def own_hashes(self, names: Sequence[str]) -> np.ndarray:
        """The hash of each word or run: of all that its text has, the last is the longest."""
        found = self.words(string_array(list(names), pa.string()))
        return found.hashes[found.indptr[1:] - 1]

    @cached_property
    def _passed_over(self) -> frozenset[bytes]:
        return frozenset(word.encode() for word in self.stop_words)

    def name(self, spelled: bytes) -> str:
        """A word or run as it is counted: in lower case, without stop words, with one space between words."""
        words = spelled.lower().translate(SEPARATED).split()  # lower() changes ASCII alone in bytes, as kernels do
        return b" ".join(word for word in words if word not in self._passed_over).decode(errors="replace")


def _plain(strings: pa.Array) -> pa.Array:
    """Texts of other letters than ASCII in lower case, with spaces for their signs; the rest is done by the kernel."""
    other = filled(pc.invert(pc.string_is_ascii(strings)), False)
    if not pc.any(other).as_py():
        return strings
    lowered = pc.utf8_lower(strings.filter(other))
    return pc.replace_with_mask(strings, other, pc.replace_substring_regex(lowered, BETWEEN_WORDS, " "))

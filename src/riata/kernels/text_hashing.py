"""Hashes of strings and of the words in texts, over Arrow's buffers (bytes and offsets).

A word is a run of letters and digits, lower-cased where it is ASCII; a byte of a longer UTF-8 character is a letter.
Hashes are 64-bit FNV-1a, mixed at the end so that any of their bits serve as a bucket.
"""

import numpy as np

from riata.kernels.compiled import compiled

OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
MIX = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(32)


@compiled(inline="always")
def _mixed(h: np.uint64) -> np.uint64:
    h = (h ^ (h >> SHIFT)) * MIX
    return h ^ (h >> SHIFT)


@compiled(inline="always")
def _letter(c: int) -> int:
    """The byte as it counts in a word, lower-cased; 0 if it separates words."""
    if 65 <= c <= 90:
        return c + 32
    if 97 <= c <= 122 or 48 <= c <= 57 or c >= 128:
        return c
    return 0


@compiled(nogil=True)
def hash_strings(prefix: np.ndarray, text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """One hash per string, of the prefix and the string."""
    start = OFFSET
    for c in prefix:
        start = (start ^ np.uint64(c)) * PRIME
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    for i in range(len(offsets) - 1):
        h = start
        for p in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(text[p])) * PRIME
        hashes[i] = _mixed(h)
    return hashes


@compiled(nogil=True)
def joined_hashes(first: np.uint64, hashes: np.ndarray) -> np.ndarray:
    """The hash of a pair for a first one and each of the others."""
    joined = np.empty_like(hashes)
    for i in range(len(hashes)):
        joined[i] = _mixed(first * PRIME ^ hashes[i])
    return joined


@compiled(nogil=True)
def hash_words(
    text: np.ndarray,
    offsets: np.ndarray,
    pairs: bool,
    starts: np.ndarray,
    ends: np.ndarray,
    hashes: np.ndarray,
    indptr: np.ndarray,
) -> int:
    """Words of every string (and, if asked, pairs of words that follow each other): where they are, and their hashes.

    Fills the arrays, which must have room for every byte, twice with pairs; indptr tells the words of each string.
    """
    n = 0
    indptr[0] = 0
    for i in range(len(offsets) - 1):
        h = OFFSET
        start = previous_start = -1
        previous = OFFSET
        for p in range(offsets[i], offsets[i + 1] + 1):
            c = 0 if p == offsets[i + 1] else _letter(text[p])
            if c != 0:
                if start < 0:
                    start = p
                h = (h ^ np.uint64(c)) * PRIME
            elif start >= 0:
                starts[n], ends[n], hashes[n] = start, p, _mixed(h)
                n += 1
                if pairs and previous_start >= 0:
                    starts[n], ends[n], hashes[n] = previous_start, p, _mixed((previous ^ SHIFT) * PRIME ^ h)
                    n += 1
                previous, previous_start = h, start
                h, start = OFFSET, -1
        indptr[i + 1] = n
    return n


@compiled(nogil=True)
def make_table(hashes: np.ndarray) -> np.ndarray:
    """An open-addressing table of positions in `hashes`, at most half full."""
    size = 1
    while size < 2 * len(hashes) + 2:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    for i in range(len(hashes)):
        slot = np.int64(hashes[i] & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = i
    return table


@compiled(nogil=True)
def look_up(table: np.ndarray, known: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """The position of each hash in `known`, -1 for one that is not there."""
    mask = np.uint64(len(table) - 1)
    found = np.empty(len(hashes), dtype=np.int64)
    for i in range(len(hashes)):
        slot = np.int64(hashes[i] & mask)
        found[i] = -1
        while table[slot] >= 0:
            if known[table[slot]] == hashes[i]:
                found[i] = table[slot]
                break
            slot = (slot + 1) & np.int64(mask)
    return found

"""Hashes of strings and of the words in texts, over Arrow's buffers (bytes and offsets).

A word is a run of letters and digits, lower-cased where it is ASCII; a byte of a longer UTF-8 character is a letter.
Hashes are 64-bit FNV-1a, mixed at the end so that any of their bits serve as a bucket.
"""

import numpy as np

from riata.kernels.compiled import compiled, uint64

OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
MIX = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(32)
UNSEEN = -2  # in place of the bucket of a level that no row has had yet
BINS, OF_BIN = 64, np.uint64(58)  # by the first 6 bits of a hash


@compiled(inline="always")
def _with_byte(h: np.uint64, c: int) -> np.uint64:
    """The hash of some bytes and one more; the first is OFFSET."""
    return (h ^ np.uint64(c)) * PRIME


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
        start = _with_byte(start, c)
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    for i in range(len(offsets) - 1):
        h = start
        for p in range(offsets[i], offsets[i + 1]):
            h = _with_byte(h, text[p])
        hashes[i] = _mixed(h)
    return hashes


@compiled(nogil=True)
def hash_behind(
    states: np.ndarray,
    between: np.ndarray,
    codes: np.ndarray,
    text: np.ndarray,
    offsets: np.ndarray,
    missing: np.ndarray,
) -> None:
    """Let the hash of what stands before, of every row, go on over `between` and the row's string, by its code.

    A code behind those of all strings is that of `missing`. States are OFFSET before the first byte, and hashes once
    they are mixed.
    """
    n_strings = len(offsets) - 1
    for i in range(len(codes)):
        c = codes[i]
        h = states[i]
        for p in range(len(between)):
            h = _with_byte(h, between[p])
        if c < n_strings:
            for p in range(offsets[c], offsets[c + 1]):
                h = _with_byte(h, text[p])
        else:
            for p in range(len(missing)):
                h = _with_byte(h, missing[p])
        states[i] = h


@compiled(nogil=True)
def mix_hashes(states: np.ndarray) -> None:
    """Make hashes of states, in place."""
    for i in range(len(states)):
        states[i] = _mixed(states[i])


@compiled(nogil=True)
def joined_hashes(first: np.uint64, hashes: np.ndarray) -> np.ndarray:
    """The hash of a pair for a first one and each of the others."""
    joined = np.empty_like(hashes)
    for i in range(len(hashes)):
        joined[i] = _mixed(first * PRIME ^ hashes[i])
    return joined


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


@compiled(inline="always")
def _find(table: np.ndarray, known: np.ndarray, h: np.uint64) -> int:
    """The position of a hash in `known`, -1 if it is not there."""
    mask = np.int64(len(table) - 1)
    slot = np.int64(h & np.uint64(mask))
    while table[slot] >= 0:
        if known[table[slot]] == h:
            return table[slot]
        slot = (slot + 1) & mask
    return -1


@compiled(nogil=True)
def look_up(table: np.ndarray, known: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """The position of each hash in `known`, -1 for one that is not there."""
    found = np.empty(len(hashes), dtype=np.int64)
    for i in range(len(hashes)):
        found[i] = _find(table, known, hashes[i])
    return found


@compiled(nogil=True)
def hash_words(
    text: np.ndarray,
    offsets: np.ndarray,
    stop: np.ndarray,
    stop_table: np.ndarray,
    recent: np.ndarray,
    recent_starts: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    hashes: np.ndarray,
    indptr: np.ndarray,
) -> int:
    """Words of every string but stop words, each with the runs of words that it ends: where they are, and their hashes.

    Fills the arrays, which must have room for all; indptr tells those of each string. `recent` and `recent_starts` have
    room for the words of the longest run.
    """
    n = 0
    longest = len(recent)
    indptr[0] = 0
    for i in range(len(offsets) - 1):
        h = OFFSET
        start, n_recent = -1, 0
        for p in range(offsets[i], offsets[i + 1] + 1):
            c = 0 if p == offsets[i + 1] else _letter(text[p])
            if c != 0:
                if start < 0:
                    start = p
                h = _with_byte(h, c)
            elif start >= 0:
                if len(stop) == 0 or _find(stop_table, stop, _mixed(h)) < 0:
                    if n_recent == longest:
                        for m in range(longest - 1):
                            recent[m], recent_starts[m] = recent[m + 1], recent_starts[m + 1]
                        n_recent -= 1
                    recent[n_recent], recent_starts[n_recent] = h, start
                    n_recent += 1
                    for first in range(n_recent - 1, -1, -1):
                        run = recent[first]
                        for m in range(first + 1, n_recent):
                            run = (run ^ SHIFT) * PRIME ^ recent[m]
                        starts[n], ends[n], hashes[n] = recent_starts[first], p, _mixed(run)
                        n += 1
                h, start = OFFSET, -1
        indptr[i + 1] = n
    return n


@compiled(nogil=True)
def rows_with(
    hashes: np.ndarray, indptr: np.ndarray, table: np.ndarray, last: np.ndarray, first: np.ndarray, rows: np.ndarray
) -> int:
    """The different hashes of some rows: where each is first, and in how many rows it is; returns how many there are.

    Fills the beginnings of `first` and `rows`. `table`, whose length is a power of two, must be all -1 and hold at most
    half as many; `last` is for as many as there are.
    """
    mask = np.int64(len(table) - 1)
    n = 0
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            slot = np.int64(hashes[p] & np.uint64(mask))
            while table[slot] >= 0 and hashes[first[table[slot]]] != hashes[p]:
                slot = (slot + 1) & mask
            k = table[slot]
            if k < 0:
                k = n
                table[slot], first[k], rows[k], last[k] = k, p, 1, i
                n += 1
            elif last[k] != i:
                rows[k] += 1
                last[k] = i
    return n


@compiled(nogil=True)
def rows_of_buckets(
    hashes: np.ndarray,
    values: np.ndarray,
    indptr: np.ndarray,
    shift: int,
    ends: np.ndarray,
    features: np.ndarray,
    sums: np.ndarray,
) -> int:
    """Sparse rows of buckets, the upper bits of hashes, in their order, with the sums of the values in each.

    Fills `ends` (an indptr) and the beginnings of `features` and `sums`; returns how many entries there are.
    """
    n = 0
    ends[0] = 0
    starts = np.empty(BINS + 1, np.int64)
    for i in range(len(indptr) - 1):
        first = n
        for k in range(BINS + 1):
            starts[k] = first
        for p in range(indptr[i], indptr[i + 1]):
            starts[(hashes[p] >> OF_BIN) + uint64(1)] += 1
        for k in range(BINS):
            starts[k + 1] += starts[k] - first
        for p in range(indptr[i], indptr[i + 1]):  # by their first bits: nearly in order
            k = hashes[p] >> OF_BIN
            at = uint64(starts[k])
            features[at], sums[at] = np.int32(hashes[p] >> np.uint64(shift)), values[p]
            starts[k] += 1
        for p in range(first, first + indptr[i + 1] - indptr[i]):
            b, value, place = features[uint64(p)], sums[uint64(p)], n
            while place > first and features[uint64(place - 1)] > b:
                place -= 1
            if place > first and features[uint64(place - 1)] == b:
                sums[uint64(place - 1)] += value
                continue
            for q in range(n, place, -1):
                features[uint64(q)], sums[uint64(q)] = features[uint64(q - 1)], sums[uint64(q - 1)]
            features[uint64(place)], sums[uint64(place)] = b, value
            n += 1
        ends[i + 1] = n
    return n


@compiled(nogil=True)
def first_uses(codes: np.ndarray, place_of: np.ndarray, used: np.ndarray) -> int:
    """Number levels anew, in the order in which they are first used; returns how many there are.

    Fills the beginning of `used` with the levels, `place_of`, which must be all -1, with their places among these, and
    `codes` with the place of the level of each.
    """
    n = 0
    for i in range(len(codes)):
        c = codes[i]
        if place_of[c] < 0:
            place_of[c], used[n] = n, c
            n += 1
        codes[i] = place_of[c]
    return n


@compiled(nogil=True)
def buckets_of_codes(
    codes: np.ndarray,
    text: np.ndarray,
    offsets: np.ndarray,
    shift: int,
    known: np.ndarray,
    buckets: np.ndarray,
    new: np.ndarray,
    hashes: np.ndarray,
) -> int:
    """The bucket, the upper bits of a hash, of each row, by the code of its level in a dictionary of strings.

    `known` has the buckets of levels that were met before, and UNSEEN for others, which are hashed. Fills `buckets`,
    and the beginnings of `new`, with the codes of the latter in the order in which rows have them, and of `hashes`;
    returns how many these are.
    """
    n = 0
    for i in range(len(codes)):
        c = codes[i]
        bucket = known[c]
        if bucket == UNSEEN:
            h = OFFSET
            for p in range(offsets[c], offsets[c + 1]):
                h = _with_byte(h, text[p])
            h = _mixed(h)
            bucket = np.int32(h >> np.uint64(shift))
            known[c], new[n], hashes[n] = bucket, c, h
            n += 1
        buckets[i] = bucket
    return n

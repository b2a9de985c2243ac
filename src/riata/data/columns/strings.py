"""Hashing of Arrow strings, by compiled loops over their bytes and offsets."""

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import arrow_of, filled, string_array
from riata.kernels.text_hashing import MIX, OFFSET, PRIME, hash_strings, rows_with

ALL_BITS = 2**64 - 1
MOST_BITS = 24  # of hash buckets: each of them has a name
HASHED_AT_ONCE = 1 << 13  # strings of Python
NAMED_AT_ONCE = 1 << 14  # hash buckets


def buffers(strings: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """(bytes, offsets) of an array of strings; a null is an empty string."""
    return buffers_as_they_are(filled(strings, "").cast(pa.large_string()))


def buffers_as_they_are(strings: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """(bytes, offsets) of an array of strings without a null; the offsets are of 32 or 64 bits, as they are stored."""
    _, offsets, text = strings.buffers()
    kind = np.int32 if pa.types.is_string(strings.type) else np.int64
    at = np.frombuffer(offsets, dtype=kind)[strings.offset : strings.offset + len(strings) + 1]
    content = np.frombuffer(text, dtype=np.uint8) if text is not None and text.size else np.zeros(1, np.uint8)
    return content, at


def hashes_of(strings: pa.Array, prefix: str = "") -> np.ndarray:
    """A 64-bit hash per string, of the prefix and the string."""
    plain = pa.types.is_string(strings.type) or pa.types.is_large_string(strings.type)
    whole = buffers_as_they_are(filled(strings, "")) if plain else buffers(strings)
    return hash_strings(np.frombuffer(prefix.encode(), dtype=np.uint8), *whole)


def hash_of(string: str) -> int:
    """The hash of one string, without compiled code."""
    h = int(OFFSET)
    for byte in string.encode():
        h = (h ^ byte) * int(PRIME) & ALL_BITS
    h = (h ^ (h >> 32)) * int(MIX) & ALL_BITS
    return h ^ (h >> 32)


def hashes_of_many(names: Iterable[str]) -> np.ndarray:
    """The hash of each of very many strings of Python, of which no second copy is made as a whole."""
    names, found = iter(names), [np.zeros(0, np.uint64)]
    while some := list(islice(names, HASHED_AT_ONCE)):
        found.append(hashes_of(string_array(some, pa.large_string())))
    return np.concatenate(found)


def numbers_of(names: Iterable[str] | pa.Array, prefix: str = "") -> np.ndarray:
    """The numbers of features with these names: 62 bits of a hash of the prefix and the name."""
    strings = names if isinstance(names, pa.Array) else string_array(list(names), pa.string())
    return as_numbers(hashes_of(strings, prefix))


def as_numbers(hashes: np.ndarray) -> np.ndarray:
    """The upper 62 bits of 64-bit hashes, as positive integers."""
    return (hashes >> np.uint64(2)).astype(np.int64)


def bits_fault(bits: int) -> str | None:
    """What is wrong with the bits of hash buckets in a file, if anything."""
    return None if 1 <= bits <= MOST_BITS else f"has buckets of {bits} bits, which are 1 to {MOST_BITS}"


def bucket_of(hashes: np.ndarray, bits: int) -> np.ndarray:
    """The bucket of each hash among 2^bits."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int32)


def different(hashes: np.ndarray, indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different hashes among those of some rows: where each is first, and in how many rows it is."""
    size = 1 << (2 * len(hashes) + 2).bit_length()
    table = np.full(size, -1, dtype=np.int64)
    last, first, rows = (np.empty(len(hashes), dtype=np.int64) for _ in range(3))
    n = rows_with(hashes, indptr, table, last, first, rows)
    return first[:n], rows[:n]


StringsAt = Callable[[np.ndarray], pa.Array]  # the strings at some places, of which the others need not be made


def taken_from(strings: pa.Array, at: np.ndarray | None = None) -> StringsAt:
    """Strings that are there: those `at` some places of an array, or all."""
    return lambda chosen: strings.take(arrow_of(chosen if at is None else at[chosen]))


class BucketNames:
    """A readable name for every hash bucket: the first two strings seen in it, and whether there were more.

    Strings stay in Arrow's memory: no object of Python is made of one before names are asked for.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._seen = np.zeros(1 << bits, dtype=np.uint8)  # different strings of each bucket, up to three
        self._hashes = np.zeros((1 << bits, 2), dtype=np.uint64)  # of the first two
        self._kept: list[tuple[np.ndarray, np.ndarray, pa.Array]] = []  # (bucket, place: 0 or 1, string)
        self.version = 0  # changes with the names

    def add(self, hashes: np.ndarray, strings_at: StringsAt) -> None:
        """Take in strings, in the order in which they were seen, with their hashes."""
        from riata.kernels.noted_strings import note_strings  # imports numba, which a small fit does without

        found, places = np.empty(len(hashes), np.int64), np.empty(len(hashes), np.uint8)
        n = note_strings(hashes, 64 - self.bits, self._seen, self._hashes, found, places)
        self.version += 1
        if n:
            chosen = found[:n].copy()
            buckets = bucket_of(hashes[chosen], self.bits)
            self._kept.append((buckets, places[:n].copy(), strings_at(chosen)))

    def merge(self, later: "BucketNames") -> None:
        """Take in what another has seen in later rows."""
        for place in (0, 1):
            for buckets, places, strings in later._kept:
                chosen = places == place
                self.add(later._hashes[buckets[chosen], place], taken_from(strings.filter(arrow_of(chosen))))
        self._seen[later._seen == 3] = 3
        self.version += 1

    def names_of(self, buckets: np.ndarray) -> list[str | None]:
        """The names of some buckets; None for those that have none. Strings of the others are not looked at."""
        wanted = np.zeros(1 << self.bits, dtype=bool)
        wanted[buckets] = True
        found: dict[tuple[int, int], str] = {}
        for its, places, strings in self._kept:
            rows = np.flatnonzero(wanted[its])
            keys = zip(its[rows].tolist(), places[rows].tolist(), strict=True)
            found |= dict(zip(keys, strings.take(arrow_of(rows)).to_pylist(), strict=True))
        return [self._joined(bucket, found) for bucket in buckets.tolist()]

    def _joined(self, bucket: int, found: Mapping[tuple[int, int], str]) -> str | None:
        """The name of a bucket, of the strings found at its two places."""
        strings = [found[key] for key in ((bucket, 0), (bucket, 1)) if key in found]
        more = ["..."] if self._seen[bucket] == 3 else []
        return "|".join([*strings, *more]) if strings else None

    def named(self) -> "NamedBuckets":
        """Bucket -> 'UA', 'UA|DL' or 'UA|DL|...'."""
        if not self._kept:
            return NO_NAMES
        buckets, places = (np.concatenate([kept[i] for kept in self._kept]) for i in (0, 1))
        strings = pa.concat_arrays([strings.cast(pa.large_string()) for *_, strings in self._kept])
        order = np.lexsort((places, buckets))
        firsts, seconds = order[places[order] == 0], order[places[order] == 1]
        found = buckets[firsts]
        second_of = np.full(len(found), -1)
        second_of[np.searchsorted(found, buckets[seconds])] = seconds
        bar, dots = string_array(["|"], strings.type)[0], string_array(["..."], strings.type)
        names = []
        for start in range(0, len(found), NAMED_AT_ONCE):
            some = slice(start, start + NAMED_AT_ONCE)
            second = strings.take(arrow_of(second_of[some], null=second_of[some] < 0))
            more = dots.take(arrow_of(np.zeros_like(found[some]), null=self._seen[found[some]] < 3))
            parts = strings.take(arrow_of(firsts[some])), second, more, bar
            names.append(pc.binary_join_element_wise(*parts, null_handling="skip"))
        del strings, parts, second  # before all names are put together, which are as large
        return NamedBuckets(found, pa.concat_arrays(names))

    def saved(self) -> dict[str, np.ndarray]:
        """All that it has seen, as arrays."""
        strings = pa.concat_arrays(
            [string_array([], pa.large_string()), *(s.cast(pa.large_string()) for *_, s in self._kept)]
        )
        text, ends = buffers(strings)
        buckets, places = (
            np.concatenate([np.zeros(0, dtype), *(kept[i] for kept in self._kept)])
            for i, dtype in enumerate((np.int32, np.uint8))
        )
        return {"seen": self._seen, "buckets": buckets, "places": places, "ends": ends, "text": text[: ends[-1]]}

    @classmethod
    def restored(cls, bits: int, saved: Mapping[str, np.ndarray]) -> "BucketNames":
        """The one that was saved; arrays that do not go together are a `ValueError`."""
        names = cls(bits)
        seen, buckets, places, ends, text = (saved[name] for name in ("seen", "buckets", "places", "ends", "text"))
        kinds = [(seen, "u1"), (buckets, "i4"), (places, "u1"), (ends, "i8"), (text, "u1")]
        whole = all(array.dtype == kind and array.ndim == 1 for array, kind in kinds)
        whole = whole and len(seen) == 1 << bits and len(buckets) == len(places) == len(ends) - 1
        if not whole or ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] != len(text) or (places > 1).any():
            raise ValueError("the names of hash buckets do not go together")
        if len(buckets) and not 0 <= buckets.min() <= buckets.max() < 1 << bits:
            raise ValueError("the names of hash buckets do not go together")
        parts = [None, *map(pa.py_buffer, (ends, text))]
        strings = pa.Array.from_buffers(pa.large_string(), len(buckets), parts)
        strings.validate(full=True)
        names._seen = seen.copy()
        names._hashes[buckets, places] = hashes_of(strings)
        names._kept = [(buckets, places, strings)] if len(buckets) else []
        return names


class NamedBuckets(Mapping[str, str]):
    """The names of buckets, which stay in Arrow's memory, without an object of Python for each."""

    def __init__(self, buckets: np.ndarray, names: pa.Array) -> None:
        """Buckets are in order."""
        self.buckets, self.names = buckets, names

    def __getitem__(self, bucket: str) -> str:
        number = int(bucket)
        place = int(self.buckets.searchsorted(number))
        if place == len(self.buckets) or self.buckets[place] != number:
            raise KeyError(bucket)
        return str(self.names[place].as_py())

    def names_of(self, buckets: np.ndarray) -> list[str | None]:
        """The names of some buckets; None for those that have none."""
        if not len(self.buckets):
            return [None] * len(buckets)
        places = np.minimum(self.buckets.searchsorted(buckets), len(self.buckets) - 1)
        return self.names.take(arrow_of(places, null=self.buckets[places] != buckets)).to_pylist()

    def __iter__(self) -> Iterator[str]:
        return (str(bucket) for bucket in self.buckets)

    def __len__(self) -> int:
        return len(self.buckets)

    def items(self) -> ItemsView[str, str]:
        """All buckets and names at once: to look each of them up would take long."""
        return dict(zip(map(str, self.buckets.tolist()), self.names.to_pylist(), strict=True)).items()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedBuckets):
            return super().__eq__(other)
        return bool(np.array_equal(self.buckets, other.buckets)) and bool(self.names.equals(other.names))

    def among(self, names: Iterable[str], prefix: str) -> "NamedBuckets":
        """The buckets whose names, behind the prefix, are among these names, by hashes of 64 bits."""
        own, wanted = hashes_of(self.names, prefix), np.sort(hashes_of_many(names))
        kept = wanted[np.searchsorted(wanted[:-1], own)] == own if len(wanted) else np.zeros(len(own), dtype=bool)
        return self if kept.all() else NamedBuckets(self.buckets[kept], self.names.filter(arrow_of(kept)))

    def bucket_named(self, name: str, bits: int) -> int | None:
        """The bucket of a name, among 2^bits."""
        return bucket_named(self, name, bits)


def bucket_named(names: Mapping[str, str], name: str, bits: int) -> int | None:
    """The bucket of a name, among 2^bits: that of the first string in it, which ends at a bar or with the name."""
    ends = [i for i, letter in enumerate(name) if letter == "|"]
    for end in [*ends, len(name)]:
        bucket = hash_of(name[:end]) >> (64 - bits)
        if names.get(str(bucket)) == name:
            return bucket
    return None


NO_NAMES = NamedBuckets(np.zeros(0, np.int64), string_array([], pa.large_string()))


class GrowingNames(Mapping[str, str]):
    """The names of buckets in a stream, of which later rows may bring more."""

    def __init__(self, buckets: BucketNames) -> None:
        self._buckets, self._version, self._names = buckets, -1, NO_NAMES

    def saved(self) -> dict[str, np.ndarray]:
        """All that was seen, as arrays, of which `BucketNames.restored` makes it again."""
        return self._buckets.saved()

    def add(self, hashes: np.ndarray, strings_at: StringsAt) -> None:
        self._buckets.add(hashes, strings_at)

    @property
    def _now(self) -> NamedBuckets:
        if self._version != self._buckets.version:
            self._version, self._names = self._buckets.version, self._buckets.named()
        return self._names

    def bucket_named(self, name: str, bits: int) -> int | None:
        """The bucket of a name, among 2^bits."""
        return bucket_named(self, name, bits)

    def names_of(self, buckets: np.ndarray) -> list[str | None]:
        """The names of some buckets; None for those that have none."""
        return self._buckets.names_of(buckets)

    def __getitem__(self, bucket: str) -> str:
        (name,) = self._buckets.names_of(np.array([int(bucket)]))
        if name is None:
            raise KeyError(bucket)
        return name

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def items(self) -> ItemsView[str, str]:
        """All buckets and names at once: to look each of them up would take long."""
        return self._now.items()

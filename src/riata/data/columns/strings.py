"""Hashing of Arrow strings, by compiled loops over their bytes and offsets."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import filled, string_array
from riata.kernels.text_hashing import hash_strings

MOST_BITS = 24  # of hash buckets: each of them has a name


def buffers(strings: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """(bytes, offsets) of an array of strings; a null is an empty string."""
    strings = filled(strings, "").cast(pa.large_string())
    _, offsets, text = strings.buffers()
    at = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
    content = np.frombuffer(text, dtype=np.uint8) if text is not None and text.size else np.zeros(1, np.uint8)
    return content, at


def hashes_of(strings: pa.Array, prefix: str = "") -> np.ndarray:
    """A 64-bit hash per string, of the prefix and the string."""
    hashes: np.ndarray = hash_strings(np.frombuffer(prefix.encode(), dtype=np.uint8), *buffers(strings))
    return hashes


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
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


class BucketNames:
    """A readable name for every hash bucket: the first string seen in it, and up to three others."""

    def __init__(self) -> None:
        self._first: dict[int, str] = {}
        self._others: dict[int, set[str]] = {}

    def add(self, buckets: np.ndarray, strings: list[str]) -> None:
        for bucket, string in zip(buckets.tolist(), strings, strict=True):
            first = self._first.setdefault(bucket, string)
            if first != string and len(others := self._others.setdefault(bucket, set())) < 3:
                others.add(string)

    def merge(self, later: "BucketNames") -> None:
        """Add the strings of another; those that it did not store would not change a name."""
        for bucket, first in later._first.items():
            strings = [first, *sorted(later._others.get(bucket, ()))]
            self.add(np.full(len(strings), bucket), strings)

    def to_json(self) -> dict[str, str]:
        """Bucket -> 'UA', 'UA|DL' or 'UA|DL|...'."""
        return {
            str(bucket): "|".join(
                [first, *sorted(self._others.get(bucket, ()))[:1]] + ["..."] * (len(self._others.get(bucket, ())) > 1)
            )
            for bucket, first in self._first.items()
        }

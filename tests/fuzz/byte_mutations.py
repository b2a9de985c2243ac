"""Changes of bytes that know nothing of what they mean: all of them may happen on a disk, on a wire, or on purpose."""

import struct
from collections.abc import Callable

import numpy as np

WORDS = {
    "<B": (0, 1, 0x7F, 0x80, 0xFF),
    "<i": (0, -1, 1, 2**31 - 1, -(2**31), 1 << 20, 0x00FFFFFF),
    "<q": (0, -1, 1, 2**63 - 1, -(2**63), 2**40, 2**31, 2**32 - 1),
    "<d": (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, -0.0),
    "<f": (float("nan"), float("inf"), 3e38, 1e-45),
}


def flip_bits(data: bytearray, rng: np.random.Generator) -> bytes:
    """One to eight bits."""
    for _ in range(rng.integers(1, 9)):
        data[_place(data, rng)] ^= 1 << int(rng.integers(8))
    return bytes(data)


def random_bytes(data: bytearray, rng: np.random.Generator) -> bytes:
    """A few bytes in a row, anything."""
    at, n = _place(data, rng), int(rng.integers(1, 9))
    data[at : at + n] = rng.bytes(n)
    return bytes(data)


def special_word(data: bytearray, rng: np.random.Generator) -> bytes:
    """A number at the end of its range, where one may lie."""
    kind = list(WORDS)[rng.integers(len(WORDS))]
    word = struct.pack(kind, WORDS[kind][rng.integers(len(WORDS[kind]))])
    at = _place(data, rng)
    at -= at % len(word) if rng.random() < 0.8 else 0
    data[at : at + len(word)] = word
    return bytes(data)


def cut_short(data: bytearray, rng: np.random.Generator) -> bytes:
    return bytes(data[: _place(data, rng)])


def cut_out(data: bytearray, rng: np.random.Generator) -> bytes:
    at, n = _place(data, rng), int(rng.integers(1, 65))
    del data[at : at + n]
    return bytes(data)


def repeat(data: bytearray, rng: np.random.Generator) -> bytes:
    """A stretch of bytes, once more at another place."""
    at, to, n = _place(data, rng), _place(data, rng), int(rng.integers(1, 257))
    data[to:to] = data[at : at + n]
    return bytes(data)


def append(data: bytearray, rng: np.random.Generator) -> bytes:
    """Anything after the end."""
    return bytes(data) + (bytes(data) if rng.random() < 0.3 else rng.bytes(int(rng.integers(1, 64))))


def swap(data: bytearray, rng: np.random.Generator) -> bytes:
    """Two stretches of the same length change places."""
    a, b, n = _place(data, rng), _place(data, rng), int(rng.integers(1, 33))
    data[a : a + n], data[b : b + n] = data[b : b + n], data[a : a + n]
    return bytes(data)


MUTATIONS: tuple[Callable[[bytearray, np.random.Generator], bytes], ...] = (
    flip_bits, flip_bits, random_bytes, special_word, special_word, cut_short, cut_out, repeat, append, swap,
)  # fmt: skip


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three changes, one after the other."""
    for _ in range(rng.integers(1, 4)):
        if not data:
            break
        data = MUTATIONS[rng.integers(len(MUTATIONS))](bytearray(data), rng)
    return data


def _place(data: bytearray, rng: np.random.Generator) -> int:
    """A place, as often as not near one of the ends, where headers and footers are."""
    n = len(data)
    where = rng.random()
    if where < 0.25:
        return int(rng.integers(min(n, 128)))
    if where < 0.5:
        return n - 1 - int(rng.integers(min(n, 512)))
    return int(rng.integers(n))

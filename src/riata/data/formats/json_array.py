"""A JSON array of records as lines, one for each record: in blocks, whatever its size and however it is indented."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from riata.errors import DataError

LONGEST_RECORD = 16  # blocks
QUOTE, BACKSLASH, COMMA, NEWLINE, RETURN, SPACE = b'"\\,\n\r '
OPENS = np.isin(np.arange(256), list(b"{["))
CLOSES = np.isin(np.arange(256), list(b"}]"))


def lines_of_array(stream: Any, block_bytes: int, path: str) -> Iterator[np.ndarray]:
    """The records of the array in a stream of bytes, in blocks of complete lines."""
    left, ended = b"", False
    for more in chain([_after_bracket(stream, path)], iter(lambda: stream.read(block_bytes), b"")):
        if not ended:
            if len(left) > LONGEST_RECORD * block_bytes:
                raise DataError(f"{path} holds a record that does not end, or needs more memory")
            lines, left, ended = _records(np.frombuffer(left + more, dtype=np.uint8).copy())
            if len(lines):
                yield lines
        else:
            left = more
        if ended and left.strip():
            raise DataError(f"{path} goes on after the end of its JSON array: one array, or JSON lines, can be read")
    if not ended:
        raise DataError(f"{path} is cut short: its JSON array does not end; write or fetch it again")


def _after_bracket(stream: Any, path: str) -> bytes:
    """What was read after the bracket that opens the array."""
    start = b""
    while b"[" not in start and (more := stream.read(1 << 12)):
        start += more
    rest = start.partition(b"[")[2]
    while not rest.strip() and (more := stream.read(1 << 12)):
        rest += more
    if rest.strip()[:1] not in (b"{", b"]"):
        raise DataError(
            f"{path} is a JSON array, but not of records such as {{...}}: give every row the names of its values"
        )
    return bytes(rest)


def _records(text: np.ndarray) -> tuple[np.ndarray, bytes, bool]:
    """(complete records as lines, what is left, whether the array ended) of text that begins between two records."""
    outside = ~_in_strings(text)
    depth = np.cumsum((OPENS[text] & outside).astype(np.int8) - (CLOSES[text] & outside), dtype=np.int64)
    ends = np.flatnonzero(depth < 0)  # the bracket that closes the array
    stop = int(ends[0]) if len(ends) else len(text)
    between = np.flatnonzero(((text == COMMA) & (depth == 0) & outside)[:stop])
    text[(text == NEWLINE) | (text == RETURN)] = SPACE  # strings have none: they are written \\n
    text[between] = NEWLINE
    if len(ends):
        text[stop] = NEWLINE
    cut = stop + 1 if len(ends) else int(between[-1]) + 1 if len(between) else 0
    return text[:cut], text[cut:].tobytes(), bool(len(ends))


def _in_strings(text: np.ndarray) -> np.ndarray:
    """Which bytes are within quotes, the closing ones excepted."""
    quotes = np.flatnonzero(text == QUOTE)
    if (text == BACKSLASH).any():
        plain = np.where(text != BACKSLASH, np.arange(len(text)), -1)
        last = np.maximum.accumulate(plain)  # the last byte up to each that is no backslash
        before = quotes - 1 - np.where(quotes > 0, last[quotes - 1], -1)  # how many backslashes come before a quote
        quotes = quotes[before % 2 == 0]
    turns = np.zeros(len(text), dtype=np.int8)
    turns[quotes] = 1
    return (np.cumsum(turns, dtype=np.int64) % 2).astype(bool)

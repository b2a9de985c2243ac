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
    cutter, waiting, n_waiting = _Cutter(), list[np.ndarray](), 0  # what waits for the end of its record
    for more in chain([_after_bracket(stream, path)], iter(lambda: stream.read(block_bytes), b"")):
        text = np.frombuffer(more, dtype=np.uint8).copy()
        cut = 0 if cutter.ended else cutter.cut(text)
        if cut:
            yield np.concatenate([*waiting, text[:cut]])
            waiting, n_waiting = [], 0
        if cutter.ended:
            if text[cut:].tobytes().strip():
                raise DataError(
                    f"{path} goes on after the end of its JSON array: one array, or JSON lines, can be read"
                )
            continue
        waiting.append(text[cut:])
        n_waiting += len(text) - cut
        if n_waiting > LONGEST_RECORD * block_bytes:
            raise DataError(f"{path} holds a record that does not end, or needs more memory")
    if not cutter.ended:
        raise DataError(f"{path} is cut short: its JSON array does not end; write or fetch it again")


def _after_bracket(stream: Any, path: str) -> bytes:
    """What was read after the bracket that opens the array."""
    start = b""
    while b"[" not in start and (more := stream.read(1 << 12)):
        start += more
    rest = start.partition(b"[")[2]
    while not rest.strip() and (more := stream.read(1 << 12)):
        rest = more
    if rest.strip()[:1] not in (b"{", b"]"):
        raise DataError(
            f"{path} is a JSON array, but not of records such as {{...}}: give every row the names of its values"
        )
    return bytes(rest)


class _Cutter:
    """Makes lines of records, block by block: what is open at the end of a block is remembered, none is read twice."""

    def __init__(self) -> None:
        self.ended = False  # whether the bracket that closes the array has come
        self._depth, self._quoted, self._backslashes = 0, False, 0  # the last are those at the very end

    def cut(self, text: np.ndarray) -> int:
        """Make lines of the records in a block, in place; returns where the last complete one ends."""
        if not len(text):
            return 0
        outside = ~self._in_strings(text)
        depth = np.cumsum((OPENS[text] & outside).astype(np.int8) - (CLOSES[text] & outside), dtype=np.int64)
        depth += self._depth
        self._depth = int(depth[-1])
        ends = np.flatnonzero(depth < 0)  # the bracket that closes the array
        stop = int(ends[0]) if len(ends) else len(text)
        between = np.flatnonzero(((text == COMMA) & (depth == 0) & outside)[:stop])
        text[(text == NEWLINE) | (text == RETURN)] = SPACE  # strings have none: they are written \\n
        text[between] = NEWLINE
        if len(ends):
            text[stop], self.ended = NEWLINE, True
            return stop + 1
        return int(between[-1]) + 1 if len(between) else 0

    def _in_strings(self, text: np.ndarray) -> np.ndarray:
        """Which bytes are within quotes, the closing ones excepted."""
        quotes, before_block = np.flatnonzero(text == QUOTE), self._backslashes
        self._backslashes = 0
        if before_block or (text == BACKSLASH).any():
            plain = np.where(text != BACKSLASH, np.arange(len(text)), -1)
            last = np.maximum.accumulate(plain)  # the last byte up to each that is no backslash
            self._backslashes = len(text) - 1 - int(last[-1]) + (before_block if last[-1] < 0 else 0)
            at = np.where(quotes > 0, last[quotes - 1], -1)
            n_backslashes = quotes - 1 - at + np.where(at < 0, before_block, 0)  # that come right before a quote
            quotes = quotes[n_backslashes % 2 == 0]
        turns = np.zeros(len(text), dtype=np.int8)
        turns[quotes] = 1
        inside = (np.cumsum(turns, dtype=np.int64) % 2).astype(bool) ^ self._quoted
        self._quoted = bool(inside[-1])
        return inside

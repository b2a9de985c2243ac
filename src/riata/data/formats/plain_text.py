"""Plain text of cells, read by a compiled loop, which takes half the time of Arrow's reader on one thread.

Plain is a file of UTF-8 without quotes, in which every line has as many cells as the first, and numbers are written
with few digits (`kernels/plain_cells.py`). Columns are those that Arrow would make: nobody can tell who has read them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of
from riata.data.formats.dialect import Dialect
from riata.data.formats.parsed_lines import whole_lines
from riata.data.formats.reused_memory import ReusedMemory
from riata.errors import DataError
from riata.kernels.bytes_together import AT_ONCE, places_of
from riata.kernels.plain_cells import (
    FIRST_STRINGS,
    LEFT_OUT,
    NOT_PLAIN,
    Columns,
    Words,
    are_plain,
    count_ends,
    read_cells,
)
from riata.kernels.svmlight import NEWLINE

NO_QUOTE = 256  # no byte is that


class PlainText:
    """Rows of the files of a source, as long as they are plain."""

    def __init__(self, block_bytes: int, null_words: Sequence[str]) -> None:
        self._block_bytes = block_bytes
        self._words = _words_of(null_words)
        self._memory = ReusedMemory()

    def batches(
        self, stream: Any, dialect: Dialect, kinds: Mapping[str, pa.DataType]
    ) -> Iterator[pa.RecordBatch | None]:
        """Batches of rows, behind the header; None, at last, where what follows is not plain."""
        n_header = dialect.start
        while n_header > 0 and (header := stream.read(n_header)):
            n_header -= len(header)
        try:
            for block in whole_lines(stream, self._block_bytes):
                rows = self._rows(block, dialect, kinds)
                yield rows
                if rows is None:
                    return
                del rows
        except DataError:  # of a line that is too long
            yield None

    def _rows(self, block: np.ndarray, dialect: Dialect, kinds: Mapping[str, pa.DataType]) -> pa.RecordBatch | None:
        """The rows of a block of whole lines; None where it is not plain."""
        separator, quote = ord(dialect.separator), ord(dialect.quote) if dialect.quote else NO_QUOTE
        n_rows, n_cells, returns = count_ends(block, separator, quote)
        if n_rows == NOT_PLAIN:
            return None
        ends = np.empty(1 + n_cells + AT_ONCE, np.int32)
        ends[0] = -1
        places_of(block, separator, NEWLINE, ends[1:])
        if block[-1] != NEWLINE:  # the end of the file
            n_rows, n_cells = n_rows + 1, n_cells + 1
            ends[n_cells] = len(block)
        lengths = np.empty(len(dialect.names), np.int64)
        if not are_plain(block, returns, ends[: n_cells + 1], n_rows, lengths):
            return None
        place_in_row = {name: place for place, name in enumerate(dialect.names)}
        strings = [name for name, kind in kinds.items() if kind == pa.string()]
        numbers = [name for name in kinds if name not in strings]
        places = np.full(len(dialect.names), LEFT_OUT)
        places[[place_in_row[name] for name in numbers]] = range(len(numbers))
        in_row = [place_in_row[name] for name in strings]
        places[in_row] = FIRST_STRINGS - np.arange(len(strings))
        starts = np.cumsum(np.append(0, lengths[in_row] + AT_ONCE))
        room = self._memory.arrays(
            (len(numbers) * n_rows, np.float64), (len(strings) * (n_rows + 1), np.int32),
            (len(strings) * n_rows, np.uint8), (len(strings), np.int64), (int(starts[-1]), np.uint8),
        )  # fmt: skip
        columns = Columns(room[0], room[1], room[2], room[3], starts, room[4])
        if not read_cells(block, ends[: n_cells + 1], n_rows, places, self._words, columns):
            return None
        made = {}
        for place, name in enumerate(numbers):
            values = columns.numbers[place * n_rows :][:n_rows]
            made[name] = arrow_of(values, null if (null := np.isnan(values)).any() else None)
        for place, name in enumerate(strings):
            null = columns.missing[place * n_rows :][:n_rows] if columns.n_missing[place] else None
            string_ends = columns.ends[place * (n_rows + 1) :][: n_rows + 1]
            made[name] = _strings(string_ends, columns.text[starts[place] :][: max(string_ends[-1], 1)], null)
        return pa.RecordBatch.from_arrays([made[name] for name in kinds], list(kinds))


def _strings(ends: np.ndarray, text: np.ndarray, null: np.ndarray | None) -> pa.Array:
    present = None if null is None else pa.py_buffer(np.packbits(null == 0, bitorder="little"))
    buffers = [present, pa.py_buffer(ends), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), len(ends) - 1, buffers)


def _words_of(words: Sequence[str]) -> Words:
    letters = [word.encode() for word in words if word]
    begin = np.zeros(256, dtype=bool)
    begin[[word[0] for word in letters]] = True
    text = np.frombuffer(b"".join(letters) or b"\0", np.uint8)
    return Words(text, np.cumsum([len(word) for word in letters], dtype=np.int64), begin)

"""Where a CSV file can be divided: at ends of rows, which are line ends outside of quotes.

Whether a line end is inside quotes depends on all that comes before it. So the file is read up to the last place where
it is divided, at the speed at which quotes are searched for: only blocks that hold one are followed byte by byte.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from riata.data.formats.dialect import Dialect
from riata.data.formats.files import File

BLOCK = 1 << 20


def row_starts(file: File, n_spans: int, dialect: Dialect) -> list[int]:
    """The starts of rows that divide a file into about equal spans, from its first row on, and its end."""
    first = min(dialect.raw_start, file.size)
    wanted = [first + i * (file.size - first) // n_spans for i in range(1, n_spans)]
    with file.seekable() as handle:
        cuts = list(_cuts(_Reader(handle, first, dialect), wanted))
    return sorted({first, *cuts, file.size})


def _cuts(reader: "_Reader", wanted: list[int]) -> Iterator[int]:
    for place in wanted:
        reader.advance(place)
        reader.finish_row()
        yield reader.place


class _Reader:
    """Follows the quotes of a file."""

    def __init__(self, handle: pa.NativeFile, place: int, dialect: Dialect) -> None:
        self._handle, self.place = handle, place
        self._quote, self._separator = dialect.quote.encode(), dialect.separator.encode()
        self._state = 0
        handle.seek(place)

    def advance(self, place: int) -> None:
        """Go on to a place, if that lies ahead."""
        while self.place < place and (block := self._handle.read(min(BLOCK, place - self.place))):
            self._follow(block, stop=False)
            self.place += len(block)

    def finish_row(self) -> None:
        """Go on to the end of the row."""
        while block := self._handle.read(BLOCK):
            n_read, ended = self._follow(block, stop=True)
            self.place += n_read
            if ended:
                self._handle.seek(self.place)
                return

    def _follow(self, block: bytes, stop: bool) -> tuple[int, bool]:
        """How many bytes were read, and whether the end of a row was met, at which to stop if asked."""
        from riata.kernels.csv_rows import CELL_START, IN_CELL, IN_QUOTES, follow_quotes

        if not self._quote or (self._state < IN_QUOTES and self._quote not in block):
            end = block.find(b"\n") if stop else -1
            last = block[end : end + 1] if end >= 0 else block[-1:]
            self._state = CELL_START if last in (b"\n", b"\r", self._separator) else IN_CELL
            return (end + 1, True) if end >= 0 else (len(block), False)
        text = np.frombuffer(block, dtype=np.uint8)
        self._state, n_read = follow_quotes(text, self._state, ord(self._separator), ord(self._quote), stop)
        return n_read, stop and self._state == CELL_START and block[n_read - 1 : n_read] == b"\n"

"""Where a CSV file can be divided: at ends of rows, which are line ends outside of quotes.

Whether a line end is inside quotes depends on all that comes before it. So the file is read up to the last place where
it is divided, at the speed at which quotes are searched for: only blocks that hold one are followed byte by byte.
"""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import fs

from riata.data.formats.dialect import Dialect
from riata.data.formats.files import File
from riata.errors import DataError

BLOCK = 1 << 20


def row_starts(file: File, n_spans: int, dialect: Dialect) -> list[int]:
    """The starts of rows that divide a file into about equal spans, from its first row on, and its end.

    A remote file is not read through for this: it is divided only if there are no quotes in its first bytes, and who
    reads a part refuses quotes, see `Unquoted`.
    """
    first = min(dialect.raw_start, file.size)
    remote = not is_local(file)
    if remote and dialect.quote.encode() in file.head():
        return [first, file.size]
    wanted = [first + i * (file.size - first) // n_spans for i in range(1, n_spans)]
    with file.seekable() as handle:
        cuts = list(_cuts(_Reader(handle, first, dialect), wanted, skip=remote))
    return sorted({first, *cuts, file.size})


def is_local(file: File) -> bool:
    """Whether reading the whole file is cheap."""
    return isinstance(file.filesystem, fs.LocalFileSystem)


def _cuts(reader: "_Reader", wanted: list[int], skip: bool) -> Iterator[int]:
    """The ends of rows at these places; if asked to `skip`, without reading what comes before each."""
    for place in wanted:
        (reader.skip if skip else reader.advance)(place)
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

    def skip(self, place: int) -> None:
        """Go on to a place without reading what comes before it, if it lies ahead."""
        self.place = max(place, self.place)
        self._handle.seek(self.place)

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


class Unquoted(io.RawIOBase):
    """The bytes of a part of a remote file, in which quotes are an error: the part may begin in the middle of a row."""

    def __init__(self, part: io.RawIOBase, quote: str, path: str) -> None:
        self._part, self._quote, self._path = part, quote.encode(), path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        n_read = self._part.readinto(buffer)
        if n_read and self._quote and self._quote in bytes(memoryview(buffer)[:n_read]):
            raise DataError(
                f"{self._path} has quotes after its first rows, so that it cannot be read in parts from afar: copy it "
                "to a local disk, write it as Parquet, or leave the engine out"
            )
        return n_read

    def close(self) -> None:
        self._part.close()
        super().close()

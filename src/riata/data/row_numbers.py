"""One number for every row: written in their order, read by runs of rows; on disk where there are many of them."""

import threading
import weakref
from collections.abc import Iterable, Iterator
from tempfile import gettempdir
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from riata.files import says_why
from riata.machine import file_without_name

MOST_IN_MEMORY = 16 << 20  # bytes; more are kept in a temporary file
AT_ONCE = 1 << 20  # rows


class RowNumbers:
    """A number for every row, of one type."""

    def __init__(self, dtype: npt.DTypeLike, parts: Iterable[npt.ArrayLike] = ()) -> None:
        self.dtype = np.dtype(dtype)
        self._parts: list[np.ndarray] = []
        self._file: IO[bytes] | None = None
        self._count = 0
        self._reading = threading.Lock()  # a file has one place at which it is read
        for part in parts:
            self.append(part)

    def __len__(self) -> int:
        return self._count

    def append(self, values: npt.ArrayLike) -> None:
        """Add the numbers of the next rows."""
        part = np.ascontiguousarray(values, dtype=self.dtype)
        self._count += len(part)
        self._parts.append(part)
        with says_why(f"numbers of rows in {gettempdir()}"):
            self._write()

    def _write(self) -> None:
        """Move them to the file, from where there are many of them."""
        if self._file is None and self._count * self.dtype.itemsize > MOST_IN_MEMORY:
            self._file = file_without_name()
            weakref.finalize(self, self._file.close)
        if self._file is not None:
            self._file.seek(0, 2)
            for waiting in self._parts:
                self._file.write(waiting.data)
            self._parts = []

    def run(self, start: int, stop: int) -> np.ndarray:
        """The numbers of the rows from `start` up to `stop`."""
        if self._file is None:
            if len(self._parts) > 1:
                self._parts = [np.concatenate(self._parts)]
            return self._parts[0][start:stop] if self._parts else np.empty(0, self.dtype)
        size = self.dtype.itemsize
        with self._reading:
            self._file.seek(start * size)
            return np.frombuffer(self._file.read((min(stop, self._count) - start) * size), self.dtype)

    def runs(self) -> Iterator[np.ndarray]:
        """All of them, a run at a time."""
        for start in range(0, self._count, AT_ONCE):
            yield self.run(start, start + AT_ONCE)

    def all(self) -> np.ndarray:
        """All of them, in memory."""
        return self.run(0, self._count)

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        """The numbers of the rows at these positions, which lie near each other."""
        if len(positions) == 0:
            return np.empty(0, self.dtype)
        first = int(positions.min())
        return self.run(first, int(positions.max()) + 1)[positions - first]

    def __reduce__(self) -> tuple[Any, ...]:
        return RowNumbers, (self.dtype, [self.all()])

"""Arrow files that are mapped into memory, and those of others that nobody cuts short while rows of them are in use.

A page of a mapped file that is no longer there ends the process (SIGBUS). So the system is asked to have everyone wait
who would cut the file, as long as a view of it lives. A view is used for a second: nobody waits for a fit to end.
"""

import math
import mmap
import os
import shutil
import tempfile
import time
from typing import IO, NamedTuple

import pyarrow as pa

from riata.data.formats.damage import DAMAGE
from riata.data.formats.files import Mark
from riata.errors import DataError
from riata.machine import file_without_name, forget_pages, hold_still

SECONDS = 1.0  # that a view is used
COPY_BYTES = 1 << 20  # of a file that is copied, at a time


class View(NamedTuple):
    """A file as it is mapped, or as it is read; batches keep the map alive, and that the file."""

    mapped: mmap.mmap | None
    content: pa.Buffer | None  # of the map
    reader: pa.RecordBatchFileReader

    @classmethod
    def of(cls, handle: IO[bytes]) -> "View":
        mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        content = pa.py_buffer(mapped)
        reader = pa.ipc.open_file(content)
        forget_pages(mapped)  # of the metadata, which may name very many features
        return cls(mapped, content, reader)

    @property
    def view(self) -> "View":
        """Itself: a file of riata's own needs no other."""
        return self

    def batch(self, i: int) -> pa.RecordBatch:
        return self.reader.get_batch(i)

    def is_copy(self, batch: pa.RecordBatch) -> bool:
        """Whether a batch has nothing of the map, as a compressed one has not."""
        return self._span(batch) is None

    def release(self, i: int) -> None:
        """Release the pages of a batch, which count as memory of this process as long as they stay mapped."""
        if self.mapped is not None and (span := self._span(self.batch(i))) is not None:
            forget_pages(self.mapped, span[0], span[1] - span[0])

    def release_all(self) -> None:
        if self.mapped is not None:
            forget_pages(self.mapped)

    def let_go(self) -> None:
        """Nobody else wants a file of riata's own."""

    def _span(self, batch: pa.RecordBatch) -> tuple[int, int] | None:
        """From where up to where the map has the rows of a batch."""
        if self.content is None:
            return None
        first, last = self.content.address, self.content.address + self.content.size
        there = [b for column in batch.columns for b in column.buffers() if b and first <= b.address < last]
        if not there:
            return None
        return min(b.address for b in there) - first, max(b.address + b.size for b in there) - first


class HeldFile:
    """A file of somebody else: views of it, each of the same content.

    Where the system has nobody wait, batches are read and not mapped. If one takes more than `room` bytes on average,
    the file is copied to one of our own, and that is mapped.
    """

    def __init__(self, path: str, room: float = math.inf) -> None:
        self._path, self._room = path, room
        self._own: View | None = None  # of the copy
        self._known: tuple[tuple[int, int], Mark] | None = None
        self._present: View | None = None
        self._since = 0.0

    @property
    def view(self) -> View:
        """The present view, or a new one if that is old; a file that has changed is an error."""
        view = self._present
        if view is None or time.monotonic() - self._since > SECONDS:
            view = self._present = None  # before the next one is made: each has metadata of its own
            view = self._renewed()
            self._present, self._since = view, time.monotonic()
        return view

    def batch(self, i: int) -> pa.RecordBatch:
        """A record batch that may be used until it is let go."""
        view = self.view
        try:
            return view.batch(i)
        except DAMAGE:
            self._renewed()  # which says so if it has been cut meanwhile
            raise

    def release(self, i: int) -> None:
        """Release the pages of a batch of the present view; older ones are released with their batches."""
        if (view := self._present) is not None:
            view.release(i)

    def let_go(self) -> None:
        """Have nobody wait for more than the batches that are still in use."""
        self._present = None

    def _renewed(self) -> View:
        with open(self._path, "rb") as handle:
            held = hold_still(handle.fileno())
            now = os.fstat(handle.fileno())
            known = (now.st_size, now.st_mtime_ns), Mark.of(now)
            before = known if self._known is None else self._known
            if before[0] != known[0] or before[1].may_be_another(known[1]):
                raise DataError(f"{self._path} changed while it was being read; start again when nobody writes to it")
            self._known = before
            if held:
                return View.of(handle)
            if self._own is not None:
                return self._own
            reader = pa.ipc.open_file(pa.OSFile(self._path))
            if now.st_size <= self._room * reader.num_record_batches:
                return View(None, None, reader)
            self._own = self._copied(handle)
        return self._own

    def _copied(self, handle: IO[bytes]) -> View:
        """A view of a copy that has no name, and goes when nobody maps it any more."""
        try:
            with file_without_name() as own:
                shutil.copyfileobj(handle, own, COPY_BYTES)
                own.flush()
                return View.of(own)
        except OSError as error:
            raise DataError(
                f"{self._path} may be cut short by others while it is read, and cannot be copied to "
                f"{tempfile.gettempdir()} before: {error.strerror or error}; make room there, or write it in smaller "
                "record batches"
            ) from error

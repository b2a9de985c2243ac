"""Arrow's CSV reader, held back: by itself it reads up to 32 blocks of a file ahead of the rows that are asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from riata.data.formats.reused_memory import ReusedMemory
from riata.threads import n_cores

SPARE = 3  # blocks beside those that cores are parsing: one is read, one waits, one is in use
WAIT = 5.0  # seconds after which reading goes on: should blocks and batches not go together, nothing stands still


class Paced:
    """A stream of which a block is read when the rows of so many blocks before it are used."""

    def __init__(self, stream: Any, n_ahead: int) -> None:
        self._stream, self._left = stream, n_ahead
        self._more, self._memory = Condition(), ReusedMemory()

    def read(self, n_bytes: int = -1) -> bytes:
        self._wait()
        content: bytes = self._stream.read(n_bytes)
        return content

    def read_buffer(self, n_bytes: int) -> pa.Buffer:
        """Which Arrow takes without a copy; its memory is used again once Arrow is done with it."""
        self._wait()
        (block,) = self._memory.arrays((n_bytes, np.uint8))
        n_read = self._stream.readinto(block) if hasattr(self._stream, "readinto") else None
        return pa.py_buffer(self._stream.read(n_bytes) if n_read is None else block[:n_read])

    def _wait(self) -> None:
        with self._more:
            self._more.wait_for(lambda: self._left > 0, WAIT)
            self._left -= 1

    def used(self) -> None:
        """The rows of a block are."""
        with self._more:
            self._left += 1
            self._more.notify()

    def close(self) -> None:
        self._stream.close()

    @property
    def closed(self) -> bool:
        closed: bool = self._stream.closed
        return closed


@contextmanager
def paced_batches(stream: Any, options: dict[str, Any]) -> Iterator[Iterator[pa.RecordBatch]]:
    """The batches of rows of `pyarrow.csv.open_csv`, of which each is a block."""
    paced = Paced(stream, n_cores() + SPARE)
    with pacsv.open_csv(paced, **options) as reader:

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in reader:
                yield batch
                paced.used()

        yield batches()

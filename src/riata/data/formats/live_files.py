"""Text that arrives while it is read: a file that grows, and standard input. Reading waits, until `close` is called."""

import io
import select
import sys
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyarrow import fs

from riata.data.closing import Closing
from riata.data.formats.files import File

POLL = 0.1  # seconds between checks whether there is more


class Followed(File):
    """A text file that is read on as it grows: reading waits at its end, and changes are expected."""

    def stream(self) -> Any:
        return pa.PythonFile(_Growing(self.path, self._closed), "r")

    @cached_property
    def _closed(self) -> Closing:
        return Closing()

    def close(self) -> None:
        self._closed.ask()

    def head(self, n_bytes: int = 1 << 16) -> bytes:
        with super().stream() as stream:
            content: bytes = stream.read(n_bytes)
            return content

    def changed(self) -> bool:
        return False


class _Growing(io.RawIOBase):
    """The bytes of a file, and those that are written to it later."""

    def __init__(self, path: str, closed: Closing) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed with this object)
        self._closed = closed

    def readable(self) -> bool:
        return True

    def read(self, n_bytes: int = -1) -> bytes | None:
        while not (content := self._file.read(n_bytes)) and not self._closed.wait(POLL):
            pass
        return content

    def close(self) -> None:
        self._file.close()
        super().close()


class StandardInput(File):
    """Standard input: its first bytes can be inspected, and all of it read once."""

    def __init__(self) -> None:
        super().__init__(fs.LocalFileSystem(), "standard input", 0, None)

    @cached_property
    def _raw(self) -> Any:
        """Not the buffered reader: a thread that waits in it would keep Python from exiting after Ctrl-C."""
        return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)

    @cached_property
    def _head(self) -> bytearray:
        """What has been read by `head`."""
        return bytearray()

    @cached_property
    def _closed(self) -> Closing:
        return Closing()

    def head(self, n_bytes: int = 1 << 16) -> bytes:
        while len(self._head) < n_bytes and (more := self._raw.read(n_bytes - len(self._head))):
            self._head.extend(more)
        return bytes(self._head[:n_bytes])

    def stream(self) -> Any:
        return pa.PythonFile(_Chained(bytes(self._head), self._raw, self._closed), "r")

    def close(self) -> None:
        self._closed.ask()

    def changed(self) -> bool:
        return False


class _Chained(io.RawIOBase):
    """Bytes that were read before, then the rest of a stream."""

    def __init__(self, head: bytes, rest: Any, closed: Closing) -> None:
        self._head, self._rest, self._closed = io.BytesIO(head), rest, closed

    def readable(self) -> bool:
        return True

    def read(self, n_bytes: int = -1) -> bytes | None:
        if content := self._head.read(n_bytes):
            return content
        while not self._closed.asked:
            if _has_more(self._rest):
                more: bytes | None = self._rest.read(n_bytes)
                return more
        return b""


def _has_more(stream: Any) -> bool:
    """Whether bytes (or the end) arrive within POLL seconds; True for a stream that cannot tell."""
    try:
        return bool(select.select([stream], [], [], POLL)[0])
    except (OSError, TypeError, ValueError):
        return True

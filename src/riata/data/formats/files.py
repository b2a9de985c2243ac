"""Finding and opening files, here or remote, and saying what is wrong in words."""

import bz2
import glob
import io
import lzma
import os
import select
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from threading import Event
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from riata.errors import DataError, MissingFileError, MissingPackageError

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}
FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".npy": "npy", ".npz": "npz",
}  # fmt: skip
WILDCARDS = "*?["
POLL = 0.1  # seconds between looks at whether a file has grown


@dataclass(frozen=True)
class File:
    """One file of a source."""

    filesystem: fs.FileSystem
    path: str
    size: int
    modified: int | None  # nanoseconds
    root: str = ""  # the folder that was opened
    span: tuple[int, int] | None = None  # what is read of it: bytes of text, row groups, record batches or rows

    @property
    def compression(self) -> str | None:
        return COMPRESSIONS.get(Path(self.path).suffix.lower())

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, under a suffix of compression."""
        suffixes = [s.lower() for s in Path(self.path).suffixes]
        if suffixes and suffixes[-1] in COMPRESSIONS:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    @property
    def partitions(self) -> dict[str, str]:
        """The parts of a path like year=2013/month=1/x.parquet, below the folder that was opened."""
        folders = self.path.removeprefix(self.root).split("/")[:-1]
        pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
        return {unquote(key): unquote(value) for key, value in pairs}

    def close(self) -> None:
        """Stop waiting for more, where anybody does."""

    def fingerprint(self) -> tuple:
        """What tells this file, as it is now, from any other: a path alone means another file in another folder."""
        known = (self.size, self.modified, *self.partitions.items())
        if not isinstance(self.filesystem, fs.LocalFileSystem):
            return (self.filesystem.type_name, self.path, *known)
        there = os.stat(self.path)
        return (os.path.realpath(self.path), there.st_dev, there.st_ino, *known)

    def changed(self) -> bool:
        """Whether the file is no longer what it was when it was found."""
        now = self.filesystem.get_file_info(self.path)
        return (now.size or 0, now.mtime_ns) != (self.size, self.modified)

    def seekable(self) -> pa.NativeFile:
        return self.filesystem.open_input_file(self.path)

    def stream(self):
        """The bytes of the file, decompressed, from the first to the last."""
        if self.span is not None:
            return Bytes(self.seekable(), *self.span)
        raw = self.filesystem.open_input_stream(self.path, compression=None)
        if self.compression in ("xz", "bz2"):  # Arrow has no xz, and reads only the first stream of a bz2 file
            return {"xz": lzma, "bz2": bz2}[self.compression].open(raw)
        return pa.CompressedInputStream(raw, self.compression) if self.compression else raw

    def head(self, n_bytes=1 << 16) -> bytes:
        with self.stream() as stream:
            return stream.read(n_bytes)

    def lines_before(self) -> int:
        """How many lines of text there are before what is read."""
        if self.span is None:
            return 0
        with Bytes(self.seekable(), 0, self.span[0]) as before:
            return sum(block.count(b"\n") for block in iter(lambda: before.read(1 << 20), b""))


class Bytes(io.RawIOBase):
    """The bytes of a file from `start` up to `stop`."""

    def __init__(self, file: pa.NativeFile, start: int, stop: int):
        self._file, self._left = file, stop - start
        file.seek(start)

    def readable(self):
        return True

    def readinto(self, buffer):
        n_read = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= n_read
        return n_read

    def close(self):
        self._file.close()
        super().close()


class Followed(File):
    """A file that others write to: its end is no end, and a change of it no surprise."""

    def stream(self):
        return pa.PythonFile(_Growing(self.path, self._let_go), "r")

    @cached_property
    def _let_go(self) -> Event:
        return Event()

    def close(self):
        self._let_go.set()

    def head(self, n_bytes=1 << 16):
        with super().stream() as stream:
            return stream.read(n_bytes)

    def changed(self):
        return False


class _Growing(io.RawIOBase):
    """The bytes of a file, and those that are written to it later."""

    def __init__(self, path: str, let_go: Event):
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 (lives as long as this does)
        self._let_go = let_go

    def readable(self):
        return True

    def read(self, n_bytes=-1):
        while not (content := self._file.read(n_bytes)) and not self._let_go.wait(POLL):
            pass
        return content

    def close(self):
        self._file.close()
        super().close()


class StandardInput:
    """Standard input in the place of a file: its first bytes can be looked at, all of it can be read once."""

    path, suffix, partitions, size, compression = "standard input", "", {}, 0, None  # type: ignore[var-annotated]
    span = None

    def __init__(self, raw=None):
        # Not the buffered reader: a thread that waits in it would keep Python from ending after a Ctrl-C.
        self._raw = raw or getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        self._head = b""
        self._let_go = Event()

    def head(self, n_bytes=1 << 16) -> bytes:
        while len(self._head) < n_bytes and (more := self._raw.read(n_bytes - len(self._head))):
            self._head += more
        return self._head[:n_bytes]

    def stream(self):
        return pa.PythonFile(_Chained(self._head, self._raw, self._let_go), "r")

    def close(self):
        self._let_go.set()

    def changed(self) -> bool:
        return False

    def lines_before(self) -> int:
        return 0


class _Chained(io.RawIOBase):
    """Bytes that were read already, then those that follow."""

    def __init__(self, head: bytes, rest, let_go: Event):
        self._head, self._rest, self._let_go = io.BytesIO(head), rest, let_go

    def readable(self):
        return True

    def read(self, n_bytes=-1):
        if content := self._head.read(n_bytes):
            return content
        while not self._let_go.is_set():
            if _has_more(self._rest):
                return self._rest.read(n_bytes)
        return b""


def _has_more(stream) -> bool:
    """Whether reading would not have to wait, after waiting a moment; a stream that cannot tell is simply read."""
    try:
        return bool(select.select([stream], [], [], POLL)[0])
    except (OSError, TypeError, ValueError):
        return True


def find_files(source: str, filesystem=None) -> list[File]:
    """The files of a path, folder or glob, or a sentence that says why there are none."""
    filesystem, path = _resolve(source, filesystem)
    try:
        infos, root = _matching(filesystem, path)
    except OSError as error:
        raise DataError(f"{source} cannot be read: {_reason(error)}") from error
    files = [
        File(filesystem, info.path, info.size or 0, info.mtime_ns, root)
        for info in infos
        if info.type is fs.FileType.File
    ]
    if not files:
        what = "matches no file" if _is_glob(path) else "holds no file that can be read"
        raise MissingFileError(f"{source} {what}; check the path")
    return sorted(files, key=lambda file: file.path)


def _resolve(source: str, filesystem):
    """The file system and the path on it. PyArrow's own where there is one, fsspec's otherwise."""
    scheme, separator, path = source.partition("://")
    if filesystem is not None:
        path = path if separator else source
        return filesystem if isinstance(filesystem, fs.FileSystem) else _wrapped(filesystem), path
    if not separator:
        return fs.LocalFileSystem(), Path(source).expanduser().as_posix()  # Arrow joins by / everywhere
    path, _, query = path.partition("?") if "=" in path.rpartition("?")[2] else (path, "", "")
    # A wildcard is no part of a URI: the file system is that of the folder before it.
    start = min((path.find(c) for c in WILDCARDS if c in path), default=None)
    folder = path if start is None else path[:start].rpartition("/")[0]
    try:
        filesystem, base = fs.FileSystem.from_uri(f"{scheme}://{folder}" + (f"?{query}" if query else ""))
        return filesystem, base + path[len(folder) :]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _fsspec(scheme), path
    except OSError as error:
        raise DataError(f"{source} cannot be reached: {_reason(error)}") from error


def _fsspec(scheme: str):
    try:
        import fsspec

        return _wrapped(fsspec.filesystem(scheme))
    except ImportError as error:
        raise MissingPackageError(f"reading {scheme}:// needs a package: {error}") from error
    except ValueError as error:
        raise DataError(f"there is no file system {scheme}://: {error}") from error


def _wrapped(filesystem):
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def _matching(filesystem, path):
    """Information on the files, and the folder they were looked for in. A file may have a wildcard in its name."""
    info = filesystem.get_file_info(path)
    if info.type is fs.FileType.File:
        return [info], path.rpartition("/")[0]
    if _is_glob(path) and isinstance(filesystem, fs.LocalFileSystem):
        return filesystem.get_file_info(sorted(Path(found).as_posix() for found in glob.glob(path, recursive=True))), ""
    if _is_glob(path):
        stem = path[: min(path.find(c) for c in WILDCARDS if c in path)].rpartition("/")[0]
        found = filesystem.get_file_info(fs.FileSelector(stem, recursive=True))
        return [info for info in found if fnmatch(info.path, path)], ""
    if info.type is fs.FileType.NotFound:
        raise MissingFileError(f"there is no file {path}, nor a folder or a data set of that name (see riata datasets)")
    found = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    return [i for i in found if not i.base_name.startswith((".", "_")) and i.size], path


def _is_glob(path):
    return any(c in path for c in WILDCARDS)


def _reason(error) -> str:
    """What an error of a file system says, and what to do about a refusal."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if any(word in str(error) for word in ("ACCESS_DENIED", "Forbidden", "credential", "Credential", "403", "401")):
        return f"{text} (give credentials as the service expects them, such as AWS_ACCESS_KEY_ID)"
    return text


def guess_format(files: list[File]) -> str:
    """The one format of all files: by suffix, or by their first bytes."""
    kinds = {FORMATS.get(file.suffix) or sniff(file.head(), file.path) for file in files}
    if len(kinds) > 1:
        raise DataError(
            f"the files are of several formats ({', '.join(sorted(kinds))}); name those of one, e.g. *.parquet"
        )
    return kinds.pop()


def sniff(head: bytes, name: str) -> str:
    """The format that begins with these bytes."""
    for magic, kind in {b"PAR1": "parquet", b"ARROW1": "ipc", b"\x93NUMPY": "npy", b"PK": "npz"}.items():
        if head.startswith(magic):
            return kind
    if b"\0" in head or not head.strip():
        raise DataError(
            f"{name} is {'empty' if not head.strip() else 'of no known format'}; riata reads {known_formats()}"
        )
    line = next((line for line in io.BytesIO(head) if line.strip() and not line.startswith(b"#")), b"")
    tokens = line.split(b"#")[0].split()
    pairs = [token for token in tokens[1:] if token.count(b":") == 1]
    if len(tokens) > 1 and len(pairs) == len(tokens) - 1:
        return "svmlight"
    if not any(separator in line for separator in (b",", b"\t", b";", b"|")):
        raise DataError(
            f"{name} has an ending that riata does not know, and no known format; it reads {known_formats()}"
        )
    return "csv"


def known_formats() -> str:
    return "Parquet, Arrow IPC (Feather), CSV, TSV, svmlight, .npy and .npz"

"""Finding and opening files, local or remote, with clear messages about what is wrong."""

import bz2
import codecs
import glob
import io
import lzma
import os
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from riata.data.formats.damage import DAMAGE, reason_of
from riata.data.formats.decompressed import Decompressed
from riata.data.formats.kinds import check_content, is_vowpal_wabbit, kind_by_content, known_formats
from riata.errors import DataError, MissingFileError, MissingPackageError, RiataError
from riata.near_misses import nearest

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}
MAGIC = {
    "gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "xz": b"\xfd7zXZ\0", "lz4": b"\x04\x22\x4d\x18",
}  # fmt: skip
FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".orc": "orc", ".avro": "avro", ".xlsx": "excel", ".xlsm": "excel",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
    ".vw": "vowpal wabbit", ".ffm": "libffm", ".libffm": "libffm", ".npy": "npy", ".npz": "npz",
}  # fmt: skip
WILDCARDS = "*?["
EXTRAS = {"http": "fsspec[http]", "https": "fsspec[http]", "sftp": "fsspec[sftp]", "github": "fsspec[github]"}


class Mark(NamedTuple):
    """What tells a file on this machine from one of the same size and time: nobody can set when its entry changed."""

    device: int
    number: int  # of its entry
    entry_changed: int  # nanoseconds
    access: tuple[int, ...]  # its mode, its owners and how many names it has: they are of its entry, not its content

    @classmethod
    def of(cls, there: os.stat_result) -> "Mark":
        access = there.st_mode, there.st_uid, there.st_gid, there.st_nlink
        return cls(there.st_dev, there.st_ino, there.st_ctime_ns, access)

    def may_be_another(self, now: "Mark") -> bool:
        """Whether the content may be another now, of the same size and time.

        A chmod, or another name that a backup makes, explains why the entry has changed.
        """
        if self[:2] != now[:2]:
            return True
        return self.entry_changed != now.entry_changed and self.access == now.access


@dataclass(frozen=True)
class File:
    """One file of a source."""

    filesystem: fs.FileSystem
    path: str
    size: int
    modified: int | None  # nanoseconds
    root: str = ""  # the folder that was opened
    span: tuple[int, int] | None = None  # the part that is read: of the bytes of text, row groups or record batches
    mark: Mark | None = None  # of what is on this machine

    def __getstate__(self) -> dict[str, object]:
        """Without the mark: another machine may have a copy of the file, of the same size and time."""
        return vars(self) | {"mark": None}

    @property
    def compression(self) -> str | None:
        return COMPRESSIONS.get(Path(self.path).suffix.lower())

    @property
    def suffix(self) -> str:
        """The suffix of the format, before that of a compression: .csv for x.csv.gz."""
        suffixes = [s.lower() for s in Path(self.path).suffixes]
        if suffixes and suffixes[-1] in COMPRESSIONS:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    @property
    def partitions(self) -> dict[str, str]:
        """The hive partitions of a path such as year=2013/month=1/x.parquet, below the folder that was opened."""
        folders = self.path.removeprefix(self.root).split("/")[:-1]
        pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
        return {unquote(key): unquote(value) for key, value in pairs}

    def close(self) -> None:
        """Stop waiting for more bytes, if it does."""

    def fingerprint(self) -> tuple[object, ...]:
        """Identifies this file and its present content; a relative path alone would not."""
        known = (self.size, self.modified, *self.partitions.items())
        if not isinstance(self.filesystem, fs.LocalFileSystem):
            return (self.filesystem.type_name, self.path, *known)
        mark = mark_of(self.filesystem, self.path)
        return (os.path.realpath(self.path), *(() if mark is None else mark[:3]), *known)

    def changed(self) -> bool:
        """Whether the file has changed since it was found."""
        now = self.filesystem.get_file_info(self.path)
        if (now.size or 0, now.mtime_ns) != (self.size, self.modified):
            return True
        if self.mark is None:
            return False
        mark = mark_of(self.filesystem, self.path)
        return mark is None or self.mark.may_be_another(mark)

    def seekable(self) -> pa.NativeFile:
        return self.filesystem.open_input_file(self.path)

    def stream(self) -> Any:
        """A file object of the decompressed bytes, for reading from the first to the last."""
        if self.span is not None:
            return Bytes(self.seekable(), *self.span)
        raw = self.filesystem.open_input_stream(self.path, compression=None)
        if self.compression in ("xz", "bz2"):  # Arrow has no xz, and reads only the first stream of a bz2 file
            return {"xz": lzma, "bz2": bz2}[self.compression].open(raw)
        return Decompressed(raw, self.compression) if self.compression else raw

    def head(self, n_bytes: int = 1 << 16) -> bytes:
        """The first bytes, decompressed."""
        try:
            with self.stream() as stream:
                content: bytes = stream.read(n_bytes)
                return content
        except DAMAGE as error:
            broken = self.broken_text() if self.compression else None
            raise DataError(broken or f"{self.path} cannot be read: {reason_of(error)}") from error

    def broken_text(self) -> str | None:
        """Where compressed text breaks off, in a sentence, found by reading it again; None where it does not."""
        n_bytes = n_lines = 0
        try:
            with self.filesystem.open_input_stream(self.path, compression=None) as raw:
                magic = MAGIC.get(self.compression or "", b"")
                if raw.read(len(magic)) != magic:
                    return (
                        f"{self.path} is not compressed by {self.compression}, as its ending says; fetch or write it "
                        "again, or give it the ending of what it is"
                    )
            with self.stream() as stream:
                while block := stream.read(1 << 16):
                    n_bytes, n_lines = n_bytes + len(block), n_lines + block.count(b"\n")
        except DAMAGE as error:
            return (
                f"{self.path} is damaged or cut short: it can be decompressed up to byte {n_bytes} of its text, in "
                f"line {n_lines + 1} ({reason_of(error)}); write or fetch it again, or leave it out"
            )
        return None

    def lines_before(self) -> int:
        """How many lines of text come before the span that is read."""
        if self.span is None:
            return 0
        with Bytes(self.seekable(), 0, self.span[0]) as before:
            return sum(block.count(b"\n") for block in iter(lambda: before.read(1 << 20), b""))


def mark_of(filesystem: fs.FileSystem, path: str) -> Mark | None:
    """The mark of a file, if it is on this machine."""
    if not isinstance(filesystem, fs.LocalFileSystem):
        return None
    try:
        return Mark.of(os.stat(path))
    except OSError:  # it has vanished, which its size will tell
        return None


class Bytes(io.RawIOBase):
    """The bytes of a file from `start` up to `stop`."""

    def __init__(self, file: pa.NativeFile, start: int, stop: int) -> None:
        self._file, self._left = file, stop - start
        file.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_read: int = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= n_read
        return n_read

    def close(self) -> None:
        self._file.close()
        super().close()


def find_files(source: str, filesystem: Any = None) -> list[File]:
    """The files of a path, folder or glob; an error says why there are none."""
    try:
        filesystem, path = _resolve(source, filesystem)
        infos, root = _matching(filesystem, path)
    except RiataError:
        raise
    except DAMAGE as error:  # also of paths that there cannot be
        raise DataError(f"{source!r} cannot be read: {_reason(error)}") from error
    files = [
        File(filesystem, info.path, info.size or 0, info.mtime_ns, root, mark=mark_of(filesystem, info.path))
        for info in infos
        if info.type is fs.FileType.File
    ]
    if not files:
        what = "matches no file" if _is_glob(path) else "holds no file that can be read"
        raise MissingFileError(f"{source} {what}; check the path")
    return sorted(files, key=lambda file: file.path)


def is_place_of_files(source: str, filesystem: Any = None) -> bool:
    """Whether this is a folder, or a pattern, in which files may appear."""
    try:
        filesystem, path = _resolve(source, filesystem)
        kind = filesystem.get_file_info(path).type
    except DAMAGE:  # whoever opens it says why
        return False
    return kind is fs.FileType.Directory or (kind is not fs.FileType.File and _is_glob(path))


def _resolve(source: str, filesystem: Any) -> tuple[fs.FileSystem, str]:
    """The file system and the path on it: a file system of PyArrow where there is one, else of fsspec."""
    scheme, separator, path = source.partition("://")
    if filesystem is not None:
        path = path if separator else source
        return filesystem if isinstance(filesystem, fs.FileSystem) else _wrapped(filesystem), path
    if not separator:
        local = Path(source).expanduser()
        path = local.as_posix()  # Arrow joins by / everywhere, and takes a: at the beginning for a scheme
        return fs.LocalFileSystem(), f"./{path}" if ":" in path.partition("/")[0] and not local.is_absolute() else path
    path, _, query = path.partition("?") if "=" in path.rpartition("?")[2] else (path, "", "")
    # a URI has no wildcards: ask for the file system of the folder before the first one
    start = min((path.find(c) for c in WILDCARDS if c in path), default=None)
    folder = path if start is None else path[:start].rpartition("/")[0]
    try:
        filesystem, base = fs.FileSystem.from_uri(f"{scheme}://{folder}" + (f"?{query}" if query else ""))
        return filesystem, base + path[len(folder) :]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _fsspec(scheme), path
    except OSError as error:
        raise DataError(f"{source} cannot be reached: {_reason(error)}") from error


def _fsspec(scheme: str) -> fs.FileSystem:
    try:
        import fsspec

        return _wrapped(fsspec.filesystem(scheme))
    except ImportError as error:
        package = EXTRAS.get(scheme, "fsspec")
        raise MissingPackageError(
            f"reading {scheme}:// needs a package, which pip install '{package}' fetches: {error}"
        ) from error
    except ValueError as error:
        raise DataError(f"there is no file system {scheme}://: {error}") from error


def _wrapped(filesystem: Any) -> fs.FileSystem:
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def _beside(path: str) -> str:
    """Whether one of the files beside a missing one may be meant."""
    try:
        others = sorted(os.listdir(Path(path).parent))
    except OSError:  # there is no such folder, or nobody may look into it
        return ""
    missing = Path(path)
    for endings in ({missing.suffix.lower()}, FORMATS.keys() | COMPRESSIONS.keys()):
        by_stem = {Path(other).stem: other for other in others if Path(other).suffix.lower() in endings}
        if (close := nearest(missing.stem, by_stem)) is not None:  # endings, which are alike, tell nothing
            return f"; did you mean {by_stem[close]!r}?"
    return ""


def _matching(filesystem: fs.FileSystem, path: str) -> tuple[list[fs.FileInfo], str]:
    """Information on the files, and the folder that was searched. The name of a file may contain a wildcard."""
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
        hint = _beside(path) if isinstance(filesystem, fs.LocalFileSystem) else ""
        said = f"there is no file {path}, nor a folder or a data set of that name"
        raise MissingFileError(said + (hint or " (see riata datasets)"))
    found = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    return [i for i in found if not i.base_name.startswith((".", "_")) and i.size], path


def _is_glob(path: str) -> bool:
    return any(c in path for c in WILDCARDS)


def _reason(error: Exception) -> str:
    """The message of a file system's error, with advice where credentials are missing."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if any(word in str(error) for word in ("ACCESS_DENIED", "Forbidden", "credential", "Credential", "403", "401")):
        return f"{text} (give credentials as the service expects them, such as AWS_ACCESS_KEY_ID)"
    return text


def guess_format(files: list[File], separator: str | None = None) -> str:
    """The format of all files, by their suffix or their first bytes; it is known if a separator of cells is."""
    kinds = {kind_of(file, separator) for file in files}
    if len(kinds) > 1:
        raise DataError(
            f"the files are of several formats ({', '.join(sorted(kinds))}); name those of one, e.g. *.parquet"
        )
    return kinds.pop()


def kind_of(file: File, separator: str | None = None) -> str:
    """The format of a file, by its suffix where that is known, unless its first bytes say otherwise."""
    named = FORMATS.get(file.suffix)
    head = file.head()
    if named is None:
        return sniff(head, file.path, separator)
    check_content(head, named, file.path)
    return named


def sniff(head: bytes, name: str, separator: str | None = None) -> str:
    """The format of a file that begins with these bytes; text is a table if its lines have the separator of cells."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = head.decode("utf-16", errors="ignore").encode()
    if (kind := kind_by_content(head, name)) is not None:
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
    if len(tokens) > 1 and all(token.count(b":") == 2 for token in tokens[1:]):
        return "libffm"
    if is_vowpal_wabbit(line):
        return "vowpal wabbit"
    marks = (b",", b"\t", b";", b"|", *(() if separator is None else (separator.encode(),)))
    if not any(mark in line for mark in marks):
        table = "; if it is a table, say what is between cells (csv={'separator': 'space'})" if len(tokens) > 1 else ""
        raise DataError(
            f"{name} has an ending that riata does not know, and no known format; it reads {known_formats()}{table}"
        )
    return "csv"

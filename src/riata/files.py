"""The cache folder, and writing files so that nobody ever sees one half written."""

import errno
import io
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import platformdirs

from riata.errors import OptionError, OutputError
from riata.machine import file_mode_mask, file_without_name, lock, still_locked

NOWHERE = Path(os.devnull) / "riata"  # a folder that can be neither read nor made, which every cache must live with
TEMPORARY = ".riata-", ".part"  # how names of files that are not yet whole begin and end
LETTERS_AT_ONCE = 1 << 20  # of a text that is written
LONG_PIECE, PIECES_TOGETHER = 1 << 16, 256  # of a text: letters, and how many pieces are written at once


def cache_folder() -> Path:
    """`$RIATA_CACHE`, or the user's cache folder; it may not exist yet. `NOWHERE` for a user without a home folder."""
    if named := os.environ.get("RIATA_CACHE"):
        return Path(named)
    try:
        usual = Path(platformdirs.user_cache_dir("riata"))
    except RuntimeError:
        return NOWHERE
    return NOWHERE if usual.parts[0] == "~" else usual  # as older versions of platformdirs say the same


@contextmanager
def replacing(path: str | Path, private: bool = False) -> Iterator[BinaryIO]:
    """Write to a temporary file, which replaces `path` in one step when the block ends without an error.

    A symbolic link stays, and the file that it points to is replaced. The permissions of an existing file are kept,
    unless the new one is to be `private` to its owner. A device or a pipe is written to directly. A file that cannot be
    written, as on a full disk, is an OutputError, and errors of the block itself stay what they are.
    """
    if _is_special(path):
        with says_why(path):
            handle = os.open(path, os.O_WRONLY)
        with _written_to(path, handle) as file:
            yield file
        return
    place = Path(os.path.realpath(path))
    with says_why(path):
        remove_stale(place.parent)
        usual = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~file_mode_mask()
        handle, temporary = _temporary_in(place.parent)
    try:
        with still_locked(handle):  # until it has its name: to others it would be one that nobody writes any more
            with _written_to(path, handle) as file:
                yield file
            with says_why(path):
                if not private:  # mkstemp makes a private file
                    os.chmod(temporary, usual)
                os.replace(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_text(file: BinaryIO, pieces: Iterable[str]) -> None:
    """Write pieces of a text, of which no second copy is made as a whole, nor of a long one; short ones go together."""
    short: list[str] = []
    for text in pieces:
        short.append(text)
        if len(text) > LONG_PIECE or len(short) == PIECES_TOGETHER:
            _write(file, "".join(short) if len(short) > 1 else text)
            short.clear()
    _write(file, "".join(short))


def _write(file: BinaryIO, text: str) -> None:
    for start in range(0, len(text), LETTERS_AT_ONCE):
        file.write(text[start : start + LETTERS_AT_ONCE].encode())


class _Output(io.FileIO):
    """A file that says in a sentence why it cannot be written."""

    def __init__(self, path: str | Path, handle: int) -> None:
        super().__init__(handle, "wb")
        self._path = path

    def write(self, data: Any) -> int:
        with says_why(self._path):
            return super().write(data) or 0


@contextmanager
def _written_to(path: str | Path, handle: int) -> Iterator[BinaryIO]:
    """The file behind a handle; after an error nothing more is written to it."""
    with io.BufferedWriter(_Output(path, handle)) as file:
        try:
            yield file
            file.flush()
        except BaseException:
            with suppress(OSError):
                file.raw.close()  # what waits in the buffer is of no use
            raise


@contextmanager
def says_why(path: str | Path) -> Iterator[None]:
    """Turn an error of the system over this file into an OutputError."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """What the system says, and what to do where it is known."""
    said = (error.strerror or str(error)).lower()
    advice = {
        errno.ENOSPC: "make room, or name another place",
        errno.EDQUOT: "make room, or name another place",
        errno.EFBIG: "allow larger files (ulimit -f), or name another place",
        errno.EACCES: "name a place that you may write",
        errno.EPERM: "name a place that you may write",
        errno.EROFS: "name a place that you may write",
    }.get(error.errno or 0)
    return said if advice is None else f"{said}; {advice}"


def _temporary_in(folder: Path) -> tuple[int, str]:
    """A new file in the folder, locked by this process, and its name."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=TEMPORARY[0], suffix=TEMPORARY[1])
        lock(handle, wait=True)
        if os.path.exists(name):
            return handle, name
        os.close(handle)  # another process took it for a stale one before it was locked


def remove_stale(folder: Path) -> None:
    """Remove temporary files in this folder that nobody has locked: the process that wrote them was killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY[0]) and entry.name.endswith(TEMPORARY[1]):
                _remove_if_stale(entry.path)


def _remove_if_stale(path: str) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR)
        try:
            if lock(handle):
                os.unlink(path)
        finally:
            os.close(handle)


def _is_special(path: str | Path) -> bool:
    """Whether the path exists and is neither a file nor a folder: a device or a pipe."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def writable(path: Path) -> Path:
    """The path, if it can be written: better to fail before the work than after it."""
    try:
        os.stat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL
        raise OptionError(f"cannot write {str(path)[:80]!r}: {getattr(error, 'strerror', None) or error}") from None
    if path.is_dir():
        raise OptionError(f"cannot write {path}: it is a folder")
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise OptionError(f"cannot write {path}: permission denied")
        return path
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {folder}")
    remove_stale(folder)
    with says_why(path), file_without_name(str(folder)):
        return path

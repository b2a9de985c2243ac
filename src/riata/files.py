"""The cache folder, and writing files so that nobody ever sees one half written."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import platformdirs

from riata.errors import OptionError
from riata.machine import file_without_name


def cache_folder() -> Path:
    """`$RIATA_CACHE`, or the user's cache folder; it may not exist yet."""
    return Path(os.environ.get("RIATA_CACHE") or platformdirs.user_cache_dir("riata"))


@contextmanager
def replacing(path: str | Path, private: bool = False) -> Iterator[BinaryIO]:
    """Write to a temporary file, which replaces `path` in one step when the block ends without an error.

    A symbolic link stays, and the file that it points to is replaced. The permissions of an existing file are kept,
    unless the new one is to be `private` to its owner. A device or a pipe is written to directly.
    """
    if _is_special(path):
        with open(path, "wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    usual = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        if not private:  # mkstemp makes a private file
            os.chmod(temporary, usual)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _is_special(path: str | Path) -> bool:
    """Whether the path exists and is neither a file nor a folder: a device or a pipe."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _umask() -> int:
    """The file mode mask of this process, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
    try:
        with file_without_name(str(folder)):
            return path
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}") from None

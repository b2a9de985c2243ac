"""Where files of our own are kept, and writing so that nothing is ever half written."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from riata.errors import OptionError
from riata.machine import file_without_name


def cache_folder() -> Path:
    """`$RIATA_CACHE`, or the user's cache folder; it may not exist yet."""
    return Path(os.environ.get("RIATA_CACHE") or platformdirs.user_cache_dir("riata"))


@contextmanager
def replacing(path: str | Path):
    """A binary file that takes the place of `path` at once, when the block ends without an error."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's mask: it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def writable(path: Path) -> Path:
    """A path that can be written, found out before any work is done."""
    if path.is_dir():
        raise OptionError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {path.parent}")
    try:
        with file_without_name(str(path.parent)):
            return path
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}") from None

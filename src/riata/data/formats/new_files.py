"""Files of a folder or a pattern that become more: each is given once, when it is complete.

A file is known by its path; one that was moved since, by its name, its size and its time. Files that are gone may be
gone. Rows cannot be unlearnt, so that a file that changed after it was learnt is an error.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from pyarrow import fs

from riata.data.closing import Closing
from riata.data.formats.damage import DAMAGE
from riata.data.formats.files import FORMATS, File
from riata.errors import DataError, MissingFileError
from riata.schema import SchemaError, checked

POLL = 0.5  # seconds between two looks at a folder
QUIET = 2.0  # seconds without a change after which a file that has no end of its own counts as complete
ENDS = {"parquet": b"PAR1", "ipc": b"ARROW1"}  # which are written last
TEMPORARY = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", "~")  # endings of files on their way


class LearntFile(NamedTuple):
    """A file as it was when it was learnt."""

    path: str
    size: int
    modified: int | None  # nanoseconds

    @classmethod
    def of(cls, file: File) -> "LearntFile":
        local = isinstance(file.filesystem, fs.LocalFileSystem)
        return cls(os.path.realpath(file.path) if local else file.path, file.size, file.modified)

    @property
    def mark(self) -> tuple[str, int, int | None]:
        """What stays the same when a file is moved."""
        return PurePosixPath(self.path.replace(os.sep, "/")).name, self.size, self.modified


class NewFiles:
    """The files that are not learnt yet, in rounds: those that are complete now, then, if asked for, later ones."""

    def __init__(self, find: Callable[[], list[File]], follow: bool) -> None:
        self._find, self.follow, self._closed = find, follow, Closing()
        self._learnt: dict[str, LearntFile] = {}
        self.incomplete: list[str] = []  # paths that the last look has left alone

    def __iter__(self) -> Iterator[list[File]]:
        while not self._closed.asked:
            if found := self.complete():
                yield found
            elif not self.follow:
                return
            else:
                self._closed.wait(POLL)

    def close(self) -> None:
        """Wait for no more of them."""
        self._closed.ask()

    def note(self, file: File) -> None:
        """Remember that a file was learnt."""
        known = LearntFile.of(file)
        self._learnt[known.path] = known

    def complete(self) -> list[File]:
        """The new files that are complete, in the order of their paths; the others are left alone for now."""
        new = self._new()
        if any(_may_grow(file) for file in new):
            self._closed.wait(QUIET)
            before, new = {file.path: (file.size, file.modified) for file in new}, self._new()
            quiet = [file for file in new if before.get(file.path) == (file.size, file.modified)]
        else:
            quiet = new
        found = [file for file in quiet if _ends(file)]
        self.incomplete = [file.path for file in new if file not in found]
        return found

    def _new(self) -> list[File]:
        try:
            files = self._find()
        except MissingFileError:
            if not self._learnt:
                raise
            return []
        return [file for file in files if not _is_temporary(file) and not self._is_known(file)]

    def _is_known(self, file: File) -> bool:
        """Whether a file was learnt, here or where it has been moved from."""
        now = LearntFile.of(file)
        before = self._learnt.get(now.path)
        if before is None:
            same = (one for one in self._learnt.values() if one.mark == now.mark and now.modified is not None)
            return any(not os.path.exists(one.path) for one in same)
        if before != now:
            raise DataError(
                f"{file.path} has changed since it was learnt ({before.size:,} bytes then, {now.size:,} now), and rows "
                "cannot be unlearnt: restore it, move it away, or start again without resuming; new rows belong in "
                "new files"
            )
        return True

    def saved(self) -> list[list[Any]]:
        """What was learnt, as plain values."""
        return [list(one) for one in self._learnt.values()]

    def restore(self, saved: Any) -> None:
        """Take over what was learnt in an earlier fit; damaged values are a `SchemaError`."""
        entries = checked(list[list[str | int | None]], saved, "the files that were learnt")
        for entry in entries:
            if [type(part) for part in entry[:2]] != [str, int] or len(entry) != 3 or isinstance(entry[2], str):
                raise SchemaError("a file that was learnt is not a path, a size and a time")
        self._learnt = {one.path: one for one in (LearntFile(*entry) for entry in entries)}

    def __len__(self) -> int:
        """How many were learnt."""
        return len(self._learnt)


def _is_temporary(file: File) -> bool:
    name = PurePosixPath(file.path).name
    return name.startswith((".", "_")) or name.lower().endswith(TEMPORARY)


def _may_grow(file: File) -> bool:
    """Whether somebody may still write to it: it is on this machine, has no end of its own, and changed just now."""
    if FORMATS.get(file.suffix) in ENDS or file.modified is None:
        return False
    return isinstance(file.filesystem, fs.LocalFileSystem) and time.time() - file.modified / 1e9 < QUIET


def _ends(file: File) -> bool:
    """Whether a file has the end of its format, where that has one."""
    end = ENDS.get(FORMATS.get(file.suffix, ""))
    if end is None or file.compression is not None:
        return True
    try:
        with file.seekable() as handle:
            handle.seek(max(handle.size() - len(end), 0))
            return bool(handle.read() == end)
    except DAMAGE:  # it has vanished, or cannot be read: whoever opens it says why
        return True

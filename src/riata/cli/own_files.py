"""Files that a command reads are not those that it writes: `riata fit rows.csv --out rows.csv` would end the rows."""

import glob
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from riata.errors import OptionError

WRITTEN = ("out", "report", "plot")
# statistics may be added to in their place
READ = ("data", "model_file", "test_data", "validation", "target", "weight")


def refuse_to_overwrite(options: Mapping[str, Any]) -> None:
    """Refuse an option or argument that names a file to write which another one reads."""
    for name in WRITTEN:
        out = options.get(name)
        if out is not None and os.path.isfile(out) and any(_same(out, file) for file in _read(options)):
            raise OptionError(f"cannot write {out}: this command reads it; name another file")


def _read(options: Mapping[str, Any]) -> Iterator[str]:
    """The files that are named to be read, one by one or by a pattern."""
    for given in map(options.get, READ):
        if isinstance(given, str) and given:
            yield from (given, given.partition("#")[0])  # the sheet of a workbook
            with suppress(OSError, ValueError):  # a name that there cannot be
                yield from glob.iglob(given, recursive=True)


def _same(out: Any, file: str) -> bool:
    try:
        return os.path.samefile(out, file)
    except (OSError, ValueError):  # it is no file of this machine
        return False

"""Warnings of Python that point at the user's own line, however deep inside riata they arise."""

import sys
import warnings
from collections.abc import Callable

from riata.errors import RiataWarning

Warn = Callable[[RiataWarning], None]
PACKAGE = __name__.partition(".")[0]


def warn_user(warning: RiataWarning) -> None:
    """Warn of the first line that called from outside of riata."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def each_once(warn: Warn) -> Warn:
    """The same, but for what was said before: of fits that are much alike, and that the user takes for one."""
    said: set[str] = set()

    def warn_once(warning: RiataWarning) -> None:
        if (words := str(warning)) not in said:
            said.add(words)
            warn(warning)

    return warn_once

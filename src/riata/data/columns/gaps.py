"""What encoders meet that a model was not told of: values that are missing, and levels that it does not know.

An encoder tells it only while somebody counts, such as the command line: `counting`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

from riata.watchers import Watchers

MOST_TOLD, MOST_LEVELS = 5, 3  # columns that a note names, and levels of a column


class Gap(Enum):
    """What is not there, as the end of a sentence about rows of a column."""

    LEVEL = "a level of {column!r} that the model does not know"
    NUMBER = "no {column!r} (filled with the mean)"
    NO_LEVEL = "no {column!r} (none of its levels is set)"


@dataclass
class Found:
    """What one encoder has met."""

    column: str
    gap: Gap
    rows: int = 0  # of all kinds
    count: int = 0
    levels: list[str] = field(default_factory=list)  # some that are not known


class Gaps:
    """Counts what encoders tell."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, Gap], Found] = {}

    def __call__(self, encoder: int, column: str, gap: Gap, rows: int, count: int, levels: list[str]) -> None:
        found = self._found.setdefault((encoder, gap), Found(column, gap))
        found.rows, found.count = found.rows + rows, found.count + count
        found.levels += [level for level in levels if level not in found.levels][: MOST_LEVELS - len(found.levels)]

    def notes(self, n_rows: int | None = None) -> Iterator[str]:
        """One note, or none; rows of several passes count once where it is known how many there are."""
        by_column: dict[tuple[str, Gap], Found] = {}  # a product is of columns that others encode, too
        for found in self._found.values():
            if found.count:
                by_column.setdefault((found.column, found.gap), found)
        if not by_column:
            return
        told = list(by_column.values())
        passes = max(1, round(told[0].rows / n_rows)) if n_rows else 1
        parts = [_said(found, found.count // passes) for found in told[:MOST_TOLD]]
        more = f", and so on in {len(told) - MOST_TOLD} more columns" if len(told) > MOST_TOLD else ""
        rows = told[0].rows // passes
        yield f"of {rows:,} row{'s' * (rows != 1)} {', '.join(parts)}{more}"


def _said(found: Found, count: int) -> str:
    levels = ", ".join(map(repr, found.levels))
    return f"{count:,} {'has' if count == 1 else 'have'} {found.gap.value.format(column=found.column)}" + (
        f" ({levels})" if levels else ""
    )


_watchers: Watchers[[int, str, Gap, int, int, list[str]]] = Watchers()
tell_gaps = _watchers.tell


def gaps_are_counted() -> bool:
    """Whether somebody wants to know."""
    return _watchers.active


@contextmanager
def counting() -> Iterator[Gaps]:
    """A context in which gaps are counted, whichever thread meets them."""
    gaps = Gaps()
    with _watchers.watching(gaps):
        yield gaps

"""Names of columns in messages."""

from collections.abc import Sequence

from riata.near_misses import nearest


def listed(names: Sequence[str], most: int = 30) -> str:
    """Names for a message; only the first ones, where there are many."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def no_column(name: str, names: Sequence[str], which: str = "") -> str:
    """A sentence on a column that there is not: what it may be called, and what there is."""
    inside = (other for other in map(str, names) if other.rpartition(".")[2] == name)  # of a nested record
    close = next(inside, None) or nearest(name, map(str, names))
    hint = "" if close is None else f"did you mean {close!r}? "
    return f"there is no column {name!r}{which}; {hint}there are {listed(names)}"

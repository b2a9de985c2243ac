"""Progress events: code that reads rows reports them here, and a progress bar can listen."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from riata.watchers import Watchers

T = TypeVar("T")
Watcher = Callable[[str, int, int | None], None]  # name of the activity, rows since the last call, all rows if known
_of_rows: Watchers[[str, int, int | None]] = Watchers()
watching = _of_rows.watching  # a context in which a watcher is called for all rows that are read


def watched(items: Iterable[T], what: str, rows_of: Callable[[T], int], total: int | None) -> Iterator[T]:
    """The same items; as each is asked for, the watchers are told how many rows it has."""
    for item in items:
        _of_rows.tell(what, rows_of(item), total)
        yield item

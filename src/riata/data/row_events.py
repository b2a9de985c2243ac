"""Progress events: code that reads rows reports them here, and a progress bar can listen."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Watcher = Callable[[str, int, int | None], None]  # name of the activity, rows since the last call, all rows if known
_watchers: list[Watcher] = []


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """A context in which the watcher is called for all rows that are read."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def watched(items: Iterable[T], what: str, rows_of: Callable[[T], int], total: int | None) -> Iterator[T]:
    """The same items; as each is asked for, the watchers are told how many rows it has."""
    for item in items:
        for watcher in _watchers:
            watcher(what, rows_of(item), total)
        yield item

"""Somebody may want to watch rows go by: a progress bar asks here, and whoever reads rows tells."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Watcher = Callable[[str, int, int | None], None]  # what is done, rows since the last call, rows in all if known
_watchers: list[Watcher] = []


@contextmanager
def watching(watcher: Watcher):
    """Within this context the watcher hears of all rows read."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def watched(items: Iterable, what: str, rows_of: Callable[[Any], int], total: int | None) -> Iterator:
    """The same items, whose rows the watchers hear of as they are asked for."""
    for item in items:
        for watcher in _watchers:
            watcher(what, rows_of(item), total)
        yield item

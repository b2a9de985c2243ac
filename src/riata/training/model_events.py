"""Progress along a path: whoever makes models one after the other reports them here, and a progress bar can listen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Watcher = Callable[[int, int], None]  # models done, of how many
_watchers: list[Watcher] = []


@contextmanager
def watching_models(watcher: Watcher) -> Iterator[None]:
    """A context in which the watcher is called for every model of a path."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def model_made(number: int, count: int) -> None:
    """One more model of a path is there."""
    for watcher in _watchers:
        watcher(number, count)

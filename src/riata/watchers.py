"""Who listens to what happens deep inside, such as a progress bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Watchers(Generic[P]):
    """Functions that are called at an event while their contexts last."""

    def __init__(self) -> None:
        self._watchers: list[Callable[P, None]] = []

    @contextmanager
    def watching(self, watcher: Callable[P, None]) -> Iterator[None]:
        """A context in which the watcher is told."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    @property
    def active(self) -> bool:
        """Whether there are any."""
        return bool(self._watchers)

    def tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all watchers."""
        for watcher in self._watchers:
            watcher(*args, **kwargs)

"""Reading ahead: while one chunk is in use, a thread prepares the next."""

from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from riata.data.closing import Closing

T = TypeVar("T")
Entry = tuple[Any, BaseException | None, bool]  # an item, an error in its place, whether this is the end
WAIT = 1.0  # seconds for the thread to end; one that waits for a stream ends when that is closed
POLL = 0.1  # seconds between checks whether items are still wanted
AWAKE = 1.0  # seconds between looks for signals: one that comes just before a thread falls asleep does not wake it


def ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same items, up to `depth` of them prepared by a thread before they are asked for.

    None is begun before there is a place for it: those that are ready, or in preparation, are no more than `depth`. An
    error is raised where the item that caused it would have come.
    """
    ready: SimpleQueue[Entry] = SimpleQueue()
    places: SimpleQueue[None] = SimpleQueue()  # no semaphore, whose lock Ctrl-C can leave taken (`closing`)
    abandoned = Closing()
    for _ in range(depth):
        places.put(None)
    thread = Thread(target=_produce, args=(iter(items), ready, places, abandoned), daemon=True)
    try:
        thread.start()
        while True:
            item, error, done = _next(ready)
            places.put(None)
            if error is not None:
                raise error
            if done:
                return
            yield item
            del item  # free it while waiting for the next one
    finally:
        abandoned.ask()
        if thread.is_alive():
            thread.join(WAIT)


def _next(ready: "SimpleQueue[Entry]") -> Entry:
    while True:
        try:
            return ready.get(timeout=AWAKE)
        except Empty:
            continue


def _produce(items: Iterator[T], ready: "SimpleQueue[Entry]", places: "SimpleQueue[None]", abandoned: Closing) -> None:
    try:
        while _taken(places, abandoned):
            try:
                item = next(items)
            except StopIteration:
                ready.put((None, None, True))
                break
            ready.put((item, None, False))
            del item
    except BaseException as error:  # raised again where the item is asked for
        ready.put((None, error, False))
    finally:
        if hasattr(items, "close"):
            items.close()


def _taken(places: "SimpleQueue[None]", abandoned: Closing) -> bool:
    """Whether there was a place for one more item before the items were abandoned."""
    while not abandoned.asked:
        try:
            places.get(timeout=POLL)
        except Empty:
            continue
        return True
    return False

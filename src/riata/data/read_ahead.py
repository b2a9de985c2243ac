"""Reading ahead: while one chunk is in use, a thread prepares the next."""

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")
Entry = tuple[Any, BaseException | None, bool]  # an item, an error in its place, whether this is the end
WAIT = 1.0  # seconds for the thread to end; one that waits for a stream ends when that is closed
POLL = 0.1  # seconds between checks whether items are still wanted


def ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same items, up to `depth` of them prepared by a thread before they are asked for.

    An error is raised where the item that caused it would have come.
    """
    ready: Queue[Entry] = Queue(maxsize=depth)
    abandoned = Event()
    thread = Thread(target=_produce, args=(iter(items), ready, abandoned), daemon=True)
    thread.start()
    try:
        while True:
            item, error, done = ready.get()
            if error is not None:
                raise error
            if done:
                return
            yield item
            del item  # free it while waiting for the next one
    finally:
        abandoned.set()
        _drain(ready)
        thread.join(WAIT)


def _produce(items: Iterator[T], ready: "Queue[Entry]", abandoned: Event) -> None:
    try:
        for item in items:
            if not _put(ready, (item, None, False), abandoned):
                break
            del item
        else:
            _put(ready, (None, None, True), abandoned)
    except BaseException as error:  # raised again where the item is asked for
        _put(ready, (None, error, False), abandoned)
    finally:
        if hasattr(items, "close"):
            items.close()


def _put(ready: "Queue[Entry]", entry: Entry, abandoned: Event) -> bool:
    """Whether the entry could be put into the queue before the items were abandoned."""
    while not abandoned.is_set():
        try:
            ready.put(entry, timeout=POLL)
            return True
        except Full:
            continue
    return False


def _drain(ready: "Queue[Entry]") -> None:
    try:
        while True:
            ready.get_nowait()
    except Empty:
        pass

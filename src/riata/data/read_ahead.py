"""Reading ahead: while one chunk is in use, a thread prepares the next."""

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")
WAIT = 1.0  # seconds for the thread to end; one that waits for a stream to go on does so when that is closed
POLL = 0.1  # seconds between looks at whether anybody still waits


def ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same items, up to `depth` of them made before they are asked for. Errors come where the item would have."""
    ready: Queue = Queue(maxsize=depth)
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
            del item  # or it would live on while the next one is awaited
    finally:
        abandoned.set()
        _drain(ready)
        thread.join(WAIT)


def _produce(items, ready, abandoned):
    try:
        for item in items:
            if not _put(ready, (item, None, False), abandoned):
                break
            del item
        else:
            _put(ready, (None, None, True), abandoned)
    except BaseException as error:  # whatever it is belongs to whoever asked for the item
        _put(ready, (None, error, False), abandoned)
    finally:
        if hasattr(items, "close"):
            items.close()


def _put(ready, entry, abandoned) -> bool:
    while not abandoned.is_set():
        try:
            ready.put(entry, timeout=POLL)
            return True
        except Full:
            continue
    return False


def _drain(ready):
    try:
        while True:
            ready.get_nowait()
    except Empty:
        pass

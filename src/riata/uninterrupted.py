"""Work that signals do not interrupt: they wait until it is done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

WAITING = ("SIGINT", "SIGTERM", "SIGHUP")  # those that the system has


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals that would raise an exception here wait until the end.

    Machine code is made by libraries whose objects crash the process when they are taken apart half made, or that call
    Python from functions of C, where an exception is lost. Python raises signals in the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        came.append(number)

    known = [getattr(signal, name) for name in WAITING if hasattr(signal, name)]
    before = {one: signal.signal(one, wait) for one in known if callable(signal.getsignal(one))}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        for one in came:
            signal.raise_signal(one)

"""Work that signals do not interrupt: they wait until it is done."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
    with ExitStack() as after:
        for one in known:
            if callable(handler := signal.getsignal(one)):
                after.callback(_heard, one, handler, came)
                signal.signal(one, wait)
        yield


def _heard(number: int, handler: Callable[[int, FrameType | None], object], came: list[int]) -> None:
    """Hear a signal as before, at once if it came meanwhile; others are heard after it, even if it raises."""
    signal.signal(number, handler)
    if number in came:
        signal.raise_signal(number)

"""Saying that loops are being compiled: once a process, to whoever asked last; numba is not needed to ask."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

SENTENCE = "compiling (once: what is compiled is kept, and `riata warmup` does it ahead)"

_listeners: list[Callable[[str], None]] = []
_said = False


@contextmanager
def announcing(say: Callable[[str], None]) -> Iterator[None]:
    """`say` is called with one sentence if something is compiled in this context."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)


def announce() -> None:
    """A kernel was not found on disk, and is compiled now."""
    global _said
    if _listeners and not _said:
        _said = True
        _listeners[-1](SENTENCE)

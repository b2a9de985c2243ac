"""Several chunks at a time, on threads: results come in the order of the chunks, so that sums are reproducible."""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from riata.threads import n_cores

COPIES = 3  # of a result: one that waits to be used, and while the next is made about twice its size
Item = TypeVar("Item")
Value = TypeVar("Value")


def in_parallel(f: Callable[[Item], Value], items: Iterable[Item], room: float = math.inf) -> Iterator[Value]:
    """f(item) of every item, in their order, on all cores; only a few items are in memory at a time.

    One thread finds how large a result is; then there are as many as have `room` bytes for all of theirs, at least one.
    """
    most = n_cores()
    n_threads = most if room == math.inf else 1
    pending: list[Future[Value]] = []
    with ThreadPoolExecutor(most) as threads:
        for item in items:
            pending.append(threads.submit(f, item))
            del item
            while len(pending) >= n_threads:
                value = pending.pop(0).result()
                if room < math.inf:
                    n_threads = min(max(1, int(room // max(COPIES * _nbytes(value), 1))), most)
                yield value
                del value
        while pending:
            yield pending.pop(0).result()


def _nbytes(value: Any) -> int:
    """The size of the arrays in a result, which may be a tuple or an object."""
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return sum(map(_nbytes, vars(value).values())) if hasattr(value, "__dict__") else getattr(value, "nbytes", 0)

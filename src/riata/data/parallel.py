"""Several chunks at a time, on threads: results come in the order of the chunks, so that sums are reproducible."""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from riata.threads import n_cores

Item = TypeVar("Item")
Value = TypeVar("Value")


def in_parallel(f: Callable[[Item], Value], items: Iterable[Item], room: float = math.inf) -> Iterator[Value]:
    """f(item) of every item, in their order, on all cores; only a few items are in memory at a time.

    Where the results of all cores together would need more than `room` bytes, two threads are used.
    """
    most = n_cores()
    n_threads = most if room == math.inf else min(2, most)
    pending: list[Future[Value]] = []
    with ThreadPoolExecutor(most) as threads:
        for item in items:
            pending.append(threads.submit(f, item))
            del item
            if len(pending) >= n_threads:
                value = pending.pop(0).result()
                if n_threads < most and most * _nbytes(value) <= room:
                    n_threads = most
                yield value
                del value
        while pending:
            yield pending.pop(0).result()


def _nbytes(value: Any) -> int:
    """The size of the arrays in a result, which may be a tuple or an object."""
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return sum(map(_nbytes, vars(value).values())) if hasattr(value, "__dict__") else getattr(value, "nbytes", 0)

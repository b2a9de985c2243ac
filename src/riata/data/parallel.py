"""Working on several chunks at a time: results come in the order of the chunks, so that sums have the same bits."""

import math
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from riata.threads import n_cores


def in_parallel(f, items: Iterable, room: float = math.inf):
    """f of every item, in their order, on all cores; only a few items are alive at a time.

    Results that are so large that those of all cores would need more than `room` bytes are made on two.
    """
    most = n_cores()
    n_threads = most if room == math.inf else min(2, most)
    pending: list[Future] = []
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


def _nbytes(value) -> int:
    """Of the arrays in what a chunk came to."""
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return sum(map(_nbytes, vars(value).values())) if hasattr(value, "__dict__") else getattr(value, "nbytes", 0)

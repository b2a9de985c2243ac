"""One level of threads at a time: where riata's own threads share the rows, BLAS must not start more of its own.

There are as many as this process has cores.
"""

from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import scipy.linalg  # noqa: F401 (SciPy has a BLAS of its own, which must be loaded to be found)
from threadpoolctl import ThreadpoolController

from riata.machine import usable_cores


@cache
def n_cores() -> int:
    """How many cores this process may use, whatever the machine has: affinity and containers count."""
    return usable_cores()


@cache
def _blas_libraries() -> list:
    """Finding them takes milliseconds, so it is done once."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


class _Limit:
    """The limit on BLAS, which is the whole process's, while at least one context asks for it."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._before: list[tuple[Any, int]] = []  # each library, and its threads

    def enter(self):
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._before = [(library, library.num_threads) for library in _blas_libraries()]
                for library, _ in self._before:
                    library.set_num_threads(1)

    def leave(self):
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                for library, threads in self._before:
                    library.set_num_threads(threads)


_limit = _Limit()


@contextmanager
def one_blas_thread():
    """A context in which BLAS calls stay on the thread that makes them; inside another one it costs next to nothing."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()

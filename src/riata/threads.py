"""One level of threads at a time: where riata's own threads share the rows, BLAS must not start threads as well.

riata uses as many threads as this process has cores.
"""

from functools import cache
from threading import Lock
from typing import Any

from riata.machine import after_fork_in_child, usable_cores
from riata.small_work import of_thread


@cache
def n_cores() -> int:
    """How many cores this process may use: fewer than the machine has, where affinity or a container limits them."""
    return usable_cores()


@cache
def _blas_libraries() -> list[Any]:
    """threadpoolctl's controllers of the BLAS libraries; finding them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401 (SciPy has a BLAS of its own, which must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set_threads(numbers: list[tuple[Any, int]]) -> None:
    """Give each library its number of threads, whichever thread of this process asks.

    threadpoolctl 3.8 lets one thread only change OpenBLAS's, and does nothing for others until it gives that up.
    """
    for library, threads in numbers:
        give_up = getattr(library, "clear_controlling_thread", None)
        if give_up:
            give_up(force=True)
        library.set_num_threads(threads)
        if give_up:
            give_up(force=True)  # others may come next


class _Limit:
    """The limit on BLAS threads: set for the process while at least one context asks for it."""

    def __init__(self) -> None:
        self._lock, self._depth = Lock(), 0
        self._before: list[tuple[Any, int]] = []  # each library that had more of them, and its number of threads

    def enter(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                numbers = [(library, library.num_threads) for library in _blas_libraries()]
                self._before = [(library, threads) for library, threads in numbers if threads != 1]
                _set_threads([(library, 1) for library, _ in self._before])

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                _set_threads(self._before)

    def forget_other_threads(self) -> None:
        """In a forked process, which has this one thread only: another one may have held the lock in its parent.

        BLAS keeps to the number of threads that it had: to change it could wait for a thread that is not there.
        """
        self._lock, self._depth = Lock(), 0


_limit = _Limit()
after_fork_in_child(_limit.forget_other_threads)


class one_blas_thread:
    """A context in which BLAS calls stay on the calling thread. Nested contexts cost next to nothing.

    No generator makes it, which would take longer than the small work it is often for.
    """

    def __enter__(self) -> None:
        # in small work there is too little for BLAS to start threads, and to find it would cost more
        self._limits = of_thread.work is None
        if self._limits:
            _limit.enter()

    def __exit__(self, *_: object) -> None:
        if self._limits:
            _limit.leave()

"""When kernels are interpreted: in a single fit of small data, up to a fixed amount of work.

Work is counted in numbers of array arguments, never in time, and by each thread for itself: the same fit makes the same
bits. After that amount, and everywhere else, kernels are compiled.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

FEATURES = 50  # of small data: loops over pairs and triples of them are not counted as such
CALL = 20  # numbers that a call costs by itself


@dataclass(frozen=True)
class Limits:
    """Up to where to interpret: numbers are rows times features of small data, work is what its kernels may take."""

    numbers: int
    work: int


# interpreted, that work takes about the processor time of importing numba and loading machine code
IN_A_COMMAND = Limits(numbers=50_000, work=1_300_000)
# in Python more fits may follow: some 20 ms more for each are the price of a first one that compiles nothing
IN_PYTHON = Limits(numbers=1 << 14, work=100_000)


class SmallWork:
    """What may still be interpreted."""

    def __init__(self, work: int) -> None:
        self.left = work

    def takes(self, args: tuple[Any, ...]) -> bool:
        """Whether a call with these arguments is to be interpreted; it counts it if so."""
        if self.left <= 0:
            return False
        self.left -= CALL + sum(argument.size for argument in args if isinstance(argument, np.ndarray))
        return True


class _OfThread(threading.local):
    work: SmallWork | None = None


of_thread = _OfThread()


def is_small(rows: Any, limits: Limits = IN_A_COMMAND) -> bool:
    """Whether these are so few rows (a Dataset) that kernels may be interpreted for them."""
    return not rows.single_pass and rows.n_features <= FEATURES and rows.n_rows * rows.n_features <= limits.numbers


@contextmanager
def interpreting(rows: Any, limits: Limits = IN_A_COMMAND) -> Iterator[None]:
    """Interpret kernels in this context, as far as the work goes, if it is about so few rows (a Dataset)."""
    before, of_thread.work = of_thread.work, SmallWork(limits.work) if is_small(rows, limits) else None
    try:
        yield
    finally:
        of_thread.work = before


def run(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What the function gives, as compiled code would: with Python's own numbers, and without a word on infinities."""
    with np.errstate(all="ignore"):
        found = function(*args)
    return tuple(_plain(part) for part in found) if isinstance(found, tuple) else _plain(found)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

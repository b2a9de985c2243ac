"""When kernels are interpreted: for small data, in a command that asks for it, up to a fixed amount of work.

Work is counted in numbers of array arguments, never in time, and only in the thread that asked: the same command makes
the same bits. After that amount, and everywhere else, kernels are compiled.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

ROW_NUMBERS = 50_000  # rows times features of small data,
FEATURES = 50  # and its features: loops over pairs and triples of them are not counted as such
WORK = 1_300_000  # numbers: interpreted, about the processor time of importing numba and loading machine code
CALL = 20  # numbers that a call costs by itself


class SmallWork:
    """What may still be interpreted."""

    def __init__(self, work: int) -> None:
        self.left = work
        self.thread = threading.get_ident()

    def takes(self, args: tuple[Any, ...]) -> bool:
        """Whether a call with these arguments is to be interpreted; it counts it if so."""
        if self.left <= 0 or threading.get_ident() != self.thread:
            return False
        self.left -= CALL + sum(argument.size for argument in args if isinstance(argument, np.ndarray))
        return True


current: SmallWork | None = None


@contextmanager
def interpreting(rows: Any) -> Iterator[None]:
    """Interpret kernels in this context, as far as the work goes, if it is about so few rows (a Dataset)."""
    global current
    small = not rows.single_pass and rows.n_features <= FEATURES and rows.n_rows * rows.n_features <= ROW_NUMBERS
    before, current = current, SmallWork(WORK) if small else None
    try:
        yield
    finally:
        current = before


def run(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What the function gives, as compiled code would: with Python's own numbers, and without a word on infinities."""
    with np.errstate(all="ignore"):
        found = function(*args)
    return tuple(_plain(part) for part in found) if isinstance(found, tuple) else _plain(found)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

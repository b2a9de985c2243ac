"""When a search gives up: it is asked between the steps of a relaxation, some of which take seconds."""

import time
from dataclasses import dataclass, field

import numpy as np


class OutOfTimeError(Exception):
    """Ends a relaxation, on whatever thread; nobody sees it but the search that it is part of."""


@dataclass
class Deadline:
    """A time by the clock, from when it is made."""

    seconds: float = np.inf
    started: float = field(default_factory=time.perf_counter)
    stopped: bool = False  # earlier than that, as by Ctrl-C

    @property
    def over(self) -> bool:
        return self.stopped or time.perf_counter() - self.started >= self.seconds

    def check(self) -> None:
        """Raise where the time is over."""
        if self.over:
            raise OutOfTimeError


class Never(Deadline):
    """A time that does not come, and that nobody can bring forward."""

    @property
    def over(self) -> bool:
        return False


FOREVER = Never()

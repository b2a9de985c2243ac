"""What a solver yields after each pass, and the options that solvers read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from riata.outcome.proofs import Proof
from riata.solvers.online.progressive_validation import ProgressiveValidation


class Saved(NamedTuple):
    """All that a solver needs to go on from a point: arrays, and plain facts that JSON can hold."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


class Features(NamedTuple):
    """Which features the coefficients are of, where that is not all of them in order: number -1 is of none."""

    ids: np.ndarray
    names: dict[int, str]  # where they are known
    deviations: np.ndarray


class Iterate(NamedTuple):
    """A point on the way. A solver that knows F or a certified gap here says so; the driver does the rest."""

    coef: np.ndarray
    intercept: float
    steps: int = 0
    objective: float | None = None
    gap: float | None = None
    progressive: ProgressiveValidation | None = None  # progressive validation over the rows of this pass
    end_of_pass: bool = True  # False inside a pass, where nothing is decided
    save: Callable[[], Saved] | None = None
    features: Features | None = None  # which the coefficients are of; None: all of them
    residual: float | None = None  # of the optimality conditions, relative to the slopes at the start, without a gap
    proof: Proof | None = None  # what a method without a gap has proved about this point, which ends the solve


@dataclass(frozen=True)
class Options:
    """How to solve, as opposed to what. Each solver reads the few that concern it."""

    max_passes: int
    max_steps: int | None = None
    batch: int | str | None = None  # the method's own
    rounds: bool = False
    step: str | float | None = None
    order: str | None = None  # the method's own
    seed: int | None = 0
    memory: int | None = None  # bytes
    half_life: float | None = None  # rows after which one counts half
    resume: Saved | None = None  # where to go on; from the beginning otherwise

    def over(self, steps: int) -> bool:
        """Whether so many steps are all that there may be."""
        return self.max_steps is not None and steps >= self.max_steps

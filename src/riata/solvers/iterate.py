"""What a solver yields after each pass, and the options that solvers read."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from riata.outcome.proofs import Bound, Proof
from riata.outcome.reasons import StopReason
from riata.solvers.online.progressive_validation import ProgressiveValidation


class Saved(NamedTuple):
    """All that a solver needs to resume at a point: arrays, and facts that can be written as JSON."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]


class Features(NamedTuple):
    """Which features the coefficients belong to, where that is not all of them in order."""

    ids: np.ndarray  # their numbers; -1: no feature
    names: dict[int, str]  # of those numbers whose names are known
    deviations: np.ndarray  # standard deviations of their columns


class Leads(NamedTuple):
    """What a method that learns row by row leaves for an exact fit."""

    features: np.ndarray  # numbers of those worth a closer look, in order: the chosen ones, and more
    alpha: float | None  # the strength of the L1 penalty that it found itself


class Searched(NamedTuple):
    """How far a search of all models has come."""

    bound: float  # that no model has an objective below
    n_parts: int  # of all models that were looked at


class Iterate(NamedTuple):
    """A point of a solver after a pass, with F and the certified gap where the solver knows them."""

    coef: np.ndarray
    intercept: float
    steps: int = 0
    objective: float | None = None
    gap: float | None = None
    progressive: ProgressiveValidation | None = None  # progressive validation over the rows of this pass
    end_of_pass: bool = True  # False inside a pass, where the driver does not decide whether to stop
    save: Callable[[], Saved] | None = None  # None: the solver cannot resume here
    features: Features | None = None  # to which the coefficients belong; None: all of them
    residual: float | None = None  # of the optimality conditions, relative to the first slopes, if no gap is known
    proof: Proof | None = None  # by a method without a gap: the solve ends with it
    bound: Callable[[], Bound] | None = None  # how much better any other model of k features could be
    searched: Searched | None = None  # by a search of all models
    leads: Callable[[], Leads | None] | None = None  # for an exact fit
    close: np.ndarray | None = None  # features that a search of k does not put beside others (`close_features`)


Iterates = Generator[Iterate, None, StopReason | None]  # a solver may return why it ended, where a point does not tell


@dataclass(frozen=True)
class Options:
    """How to solve a problem. Each solver uses those options that concern it."""

    max_passes: int
    max_steps: int | None = None
    batch: int | str | None = None  # rows of a step, or "full"; None: the method's default
    rounds: bool = False  # of Fobos: half the penalty in the first half of all steps
    step: str | float | None = None  # None: the method's default
    order: str | None = None  # of visits; None: the method's default
    seed: int | None = 0
    memory: int | None = None  # bytes
    half_life: float | None = None  # rows after which a row counts half
    tol: float = 0.0  # the gap that is asked for, relative to the loss of the empty model: no solver needs to go beyond
    resume: Saved | None = None  # where to resume; None: start from the beginning
    leads: bool = False  # whether an exact fit is to follow
    certify: float | None = None  # of best k: the gap to search all models for; None: not at all
    certify_seconds: float = np.inf  # for that search

    def over(self, steps: int) -> bool:
        """Whether `max_steps` have been made."""
        return self.max_steps is not None and steps >= self.max_steps

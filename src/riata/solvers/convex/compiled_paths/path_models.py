"""The models of a path: as a compiled loop proposes them, and as a pass has confirmed them."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from riata.objective import FirstOrder, Problem
from riata.solvers.convex.judge import Judge

ENOUGH = 0.3  # of the gap that is asked for


@dataclass
class PathOptions:
    """What all models of a path share: how they are measured, the precision asked for, and the memory budget."""

    judge: Judge
    unit: float  # of gaps
    tol: float  # the largest gap, in that unit; that of further models may be changed on the way
    memory: int | None  # bytes
    loosened: bool = False  # the gap goes with the loss of the last model, and is for the next ones alone

    @property
    def enough(self) -> float:
        """The gap up to which a model is solved, before a pass certifies it: less would be work for nothing."""
        return ENOUGH * self.tol * self.unit if self.judge.has_gap else 0.0


class AlphaModel(NamedTuple):
    """The model of one alpha: no more than that is kept of it, for slopes are as long as the model."""

    w: np.ndarray
    b: Any  # a number, or one for each output
    loss: float  # the mean loss, without the penalty
    gap: float


class Passed(NamedTuple):
    """A minimum that the path came by."""

    alpha: float
    w: np.ndarray
    b: Any


class Proposal(NamedTuple):
    """Models of some alphas, one in each row, with the loss and the gap that the loop finds for each."""

    coefs: np.ndarray
    intercepts: np.ndarray
    losses: np.ndarray
    gaps: np.ndarray


class Proposer(Protocol):
    """What makes models of many alphas without a pass over the rows as they are given."""

    def proposed(
        self, problem: Problem, alphas: np.ndarray, way: list[Passed], at: FirstOrder, tol: float, unit: float
    ) -> Proposal | None:
        """Models of the first of these alphas, as many as are worth a pass; None, if none was found.

        The problem is that of the first alpha, and strengths are proportional to alpha. The path has come by `way`, at
        whose end slopes are `at`. Gaps are to be within `tol`, in this unit.
        """

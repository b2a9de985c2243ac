"""What a search has proved so far: a bound on all models, and features that are in all better ones, or in none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riata.objective import Problem
from riata.outcome.proofs import GlobalBound
from riata.solvers.subset.local.refit import Fitted
from riata.solvers.subset.proof.planes import Costs, Plane, screened
from riata.solvers.subset.proof.saved_search import SavedSearch


class Certificate(NamedTuple):
    """How far a proof has come."""

    fit: Fitted  # the best model known
    bound: GlobalBound
    n_out: int = 0  # features that are in no better model
    n_in: int = 0  # and in all of them
    n_nodes: int = 0
    finished: bool = False
    search: Callable[[], SavedSearch] | None = None  # for a checkpoint


@dataclass
class ProofSoFar:
    """What is known of all features: the bound so far, which of them are out and which are in."""

    bound: float
    out: np.ndarray
    inside: np.ndarray  # those that are always in, too

    @classmethod
    def at_first(cls, problem: Problem, least: float) -> "ProofSoFar":
        """What is known before a search: a bound on all objectives, and which features (or groups) are always in."""
        always = problem.cardinality.choices_in
        out, inside = np.zeros((2, problem.n_choices + len(always)), dtype=bool)
        inside[always] = True
        return cls(least, out, inside)

    def learn(self, costs: Costs, plane: Plane, k: int, objective: float, columns: np.ndarray | slice) -> None:
        """Take in what a plane over some columns says, of which all others are out already."""
        self.bound = max(self.bound, float(costs.bounds(plane, k)[-1]))
        found = screened(costs, plane, k, objective)
        self.out[columns] |= found.out
        self.inside[columns] |= found.inside

    @property
    def left(self) -> np.ndarray:
        return np.flatnonzero(~self.out)

    def certificate(self, problem: Problem, fit: Fitted, n_nodes: int = 0, finished: bool = False) -> Certificate:
        """What is proved of this model."""
        value = min(self.bound, fit.objective)
        bound = GlobalBound(problem.cardinality.k, value, fit.objective, problem.counted, problem.limit)
        n_in = int(self.inside.sum()) - len(problem.cardinality.choices_in)
        return Certificate(fit, bound, int(self.out.sum()), n_in, n_nodes, finished)

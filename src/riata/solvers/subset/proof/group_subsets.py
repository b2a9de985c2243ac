"""Models of at most k groups of columns, for `branch_and_bound`: the state of a node is that of groups."""

import numpy as np

from riata.objective import Problem
from riata.solvers.subset.local.refit import least
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.group_relaxation import relaxed_groups
from riata.solvers.subset.proof.relaxation import Node, Quadratic, Relaxed
from riata.solvers.subset.proof.true_subsets import TrueSubsets


class QuadraticGroups:
    """Groups of columns of a quadratic."""

    exact = True
    at_once, together = 4, None

    def __init__(self, quadratic: Quadratic, k: int, deadline: Deadline = FOREVER):
        groups = quadratic.costs.groups
        assert groups is not None
        self.k, self._quadratic, self._groups, self._deadline = k, quadratic, groups, deadline
        self.n_columns, self.n_weights = int(groups.max()) + 1, len(groups)

    def relaxed(self, node: Node, k: int, target: float) -> Relaxed:
        return relaxed_groups(self._quadratic, node, k, target, self._deadline)

    def reliefs(self, relaxed: Relaxed) -> np.ndarray:
        return self._quadratic.costs.reliefs(self._quadratic.plane(relaxed.w, relaxed.r).slopes)

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        columns = np.flatnonzero(np.isin(self._groups, members))
        G, c, ridge = self._quadratic.G, self._quadratic.c[columns], self._quadratic.costs.ridge[columns]
        w = np.zeros(self.n_weights)
        w[columns], reduction = least(G[np.ix_(columns, columns)] + np.diag(ridge), c)
        return self._quadratic.loss - 0.5 * reduction, w


class TrueGroups(TrueSubsets):
    """Groups of columns for losses that are not quadratic."""

    def __init__(self, problem: Problem, k: int, deadline: Deadline = FOREVER):
        super().__init__(problem, k, deadline)
        assert self.costs.groups is not None
        self.n_columns = int(self.costs.groups.max()) + 1

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        taken = np.zeros(self.n_columns)
        taken[members] = 1.0
        return super().refitted(np.flatnonzero(self._of_columns(taken)), start, below)

    def _of_columns(self, state: np.ndarray) -> np.ndarray:
        assert self.costs.groups is not None
        return state[self.costs.groups]

    def _step(self, state: np.ndarray, k: int, at: Relaxed, n_steps: int = 0) -> Relaxed:
        quadratic = self._local(np.arange(self.n_weights), at, n_steps)
        found = relaxed_groups(quadratic, Node(state, at.w), k, deadline=self._deadline if k > 0 else FOREVER)
        return found._replace(r=at.r)

"""Models of at most k of very many columns, for `branch_and_bound`, where the loss is quadratic and passes are cheap.

The products of all columns would be too many, and few are asked for: the relaxation of a node is that of some
candidates, those that may matter at its start, and the slopes of all columns there say which others it wants. They
become candidates, for all nodes to come, until none is wanted, or until no more of them can rule the node out: with few
columns the best bound is larger than with all. The bound is that of all columns at every point on the way, so that it
may end at any of them.
"""

import numpy as np

from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import least
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.global_bound import violators
from riata.solvers.subset.proof.growing_candidates import GrowingCandidates
from riata.solvers.subset.proof.relaxation import PRICES, SWEEPS, Node, Quadratic, Relaxed

ROUNDS = 10  # of candidates that the relaxation of a node wants
MORE = 64  # of them at a time
MATTERS = 0.8  # of the price: candidates of less relief at the start are left out of a relaxation


class CandidateSubsets:
    """The columns of a local quadratic, in its units; its candidates become more, up to a limit."""

    exact = True
    at_once, together = 1, None  # candidates of one node are those of all

    def __init__(self, model: LocalQuadratic, k: int, most_rows: int, deadline: Deadline = FOREVER):
        self.k, self._model, self._most_rows, self._deadline = k, model, most_rows, deadline
        self._candidates = GrowingCandidates(model)
        self.n_columns = self.n_weights = len(model.w)
        self._costs = model.costs

    def relaxed(self, node: Node, k: int, target: float) -> Relaxed:
        self._add(np.flatnonzero((node.state == 1) | (node.w != 0.0)))
        w, price = np.where(node.state < 0, 0.0, node.w), node.price
        best = Relaxed(-np.inf, w, np.zeros_like(w), np.zeros_like(w), price)
        there = self._that_matter(node.state, w, price)
        for _ in range(ROUNDS):
            self._deadline.check()
            start = Node(node.state[there], w[there], price)
            found = self._candidates.quadratic_of(there).relaxed(start, k, np.inf, PRICES, SWEEPS, many=True)
            price, w = found.price, np.zeros(self.n_columns)
            w[there] = found.w
            r, shares = self._pulls(w), np.zeros(self.n_columns)
            shares[there] = found.shares
            bound = self._over_all.bound(node.state, k, w, r)
            if bound > best.bound:
                best = Relaxed(bound, w, r, shares, price)
            if best.bound >= target:
                break
            wanted = violators(self._costs, np.where(node.state == 0, r, 0.0), price, there)[:MORE]
            if len(wanted) == 0 or not self._add(wanted) or found.bound < target:
                break
            there = np.append(there, wanted)
        return best

    def _that_matter(self, state: np.ndarray, w: np.ndarray, price: float) -> np.ndarray:
        """The candidates that the relaxation of a node may take, by their slopes at its start."""
        there, taken = self._candidates.columns, np.flatnonzero(w)
        r = self._model.h[there] - self._candidates.times(taken, w[taken])
        reliefs = self._costs.among(there).reliefs(r)
        return there[(state[there] == 1) | (w[there] != 0.0) | ((state[there] == 0) & (reliefs > MATTERS * price))]

    def reliefs(self, relaxed: Relaxed) -> np.ndarray:
        return self._costs.reliefs(self._over_all.plane(relaxed.w, relaxed.r).slopes)

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        self._add(members)
        H, h = self._candidates.among(members), self._model.h[members]
        w = np.zeros(self.n_columns)
        w[members], reduction = least(H, h)
        return self._model.loss - 0.5 * reduction, w

    @property
    def _over_all(self) -> Quadratic:
        """The quadratic of all columns, without their products: planes do not ask for those."""
        return Quadratic(np.empty((0, 0)), self._model.h, self._model.loss, self._costs)

    def _pulls(self, w: np.ndarray) -> np.ndarray:
        """c - G w, for all columns: a pass, which is cheaper than their products with those of w."""
        taken = np.flatnonzero(w)
        return self._candidates.pulls(taken, w[taken])

    def _add(self, columns: np.ndarray) -> bool:
        """Make these columns candidates, if there is room; columns of a model or a node are few, and always come in."""
        new = columns[self._candidates.places(columns) < 0]
        if len(new):
            self._candidates.add(new)
        return len(self._candidates) < self._most_rows

"""Models of at most k columns of a quadratic, for `branch_and_bound`: nodes are relaxed one by one or together.

One by one by coordinate descent (`relaxation`), which is quick where few columns are wanted and they explain each other
little; together by ADMM (`relaxed_together`) on a GPU, and where that gives a better bound at the root.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from riata.arrays import Array
from riata.solvers.subset.local.refit import least
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.relaxation import PRICES, SWEEPS, Node, Quadratic, Relaxed
from riata.solvers.subset.proof.relaxed_together import SplitQuadratic, relax_together
from riata.threads import one_blas_thread

AT_ONCE = 4  # nodes
TOGETHER_AT_ONCE, BATCH = 16, 8  # nodes, and children of them, by BLAS
ON_DEVICE_AT_ONCE = 256  # nodes
LARGEST_TOGETHER = 1000  # columns, by BLAS: each step is a product with all of their products;
LARGEST_ON_DEVICE = 3000  # of 4000 that explain each other, nodes end before their bounds are as good as one by one
BETTER = 0.02  # of the gap at the root: by so much the bounds of nodes together have to be better
LEAST_PRICE = 1e-12  # of the loss

Send = Callable[[np.ndarray], Array]


@dataclass(frozen=True)
class QuadraticSubsets:
    """The columns of a quadratic."""

    quadratic: Quadratic
    k: int
    split: SplitQuadratic | None = None  # for relaxations together,
    send: Send | None = None  # and the way to their device
    deadline: Deadline = field(default_factory=Deadline)
    exact = True

    @classmethod
    def of(
        cls, quadratic: Quadratic, k: int, objective: float, send: Send | None, deadline: Deadline = FOREVER
    ) -> "QuadraticSubsets":
        """Relaxed together if that pays: on the device that `send` takes arrays to, or where bounds are better."""
        alone, costs, n = cls(quadratic, k, deadline=deadline), quadratic.costs, len(quadratic.c)
        if n <= k + 1 or np.isfinite(costs.limit).any() or not (costs.ridge > 0.0).all():
            return alone
        if n > (LARGEST_TOGETHER if send is None else LARGEST_ON_DEVICE):
            return alone
        with one_blas_thread():
            G, c, loss = quadratic.G, quadratic.c, quadratic.loss
            there = send or np.asarray
            split = SplitQuadratic.of(there(G), there(c), there(costs.ridge), loss, there)
            together = replace(alone, split=split, send=send)
            if send is not None:
                return together
            start = Node(np.zeros(n, dtype=np.int8), np.zeros(n))
            one = alone.relaxed(start, k, objective)
            [other] = together.relaxed_together([start._replace(w=one.w, price=one.price)], [k], objective)
        return together if other.bound > one.bound + BETTER * (objective - one.bound) else alone

    @property
    def n_columns(self) -> int:
        return len(self.quadratic.c)

    n_weights = n_columns

    @property
    def at_once(self) -> int:
        if self.split is None:
            return AT_ONCE
        return TOGETHER_AT_ONCE if self.send is None else ON_DEVICE_AT_ONCE

    @property
    def together(self) -> "QuadraticSubsets | None":
        return None if self.split is None else self

    @property
    def batch(self) -> int:
        return BATCH if self.send is None else 2 * ON_DEVICE_AT_ONCE

    def relaxed(self, node: Node, k: int, target: float) -> Relaxed:
        return self.quadratic.relaxed(node, k, target, PRICES, SWEEPS, many=True)

    def relaxed_together(self, nodes: Sequence[Node], k: Sequence[int], target: float) -> list[Relaxed]:
        assert self.split is not None
        states, w = np.array([node.state for node in nodes]), np.array([node.w for node in nodes])
        prices = np.maximum([node.price for node in nodes], LEAST_PRICE * self.quadratic.loss)
        send, late = self.send or np.asarray, self.deadline
        found = relax_together(self.split, states, np.array(k), w, prices, target, send, deadline=late)
        return [
            Relaxed(float(bound), w, r, shares, float(price)) for bound, w, r, shares, price in zip(*found, strict=True)
        ]

    def reliefs(self, relaxed: Relaxed) -> np.ndarray:
        return self.quadratic.costs.reliefs(self.quadratic.plane(relaxed.w, relaxed.r).slopes)

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        G, c, ridge = self.quadratic.G, self.quadratic.c[members], self.quadratic.costs.ridge[members]
        w = np.zeros(self.n_columns)
        w[members], reduction = least(G[np.ix_(members, members)] + np.diag(ridge), c)
        return self.quadratic.loss - 0.5 * reduction, w

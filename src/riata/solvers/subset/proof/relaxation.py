"""The best plane for a bound on models of k features, where the loss is a quadratic: the perspective relaxation.

Each feature has a share z_j in [0, 1] of being in the model, all shares together are at most k, and a coefficient pays
l2_j w_j^2 / (2 z_j). That is convex, and its least value is the best bound that a plane gives. With a price for shares
in place of their sum, the best share leaves the reverse Huber penalty: a slope of sqrt(2 price l2_j) up to the width
sqrt(2 price / l2_j), where a feature is wholly in, and price + l2_j w_j^2 / 2 beyond (within limits below that width,
the slope price / limit + l2_j limit / 2). Coordinate descent minimises it (`kernels.relaxation`), and the price is
moved until the shares sum to k. All that is only the way to a point: the bound is made of the plane there.

Where nothing, or little, is paid, part of the diagonal of G may be taken for a ridge, as long as G stays positive
semidefinite (`diagonal_shift`): w'Gw = w'(G - D)w + w'Dw.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from riata.kernels.relaxation import Effort, RelaxedQuadratic, relax
from riata.scipy_later import linalg
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.planes import ROUNDING, SLOPE_ROUNDING, Costs, Plane

SHARES_OFF = 0.02  # shares that sum to within this of k are as good as k
PRICE_OFF = 1.02  # as is a price known to within this factor
STILL = 1e-10  # of the loss: coordinates that lower the objective by less are left
PRICES, SWEEPS = 15, 30  # of a node of a search
LANCZOS_STEPS = 16
SMALL = 64  # columns: fewer are inverted without SciPy
SHIFT_ROUNDING = 1e-11  # of the largest eigenvalue: what a shift leaves, for the rounding of the products


class Node(NamedTuple):
    """A part of all models: columns that are in (1), out (-1) or free (0), and where its relaxation is to start."""

    state: np.ndarray
    w: np.ndarray
    price: float = 0.0  # 0: not known


class Relaxed(NamedTuple):
    """A relaxation: its bound, the point of it, the shares and the price there."""

    bound: float
    w: np.ndarray
    r: np.ndarray  # c - G w
    shares: np.ndarray
    price: float


@dataclass(frozen=True)
class Quadratic:
    """loss - c'w + w'Gw / 2 over some columns, and what coefficients pay beside."""

    G: np.ndarray
    c: np.ndarray
    loss: float
    costs: Costs
    is_shifted: bool = False

    def shifted(self, D: np.ndarray) -> "Quadratic":
        """The same objective, of which D is taken from G and given to the ridge."""
        costs = self.costs._replace(ridge=self.costs.ridge + D)
        return replace(self, G=self.G - np.diag(D), costs=costs, is_shifted=True)

    def among(self, columns: np.ndarray) -> "Quadratic":
        """The quadratic of some of the columns alone."""
        return replace(self, G=self.G[np.ix_(columns, columns)], c=self.c[columns], costs=self.costs.among(columns))

    def plane(self, w: np.ndarray, r: np.ndarray, places: np.ndarray | slice = slice(None)) -> Plane:
        """The tangent plane at w, r = c - G w; r may have further columns, among which those of w are at `places`."""
        square = 0.5 * float(w @ (self.c - r[places]))
        slopes = -r - np.sign(r) * SLOPE_ROUNDING * np.sqrt(2.0 * self.loss)
        return Plane(self.loss - square - ROUNDING * (self.loss + abs(square)), slopes, not self.is_shifted)

    def bound(self, state: np.ndarray, k: int, w: np.ndarray, r: np.ndarray) -> float:
        """The bound of the plane at w, for models of the columns that are in and k of the free ones."""
        plane = self.plane(w, r)
        reliefs = self.costs.reliefs(plane.slopes)
        free = reliefs[state == 0]
        chosen = free if k >= len(free) else np.partition(free, len(free) - k)[len(free) - k :] if k > 0 else free[:0]
        spent = float(reliefs[state == 1].sum() + chosen.sum())
        return plane.level - spent - ROUNDING * spent

    def relaxed(
        self, node: Node, k: int, target: float = np.inf, prices: int = 30, sweeps: int = 50, many: bool = False
    ) -> Relaxed:
        """The relaxation where k of the free columns may come in; it ends early once its bound reaches the target.

        `many` says that it is one of many, for which compiling pays.
        """
        w = np.where(node.state < 0, 0.0, node.w)
        taken = np.flatnonzero(w)
        r = self.c - w[taken] @ self.G[taken]
        room, best = np.empty((3, max(len(w), k + 2))), np.empty((3, len(w)))
        ridge, limit = self.costs.ridge, self.costs.limit
        quadratic = RelaxedQuadratic(self.G, self.c, ridge, limit, self.loss, ROUNDING, SLOPE_ROUNDING)
        effort = Effort(prices, sweeps, STILL * self.loss, SHARES_OFF, PRICE_OFF)
        bound, price = (relax.machine if many else relax)(
            quadratic, effort, node.state.astype(np.int8), k, float(node.price), float(target), w, r, room, best
        )
        return Relaxed(bound, best[0], best[1], best[2], price)


def diagonal_shift(G: np.ndarray, deadline: Deadline = FOREVER) -> np.ndarray:
    """D with G - D positive semidefinite beyond rounding, t / diag(G^-1) for nearly the largest t; or zeros.

    1 / diag(G^-1) is what all other columns leave of each. The least eigenvalue t of G in these units is found from
    its inverse, and a Cholesky factorisation of G - D is the proof that it was not too large. Columns that do not
    vary, whose rows of G are 0, have none.
    """
    if not (varies := np.diagonal(G) > 0.0).all():
        whole = np.zeros(len(G))
        whole[varies] = diagonal_shift(G[np.ix_(varies, varies)], deadline)
        return whole
    nothing = np.zeros(len(G))
    if not len(G):
        return nothing
    deadline.check()
    margin = SHIFT_ROUNDING * float(np.abs(G).sum(axis=0).max(initial=0.0))
    inverse = _inverse(G - np.diag(np.full(len(G), 10.0 * margin)))
    if inverse is None:
        return nothing
    left = 1.0 / np.diagonal(inverse)
    times = inverse.__matmul__ if len(G) <= SMALL else partial(linalg.blas.dsymv, 1.0, inverse)
    root = np.sqrt(left)
    largest = _largest_eigenvalue(lambda v: root * times(root * v), len(G))
    if not 0.0 < largest < np.inf:
        return nothing
    t = 1.0 / largest
    for share in (0.99, 0.95, 0.8, 0.5):
        deadline.check()
        D: np.ndarray = np.maximum(share * t * left - margin, 0.0)
        if _positive(G - np.diag(D + margin)):
            return D
    return nothing


def _largest_eigenvalue(times: Callable[[np.ndarray], np.ndarray], n: int) -> float:
    """Nearly that of a symmetric matrix, from below, by the method of Lanczos."""
    v, before = np.random.default_rng(0).normal(size=n), np.zeros(n)
    v /= np.sqrt(v @ v)
    along, beside, off = [], [], 0.0
    for _ in range(min(LANCZOS_STEPS, n)):
        u = times(v) - off * before
        along.append(float(v @ u))
        u -= along[-1] * v
        off = float(np.sqrt(u @ u))
        if off <= 1e-12 * abs(along[0]):
            break
        beside.append(off)
        v, before = u / off, v
    between = beside[: len(along) - 1]
    return float(np.linalg.eigvalsh(np.diag(along) + np.diag(between, -1))[-1])


def _inverse(G: np.ndarray) -> np.ndarray | None:
    """The inverse of a positive definite matrix, or its upper half where that is not SMALL; None if it is none."""
    try:
        inverse = np.linalg.inv(G) if len(G) <= SMALL else linalg.lapack.dpotri(np.linalg.cholesky(G).T, lower=0)[0]
    except np.linalg.LinAlgError:
        return None
    return np.asarray(inverse) if np.all(np.diagonal(inverse) > 0.0) else None


def _positive(G: np.ndarray) -> bool:
    """Whether a matrix is positive definite."""
    try:
        np.linalg.cholesky(G)
    except np.linalg.LinAlgError:
        return False
    return True

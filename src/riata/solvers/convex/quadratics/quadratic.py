"""The minimum of a penalised quadratic whose matrix is in memory, to the last digits if need be.

    Q(v) = slope . (v - w) + (v - w)'H(v - w) / 2 + sum_j l1_j |v_j|,   lower_j <= v_j <= upper_j, between which 0 lies

Coordinate descent finds the signs and who is at a bound, Newton steps on the other coordinates that are not zero find
the values: the first alone is slow where columns are correlated, the second alone goes wrong where signs are not yet
right. The parts are compiled one by one: a kernel with a factorisation inside takes seconds to compile.
"""

from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from riata.kernels.quadratic import descend, largest_slope, take_step
from riata.penalties import Strengths
from riata.positive import solve_positive
from riata.solvers.convex.quadratics.kept_factor import KeptFactor
from riata.solvers.convex.quadratics.semismooth import minimise_by_dual
from riata.solvers.convex.quadratics.smooth_forms import ByMatrix
from riata.threads import one_blas_thread

FEW_COORDINATES = 128  # up to which rounds cost less than to see that they are enough
MANY_COORDINATES = 3000  # coordinates from which on several threads pay for a factorisation
EASY_ROUNDS = 10  # of coordinate descent and a Newton step: where they are not enough, signs are hard to find
PROGRESS = 0.3  # of the gap at the start: a result is nearer than that, however much is enough
SWEEPS = 8  # of coordinate descent between two Newton steps
MAX_ROUNDS = 200  # of coordinate descent and a Newton step
IN_A_ROW = 50  # Newton steps at most, where what leaves in one comes back in the next sweep
LEAST_RIDGE, MOST_RIDGE = 1e-12, 1.0  # of the diagonal of a singular matrix


def minimise_quadratic(
    H: np.ndarray,
    slope: np.ndarray,
    l1: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    w: np.ndarray,
    precision: float,
    enough: float = 0.0,
    squares: float = np.inf,
    rounds: int = MAX_ROUNDS,
    factor: KeptFactor | None = None,
) -> np.ndarray:
    """The best v from the start w, where the smooth part has this slope. H is m x m, symmetric, not negative.

    `precision` is that of the optimality conditions, relative to the largest slope, each in units of its coordinate.
    Many coordinates are at their end, too, once Q is within `enough` of the least, which is told by a duality gap; Q is
    then a sum of squares, which are no more than `squares` from here on. After so many `rounds` it ends in any case.
    The factorisation of an earlier call with this matrix is of use, if there is one.
    """
    v, factor = w.copy(), factor or KeptFactor()
    unbounded = lower.max(initial=-np.inf) == -np.inf and upper.min(initial=np.inf) == np.inf
    tol, now = precision * largest_slope(H, slope, l1, w), slope.copy()
    seen: set[bytes] = set()
    Q, looks = _Penalised(H, l1, lower, upper, squares), enough > 0.0 and len(w) > FEW_COORDINATES
    enough = min(enough, PROGRESS * Q.gap(v, now)) if looks else 0.0
    with one_blas_thread() if len(w) < MANY_COORDINATES else nullcontext():
        for turn in range(rounds):
            if descend(H, l1, lower, upper, v, now, SWEEPS, tol) <= tol:
                break
            if looks and Q.gap(v, now) <= enough:
                break
            if looks and turn == EASY_ROUNDS:
                v, now = Q.by_dual(v, now, enough)
                continue
            S = movable(v, lower, upper)
            returned = S.tobytes() in seen  # sweeps brought back what a step had taken out
            seen.add(S.tobytes())
            for _ in range(IN_A_ROW if returned else 1):
                v_S = v[S]
                downhill = -now[S] - np.copysign(l1[S], v_S)
                step = factor.solve(H, S, downhill)
                if step is None:
                    step = solve_nearly(_block(H, S), downhill)
                keeps_signs = unbounded and ((v_S + step) * np.sign(v_S)).min(initial=0.0) >= 0.0
                if keeps_signs:  # as a rule
                    v[S] += step
                else:
                    take_step(S, _block(H, S), downhill, step, l1, lower, upper, v)
                now = slope + H @ (v - w)
                left, S = S, movable(v, lower, upper)
                if len(S) == len(left):
                    break
    return v


class _Penalised(NamedTuple):
    """Q, but for the slopes `now` of its smooth part at v. It is a sum of squares, which are no more than `squares`."""

    H: np.ndarray
    l1: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    squares: float

    def gap(self, v: np.ndarray, now: np.ndarray) -> float:
        """The duality gap at v."""
        strengths = Strengths(self.l1, np.zeros(len(v)), self.lower, self.upper)  # a ridge is in H
        return quadratic_gap(v, now, strengths, self.H.diagonal(), self.squares)

    def by_dual(self, v: np.ndarray, now: np.ndarray, enough: float) -> tuple[np.ndarray, np.ndarray]:
        """A point from v, within `enough` of the minimum if that is found, and the slopes there.

        Where rounding gives H directions of negative curvature, Q falls along them without end: then it is v itself.
        """
        strengths = Strengths(self.l1, np.zeros(len(v)), self.lower, self.upper)  # a ridge is in H
        smooth, curvatures = ByMatrix(self.H, now, v), self.H.diagonal()
        found = minimise_by_dual(smooth, curvatures, strengths, v, lambda v, now: self.gap(v, now) <= enough)
        there = smooth.slopes(found)
        return (found, there) if self.gap(found, there) <= self.gap(v, now) else (v, now)


def quadratic_gap(
    v: np.ndarray, now: np.ndarray, strengths: Strengths, curvatures: np.ndarray, squares: float
) -> float:
    """The duality gap of Q at v, with its slopes as they are, or shrunk to the thresholds; a ridge is in its squares.

    Where nothing is penalised there is none, and what a step of that coordinate alone would gain stands for it.
    """
    l1, _, lower, upper = strengths
    reach = reach_of(now, lower, upper)
    free = (l1 == 0.0) & np.isinf(reach)
    gains = now[free] ** 2 / np.where(curvatures[free] > 0.0, curvatures[free], np.inf)
    share, price = feasible_share(now, l1, reach)
    loose = 0.5 * (1.0 - share) ** 2 * squares if share < 1.0 else 0.0
    return float(loose + l1 @ np.abs(v) + share * (v @ now) + price + gains.sum())


def _block(H: np.ndarray, S: np.ndarray) -> np.ndarray:
    return H.take(S, 0).take(S, 1)


def movable(v: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The coordinates that are neither zero nor at a bound."""
    return np.flatnonzero((v != 0.0) & (lower < v) & (v < upper))


def reach_of(slope: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """How far each coordinate may go from 0 to where its slope draws it."""
    return np.where(slope < 0.0, upper, -lower)


def feasible_share(slope: np.ndarray, l1: np.ndarray, reach: np.ndarray) -> tuple[float, float]:
    """The share of the slopes that no unbounded coordinate is pulled by beyond its l1, and what bounded ones gain by
    the rest of theirs at most. A coordinate that has neither a bound nor a penalty is left out."""
    pull, bounded = np.abs(slope), np.isfinite(reach)
    share = 1.0 / max(1.0, float(np.max(pull / np.where(bounded | (l1 == 0.0), np.inf, l1), initial=0.0)))
    price = np.where(bounded, reach, 0.0) @ np.maximum(share * pull - l1, 0.0)
    return share, float(price)


def solve_nearly(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """H^-1 right; where H is singular, as with equal columns, with as small a ridge as makes it regular."""
    if not len(right):
        return right
    ridge, regular = 0.0, H
    while ridge <= MOST_RIDGE:
        x = solve_positive(regular, right)
        if x is not None:
            return x
        ridge = max(10.0 * ridge, LEAST_RIDGE)
        regular = H + ridge * np.diag(np.where(H.diagonal() > 0.0, H.diagonal(), 1.0))
    return right

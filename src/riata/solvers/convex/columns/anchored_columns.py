"""The minimum of F over dense columns in memory, by a curvature that is kept from step to step.

A loss that is not quadratic has another curvature at every point, but a step need not have that of the point at hand.
With the curvatures that rows have at an anchor it leaves no more of the way than the share by which rows have another
curvature now, however correlated columns are: a few more steps, each of which costs two passes over the columns, take
the place of all their products (`anchored_products`). What rows have in common is made good by one number, the ratio of
the curvatures along the last step.

There is another anchor where a step gains much less than its quadratic said, or where steps are slow once as much work
has gone into them as it costs: so neither can cost much more than the better of the two.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.losses import Loss
from riata.objective import FirstOrder, Problem, Side, duality_gap
from riata.penalties import Strengths
from riata.positive import Factor
from riata.solvers.convex.columns.anchored_products import NO_ANCHOR, AnchoredProducts, KeptAnchor
from riata.solvers.convex.columns.columns import FASTER
from riata.solvers.convex.columns.damping import POOR
from riata.solvers.convex.columns.restricted import F_ROUNDING, HALVINGS, LAST_GAIN, QUADRATIC_PRECISION, sum_rounding
from riata.solvers.convex.columns.row_curvature import row_curvature
from riata.solvers.convex.quadratics.curvature import FAST, ROUGH_PRECISION, Point
from riata.solvers.convex.quadratics.homotopy import Place, follow_minimum, serves_bounds
from riata.solvers.convex.quadratics.quadratic import EASY_ROUNDS, MAX_ROUNDS, SWEEPS, minimise_quadratic, quadratic_gap
from riata.threads import one_blas_thread

STEPS = 100
FORCING = 0.1  # of the gap of F: how precisely a quadratic is minimised
LAST_STEP = 0.1  # of what all have gained: a rough minimum is where a step gains less
FURTHEST_RATIO = 2.0  # or its inverse: beyond that, what one direction says does not hold for others
ANOTHER_RATIO = 0.05  # of the ratio: a smaller change is not worth another factorisation


class AnchoredColumns:
    """The columns of some features, and a quadratic of theirs that serves for many steps."""

    is_local = False  # it gives the loss itself at every point
    starts_anywhere = True  # it finds the minimum from any guess
    lets_features_go = True  # those that come to nothing in its minimum leave the working set
    dense = True  # every entry of its columns is there

    def __init__(self, data: InMemory, fit_intercept: bool, kept: KeptAnchor = NO_ANCHOR) -> None:
        self._data, self._y = data, data.targets()[0]
        self._products = AnchoredProducts(data, fit_intercept, kept)
        self._ratio = kept.ratio  # of the curvature of rows at hand to that at the anchor
        self._factors = _LastFactor()
        self._last_ridged: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @property
    def features(self) -> np.ndarray:
        """Those whose columns it has."""
        return self._products.features

    @property
    def kept(self) -> KeptAnchor:
        """What a checkpoint keeps."""
        return self._products.kept(self._ratio)

    def with_features(self, features: np.ndarray) -> "AnchoredColumns":
        """Itself, with the columns of these features, and perhaps of some others."""
        self._products.keep(features)
        return self

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of F over its columns, up to a gap of `enough`, from a guess that has no others."""
        w, b = guess
        columns, origin = self._products.columns, self._products.origin
        penalty = problem.penalty.of(self.features)  # type: ignore[attr-defined] # all that come here have it
        rows = InMemory(columns.T, *self._data.targets())
        restricted = replace(problem, data=rows, penalty=penalty, start=None)
        v = w[self.features]
        with one_blas_thread():
            v, c = self._minimise(restricted, v, b + float(origin @ v), enough, rough=precision >= ROUGH_PRECISION)
        w = np.zeros_like(w)
        w[self.features] = v
        return w, c - float(origin @ v)

    def _minimise(self, problem: Problem, v: np.ndarray, c: float, enough: float, rough: bool) -> Point:
        """(v, c) whose F is within `enough` of the minimum, from a start; a rough one is where little is left to gain.

        The constant c is the intercept where columns are centred.
        """
        loss, penalty, rounding = problem.loss, problem.penalty, sum_rounding(problem.data.n_rows)
        here = self._at(loss, v, c)
        F = first = here.at.loss + penalty.value(v)
        curvatures = row_curvature(loss, self._y, here.z)
        last_promise = np.inf
        for _ in range(STEPS):
            gap = self._gap(problem, v, here, max(enough, F_ROUNDING * F))
            if gap <= max(enough, F_ROUNDING * F):
                break
            if self._products.anchor is None:
                self._products.drop_anchor(curvatures)
                self._ratio = 1.0
            target = FORCING * max(min(gap, F), enough)
            v_far, c_step, promised = self._step(problem.strengths, here, v, target, rough)
            share, v_new, there, F_new = 1.0, v_far, here, F
            for _ in range(HALVINGS):
                v_new = v_far if share == 1.0 else v + share * (v_far - v)
                there = self._at(loss, v_new, c + share * c_step)
                F_new = there.at.loss + penalty.value(v_new)
                if F_new <= F + rounding * abs(F):
                    break
                share *= 0.5
            else:
                break
            gained = F - F_new
            slow, last_promise = promised > FAST * last_promise, promised
            poor = share < 1.0 or (gained < POOR * promised and promised > LAST_GAIN * F)
            curvatures = row_curvature(loss, self._y, there.z)
            self._compare(curvatures, there.z - here.z)
            if poor or (slow and self._products.worn):
                self._products.anchor = None
            v, c, F, here = v_new, c + share * c_step, F_new, there
            if rough and gained <= LAST_STEP * (first - F):
                break
        return v, c

    def _at(self, loss: Loss, v: np.ndarray, c: float) -> "_Rows":
        """A point, by two passes over the columns."""
        A, weight, y = self._products.columns, self._products.weight, self._y
        z = v @ A + c
        with np.errstate(over="ignore", invalid="ignore"):  # a step that went too far is seen by its loss
            f, u = weight * loss.value(y, z), weight * loss.derivative(y, z)
        self._products.spend(2.0 * A.size)
        return _Rows(z, u, f, FirstOrder(float(f.sum()), *_sides(z, u, f, A @ u)))

    def _gap(self, problem: Problem, v: np.ndarray, here: "_Rows", enough: float) -> float:
        """The duality gap over its columns. Where it is more than enough that is told by a pass less."""
        gap = duality_gap(problem, v, here.at)
        if gap > enough or not problem.fit_intercept:
            return gap
        z, u, f, at = here
        by_w = self._products.columns @ np.maximum(u, 0.0)
        return duality_gap(problem, v, FirstOrder(at.loss, *_sides(z, u, f, by_w, at.by_w - by_w)))

    def _step(
        self, strengths: Strengths, here: "_Rows", v: np.ndarray, target: float, rough: bool
    ) -> tuple[np.ndarray, float, float]:
        """(v, how the constant moves, what is gained) at the minimum of the quadratic, up to a gap of `target`."""
        l1, l2, lower, upper = strengths
        q, ratio, anchor = self._products.quadratic(), self._ratio, self._products.anchor
        assert anchor is not None
        H, by_b = q.H, here.at.by_b if q.curvature else 0.0
        if l2.any():
            H = self._ridged(H, l2 / ratio)
        # all in units of the anchor's curvature, so that H is as it is kept
        slope, l1 = (here.at.by_w + l2 * v - by_b * q.mean) / ratio, l1 / ratio
        squares = float(np.sum(np.divide(here.u**2, anchor, out=np.zeros(len(anchor)), where=anchor > 0.0))) / ratio**2
        penalty, target = Strengths(l1, np.zeros(len(v)), lower, upper), target / ratio

        def good(place: Place) -> bool:
            return quadratic_gap(place.v, place.slopes, penalty, H.diagonal(), squares) <= target

        v_far = None
        if not rough and serves_bounds(penalty):
            place, arrived = follow_minimum(_ByMatrix(H, self._factors), penalty, Place(v, slope), good)
            v_far = place.v if arrived else None
        if v_far is None:
            rounds = EASY_ROUNDS if rough else MAX_ROUNDS  # no rough step is worth more
            v_far = minimise_quadratic(H, slope, l1, lower, upper, v, QUADRATIC_PRECISION, target, squares, rounds)
        k, move = int(np.count_nonzero(v_far)), v_far - v
        self._products.spend(SWEEPS * k * len(v) + k**3 / (3.0 * FASTER))
        promised = ratio * float(l1 @ (np.abs(v) - np.abs(v_far)) - move @ (slope + 0.5 * (H @ move)))
        if not q.curvature:
            return v_far, 0.0, promised
        c_step = -by_b / (ratio * q.curvature) - float(q.mean @ move)
        return v_far, c_step, promised + 0.5 * by_b**2 / (ratio * q.curvature)

    def _ridged(self, H: np.ndarray, ridge: np.ndarray) -> np.ndarray:
        """H with a ridge: the same matrix, while both are the same, so that its factor is."""
        if (
            self._last_ridged is None
            or self._last_ridged[0] is not H
            or not np.array_equal(self._last_ridged[1], ridge)
        ):
            ridged = H.copy()
            ridged.ravel()[:: len(H) + 1] += ridge
            self._last_ridged = H, ridge, ridged
        return self._last_ridged[2]

    def _compare(self, curvatures: np.ndarray, z_step: np.ndarray) -> None:
        """Find how the curvature along the last step compares with that at the anchor."""
        squares, anchor = z_step * z_step, self._products.anchor
        assert anchor is not None
        now, then = float(squares @ (self._products.weight * curvatures)), float(squares @ anchor)
        ratio = min(max(now / then, 1.0 / FURTHEST_RATIO), FURTHEST_RATIO) if then > 0.0 and now < np.inf else 1.0
        if abs(ratio - self._ratio) > ANOTHER_RATIO * self._ratio:
            self._ratio = ratio


class _Rows(NamedTuple):
    """Margins and slopes of the rows at a point, and what these give."""

    z: np.ndarray
    u: np.ndarray
    f: np.ndarray  # the losses
    at: FirstOrder


def _sides(z: np.ndarray, u: np.ndarray, f: np.ndarray, *by_w: np.ndarray) -> list[Side]:
    """The two sides of the slopes u of rows, with the slopes by columns of each, or of both together.

    A certificate shrinks the larger side until both have the same sum: where their slopes by columns are not told apart
    they stand on the other one.
    """
    up = u > 0.0
    sums = [(float(u[of].sum()), float(u[of] @ z[of] - f[of].sum())) for of in (up, ~up)]
    if len(by_w) == 1:
        nothing = np.zeros(len(by_w[0]))
        by_w = (*by_w, nothing) if sums[0][0] <= -sums[1][0] else (nothing, *by_w)
    return [Side(slopes, *its_sums) for slopes, its_sums in zip(by_w, sums, strict=True)]


class _LastFactor:
    """The factor of some rows and columns of a matrix, while it is asked for those of the same matrix again."""

    def __init__(self) -> None:
        self._of: tuple[np.ndarray, np.ndarray] | None = None
        self._factor: Factor | None = None

    def factor(self, H: np.ndarray, S: np.ndarray) -> Factor | None:
        if self._of is None or self._of[0] is not H or not np.array_equal(self._of[1], S):
            self._of, self._factor = (H, S), Factor.of(H.take(S, 0).take(S, 1))
        return self._factor


class _ByMatrix:
    """A quadratic by its matrix, as `homotopy` asks for it."""

    def __init__(self, H: np.ndarray, factors: _LastFactor) -> None:
        self._H, self._factors, self.n_rows, self.curvatures = H, factors, len(H), H.diagonal()

    def learn(self, coordinates: np.ndarray) -> None:
        """All is known."""

    def factor(self, coordinates: np.ndarray) -> Factor | None:
        return self._factors.factor(self._H, coordinates)

    def without_copies(self, v: np.ndarray) -> np.ndarray:
        return v

    def products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        products: np.ndarray = self._H.take(left, 0).take(right, 1)
        return products

    def rise(self, coordinates: np.ndarray, moves: np.ndarray) -> np.ndarray:
        rise: np.ndarray = moves @ self._H[coordinates]
        return rise

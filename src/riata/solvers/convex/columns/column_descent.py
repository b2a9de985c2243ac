"""A point on the way to the minimum of a penalised quadratic along columns, and the steps that lead from it.

Sweeps lower the quadratic where it is steep, Newton steps and conjugate gradients where columns go together. What is
certified is slopes: at the end conjugate residuals bring those of all columns in the model down together, and the few
that are left, of columns that all but depend on one another so that one of them has to go, are mended by themselves.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from riata.kernels.coordinate import ColumnQuadratic, curvature_along_columns, sweeps_along_columns
from riata.kernels.quadratic import take_step
from riata.objective import FREE_REACH, Problem
from riata.penalties import Strengths
from riata.solvers.convex.columns.columns import FASTER, Columns, DenseColumns
from riata.solvers.convex.columns.copies import without_copies
from riata.solvers.convex.columns.effort import ROUND, Effort
from riata.solvers.convex.columns.row_quadratic import RowQuadratic
from riata.solvers.convex.quadratics.conjugate_gradients import conjugate_gradients, conjugate_residuals
from riata.solvers.convex.quadratics.extrapolation import extrapolated
from riata.solvers.convex.quadratics.quadratic import (
    IN_A_ROW,
    feasible_share,
    minimise_quadratic,
    reach_of,
    solve_nearly,
)
from riata.solvers.convex.quadratics.semismooth import minimise_by_dual
from riata.solvers.convex.quadratics.smooth_forms import AlongColumns

SWEEPS = 12  # between two looks at the gap, all of which are extrapolated
WORTH = 0.1  # of what an entry gains on average in a sweep: columns that gain less wait for the next look
NEARLY_FULL, CROWD = 0.8, 2.0  # of the rows: columns in the model, and those in it or pulled in, that are too many,
MOST = 0.5  # if they are most of all columns
FEWEST = 8  # steps of conjugate gradients that are worth to begin with
MOST_IN_A_ROW = 10  # long steps that follow one another, while columns leave
LAST_SHARE = 0.5  # of the gap that is asked for: what the slopes of the columns in the model may make of it
TOGETHER_ROUNDS, FINER = 10, 0.1  # of a minimum over the columns that are furthest off; of what others are brought to
FLAT = 1e-13  # of the squares of a column: a curvature about its mean that is no more is rounding


def too_many(in_model: int, active: int, n_rows: int, n_columns: int) -> bool:
    """Whether signs are hard to find: a model has about as many columns as there are rows, and most others want in."""
    crowd = active > max(CROWD * n_rows, MOST * n_columns)
    return in_model >= n_rows or (in_model > NEARLY_FULL * n_rows and crowd)


class Descent:
    """A point v, with the slopes t of the rows and g of the columns there."""

    def __init__(self, problem: Problem, columns: Columns, u: np.ndarray, D: np.ndarray, v0: np.ndarray) -> None:
        self.columns, self.rows = columns, RowQuadratic(columns, u, D, v0, problem.fit_intercept)
        l1, l2, lower, upper = (np.array(strength) for strength in problem.strengths)
        sums, squares, means = self.rows.sums, self.rows.squares, self.rows.means
        curvatures = squares - sums * means
        curvatures = np.where(curvatures > FLAT * squares, curvatures + l2, 0.0)
        self.quadratic = ColumnQuadratic(D, sums, means, curvatures, l1, l2, lower, upper)
        self.v, self._seen = v0.copy(), set[bytes]()  # and the supports that Newton steps began from
        self._swept = 0.0, 0.0  # what the last sweeps gained and cost
        self._most = FEWEST  # products that the next step of conjugate gradients has, once signs are settled
        self._gap: float | None = None  # at v, once it was asked for
        self.Q, self.t, self.constant = self._at(self.v)
        self._look()

    def _at(self, v: np.ndarray) -> tuple[float, np.ndarray, float]:
        """Q less the penalty at v0, the slopes of the rows, and the constant."""
        value, t, c = self.rows.at(v)
        return value + self._penalty(v), t, c

    def _penalty(self, v: np.ndarray) -> float:
        return float(self.quadratic.l1 @ np.abs(v) + 0.5 * self.quadratic.l2 @ (v * v))

    def _look(self) -> None:
        """The slopes of the columns, from those of the rows."""
        self.g, self._gap = self.rows.slopes(self.t) + self.quadratic.l2 * self.v, None

    def gap(self) -> float:
        """The duality gap of Q: with slopes as they are, or shrunk to the thresholds."""
        if self._gap is None:
            self._gap = self._gap_here()
        return self._gap

    def _gap_here(self) -> float:
        q = self.quadratic
        reach = reach_of(self.g, q.lower, q.upper)
        share, price = feasible_share(self.g, q.l1, reach)
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.where(q.D > 0.0, self.t * self.t / q.D, 0.0)
        unpriced = (q.l1 == 0.0) & np.isinf(reach)
        loose = 0.5 * (1.0 - share) ** 2 * (float(squares.sum()) + float(q.l2 @ (self.v * self.v)))
        free = 0.0
        if unpriced.any():  # what such a coefficient, and a larger one, would gain
            g, v, h = (part[unpriced] for part in (self.g, self.v, q.curvatures))
            free = float(np.sum(FREE_REACH * np.abs(g * v) + np.where(h > 0.0, g * g / np.where(h > 0.0, h, 1.0), 0.0)))
        return loose + float(q.l1 @ np.abs(self.v)) + share * float(self.v @ self.g) + price + free

    def descend(self, last_share: float = 0.0) -> float:
        """Sweeps, until one gains no more than this share of all, and an extrapolation; what they cost."""
        q, v, before = self.quadratic, self.v, self.Q
        active = self._active()
        history = np.empty((SWEEPS + 1, len(active)))
        history[0] = v[active]
        stored, gains = self.columns.stored, np.empty(len(active))
        constant, decrease, visited, sweeps = sweeps_along_columns(
            self.columns.rows, q, active, stored, v, self.t, history[1:], gains, WORTH, last_share
        )
        history = history[: sweeps + 1]
        self.Q, self.constant = self.Q - decrease, self.constant + constant
        if constant:
            self.t += constant * q.D
        further = extrapolated(history)
        if further is not None:
            v_far = v.copy()
            lower, upper, last = q.lower[active], q.upper[active], history[-1]
            # at a bound rounding alone would move it, and beyond zero the penalty has another slope
            held = (last == lower) | (last == upper) | (further * last <= 0.0)
            v_far[active] = np.where(held, last, np.clip(further, lower, upper))
            Q, t, constant = self._at(v_far)
            if Q < self.Q:
                self.v, self.Q, self.t, self.constant = v_far, Q, t, constant
        self._look()
        cost = ROUND + self.columns.sweep_cost(2.0 * visited + stored[active].sum() + stored.sum())
        self._swept = before - self.Q, cost
        return cost

    def _active(self) -> np.ndarray:
        """The coordinates that are not zero, or pulled from it."""
        q = self.quadratic
        pulled = (np.abs(self.g) > q.l1) & (reach_of(self.g, q.lower, q.upper) > 0.0)
        return np.flatnonzero((self.v != 0.0) | pulled)

    def crowded(self) -> bool:
        """Whether there are too many dense columns for steps on the support."""
        in_model, active = int(np.count_nonzero(self.v)), len(self._active())
        return isinstance(self.columns, DenseColumns) and too_many(in_model, active, len(self.t), len(self.v))

    def by_dual(self, enough: float) -> None:
        """Newton steps on the dual, up to a gap of `enough`."""
        q = self.quadratic
        assert isinstance(self.columns, DenseColumns)
        smooth = AlongColumns(self.columns.A, self.rows.u, q.D, self.rows.v0, q.means, self.rows.centred)

        def good(v: np.ndarray, g: np.ndarray) -> bool:
            self.v, (self.Q, self.t, self.constant), self.g = v, self._at(v), g + q.l2 * v
            self._gap = None
            return self.gap() <= enough

        strengths = Strengths(q.l1, q.l2, q.lower, q.upper)
        v = minimise_by_dual(smooth, q.curvatures - q.l2, strengths, self.v, good)
        v = without_copies(self.columns.A, strengths, v)
        self._move_to(v, self._at(v))

    def _move_to(self, v: np.ndarray, at: tuple[float, np.ndarray, float]) -> None:
        self.v, (self.Q, self.t, self.constant) = v, at
        self._look()

    def _movable(self) -> np.ndarray:
        """The coordinates that are not zero, nor at a bound: the others move one by one."""
        return np.flatnonzero((self.v != 0.0) & (self.v > self.quadratic.lower) & (self.v < self.quadratic.upper))

    def newton_cost(self) -> float:
        """What a Newton step on the support costs; infinite where it would be singular."""
        S = self._movable()
        k, n = len(S), len(self.t)
        if k == 0 or (k >= n and not np.all(self.quadratic.l2[S] > 0.0)):
            return np.inf
        return ROUND + self.columns.products_cost(S) + k**3 / (3.0 * FASTER) + 8.0 * k * k

    def newton(self) -> None:
        """A step on the support, some share of it: coordinates that would change their sign become zero.

        Where sweeps have brought back what an earlier one took out, more of them in a row, until none leaves.
        """
        S = self._movable()
        returned = S.tobytes() in self._seen
        self._seen.add(S.tobytes())
        for _ in range(IN_A_ROW if returned else 1):
            before = len(S)
            if not self._step(S):
                break
            S = self._movable()
            if len(S) in (0, before):
                break

    def conjugate(self, effort: Effort) -> float:
        """A share of a step on the support by conjugate gradients, once there is work for one; what it cost."""
        S = self._curved()
        cost = self._product_cost(S)
        if not len(S) or FEWEST * cost > effort.for_conjugate:
            return 0.0
        Q = self.Q
        steps = self._conjugate_step(S, partial(conjugate_gradients, most=int(effort.for_conjugate / cost)))
        worked, (gained, swept) = ROUND + steps * cost, self._swept
        effort.for_conjugate = 2.0 * worked if (Q - self.Q) * swept > gained * worked else 0.0
        return worked

    def to_the_end(self, enough: float) -> float:
        """Steps on the support, one after the other while columns leave it, up to a gap of `enough`; what they cost.

        Each has twice the products of the last, if that changed no sign: the further a step goes, the more columns
        may have to leave before it can be made.
        """
        worked, l1 = 0.0, self.quadratic.l1
        for _ in range(MOST_IN_A_ROW):
            size = float(l1 @ np.abs(self.v))
            if not size > 0.0:
                break
            within = LAST_SHARE * enough / size
            worked += self._worst_together(self.long_step_cost(), within)
            S = self._curved()
            if not len(S):
                break
            method = partial(conjugate_residuals, most=self._most, within=within * l1[S])
            steps = self._conjugate_step(S, method)
            worked += ROUND + steps * self._product_cost(S)
            if len(self._curved()) == len(S):
                self._most *= 2
                break
        else:
            self._most = max(FEWEST, self._most // 2)
        return worked

    def _worst_together(self, work: float, within: float) -> float:
        """Move the columns whose conditions are violated most, and by more than this share of their thresholds, to
        their minimum together, as many as that is worth so much work for; what it cost."""
        q = self.quadratic
        off = np.where(self.v != 0.0, np.abs(self.g + np.copysign(q.l1, self.v)), np.abs(self.g) - q.l1)
        held = ((self.v == q.lower) & (self.g > 0.0)) | ((self.v == q.upper) & (self.g < 0.0))
        off[held | (q.l1 == 0.0) | (q.curvatures <= 0.0)] = 0.0
        beyond = np.flatnonzero(off > within * q.l1)
        most = int((3.0 * FASTER * work / TOGETHER_ROUNDS) ** (1.0 / 3.0))
        worst = beyond[np.argsort(-off[beyond] / q.l1[beyond], kind="stable")[:most]]
        while len(worst) and self.columns.products_cost(worst) > work:
            worst = worst[: len(worst) // 2]
        if not len(worst):
            return 0.0
        strengths = q.l1[worst], q.lower[worst], q.upper[worst]
        v, H = self.v.copy(), self._curvature(worst)
        v[worst] = minimise_quadratic(H, self.g[worst], *strengths, v[worst], FINER * within, rounds=TOGETHER_ROUNDS)
        at = self._at(v)
        if at[0] < self.Q:
            self._move_to(v, at)
        return ROUND + self.columns.products_cost(worst) + TOGETHER_ROUNDS * len(worst) ** 3 / (3.0 * FASTER)

    def long_step_cost(self) -> float:
        """That of the next step of conjugate residuals."""
        return self._most * self._product_cost(self._curved())

    def _curved(self) -> np.ndarray:
        """The coordinates that conjugate gradients move."""
        S = self._movable()
        curved: np.ndarray = S[self.quadratic.curvatures[S] > 0.0]
        return curved

    def _product_cost(self, S: np.ndarray) -> float:
        """That of a product with the curvature of these columns."""
        return self.columns.sweep_cost(2.0 * self.columns.stored[S].sum())

    def _conjugate_step(self, S: np.ndarray, method: Callable[..., tuple[np.ndarray, int]]) -> int:
        """Move these coordinates by conjugate gradients or residuals; how many products with their curvature that
        took."""
        q, z, product = self.quadratic, np.empty(len(self.t)), np.empty(len(S))
        sums, means, l2 = q.sums[S], q.means[S], q.l2[S]

        def times(x: np.ndarray) -> np.ndarray:
            curvature_along_columns(self.columns.rows, S, x, q.D, z, product)
            rise: np.ndarray = product - means * float(sums @ x) + l2 * x
            return rise

        downhill = -self.g[S] - np.copysign(q.l1[S], self.v[S])
        step, steps = method(times, downhill, q.curvatures[S])
        self._move_along(S, step)
        return steps

    def _move_along(self, S: np.ndarray, step: np.ndarray) -> None:
        """Move these coordinates by a share of a step, if one lowers Q: coordinates that would change their sign become
        zero, all of them, or half as many, and so on."""
        q, now = self.quadratic, self.v[S]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(step * now < 0.0, -now / step, np.inf)
        shares[q.l1[S] == 0.0] = np.inf
        corners = np.sort(shares[shares < 1.0])
        crossed = len(corners)
        while True:
            share = float(corners[crossed]) if crossed < len(corners) else 1.0
            v = self.v.copy()
            v[S] = np.where(shares <= share, 0.0, np.clip(now + share * step, q.lower[S], q.upper[S]))
            at = self._at(v)
            if at[0] < self.Q:
                self._move_to(v, at)
                return
            if crossed == 0:
                return
            crossed //= 2

    def _step(self, S: np.ndarray) -> bool:
        """Move these coordinates by a share of a Newton step; whether that lowers Q."""
        q, H = self.quadratic, self._curvature(S)
        downhill = -self.g[S] - np.copysign(q.l1[S], self.v[S])
        v = self.v.copy()
        take_step(S, H, downhill, solve_nearly(H, downhill), q.l1, q.lower, q.upper, v)
        Q, t, constant = self._at(v)
        if Q < self.Q:
            self._move_to(v, (Q, t, constant))
            return True
        return False

    def _curvature(self, S: np.ndarray) -> np.ndarray:
        """The curvature of Q over some columns."""
        q = self.quadratic
        H = self.columns.products(S, q.D)
        H -= np.outer(q.means[S], q.sums[S])
        H.ravel()[:: len(S) + 1] += q.l2[S]
        return H

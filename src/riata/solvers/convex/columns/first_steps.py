"""The first Newton steps over gathered columns, of few sweeps each and with little beside them.

Far from a minimum a quadratic is not worth many sweeps, and of small problems what is looked at between two steps costs
more than the steps: so nothing is certified, extrapolated or factorised here. They end where sweeps no longer suffice,
or where the duality gap may be small enough; what is left is for `GatheredColumns`.
"""

from dataclasses import dataclass

import numpy as np

from riata.kernels.coordinate import ColumnQuadratic, add_columns, column_slopes, column_sums, sweeps_along_columns
from riata.kernels.losses import Coded, code_of
from riata.kernels.row_terms import loss_along, quadratic_of_rows
from riata.objective import Problem
from riata.penalties import Strengths
from riata.solvers.convex.columns.columns import Columns
from riata.solvers.convex.columns.effort import ROUND
from riata.solvers.convex.columns.restricted import F_ROUNDING, HALVINGS
from riata.solvers.convex.columns.row_curvature import FURTHEST
from riata.solvers.convex.quadratics.curvature import Point

STEPS = 30
NEAR = 1.0  # of the thresholds: where sweeps are more work than what goes with them, first steps lead no nearer
SWEEPS, LAST_SWEEP = 8, 0.03  # of a quadratic: so many, or until one gains no more than this share of all
OUTSIDE = 0.1  # of the pull of the others: what conditions are met to, while there are some
SUFFICIENT = 0.1  # of the gain that slopes promise: a step that brings less is cut back


def first_steps_serve(problem: Problem) -> bool:
    """Whether the loss is compiled and not a quadratic itself, and the penalty one of thresholds alone."""
    l1, _, lower, upper = problem.strengths
    thresholds = np.all(l1 > 0.0) and np.all(np.isinf(lower)) and np.all(np.isinf(upper))
    return not problem.loss.quadratic and problem.loss.code is not None and bool(thresholds)


def first_steps(
    problem: Problem, columns: Columns, origin: np.ndarray, start: Point, enough: float, outside: float
) -> tuple[Point, bool]:
    """A point from where a duality gap of `enough` is near, or sweeps do not help.

    The `origin` is what was taken off the entries of each column; `outside` by how much of its threshold the most
    pulled of other columns is above it: where all conditions are met much better than that, others are to join first,
    which is told.
    """
    return FirstSteps.of(problem, columns, origin, start).taken(enough, OUTSIDE * outside)


@dataclass
class FirstSteps:
    """A point, and the margins of the rows there."""

    loss: Coded
    least_curvature: float
    columns: Columns
    origin: np.ndarray
    strengths: Strengths
    y: np.ndarray
    weight: np.ndarray  # sums to one
    centred: bool  # there is an intercept
    v: np.ndarray
    b: float
    z: np.ndarray

    @classmethod
    def of(cls, problem: Problem, columns: Columns, origin: np.ndarray, start: Point) -> "FirstSteps":
        (v, b), (y, weight) = start, problem.data.targets()
        z = problem.data.chunk.X.margins(v, b)  # type: ignore[attr-defined] # columns are of rows in memory
        strengths = Strengths(*map(np.array, problem.strengths))  # of each column, as compiled loops take them
        return cls(
            code_of(problem.loss), problem.loss.least_curvature, columns, origin, strengths,
            y, weight / weight.sum(), problem.fit_intercept, v.copy(), float(b), z,
        )  # fmt: skip

    def taken(self, enough: float, well: float) -> tuple[Point, bool]:
        """The point after as many steps as are worth it, and whether all conditions are met so well."""
        u, D, slopes = np.empty(len(self.z)), np.empty(len(self.z)), np.empty(len(self.v))
        heavy = self.columns.sweep_cost(SWEEPS * self.columns.stored.sum()) > ROUND  # more than what goes with a round
        for _ in range(STEPS):
            loss = quadratic_of_rows(self.loss, self.y, self.weight, self.z, self.least_curvature, FURTHEST, u, D)
            F = loss + self._penalty(self.v)
            total = float(D.sum())
            constant = -float(u.sum()) / total if self.centred and total > 0.0 else 0.0
            t = u + constant * D
            column_slopes(self.columns.rows, t, slopes)
            excess = self._excess(slopes)
            if excess <= well:
                return (self.v, self.b), True
            if excess * F <= enough or (heavy and excess < NEAR):
                break
            v, constant, swept = self._minimum(D, total, t, slopes, constant)
            if not self._moved(v, constant, u, F) or (heavy and swept):
                break
        return (self.v, self.b), False

    def _penalty(self, v: np.ndarray) -> float:
        return float(self.strengths.l1 @ np.abs(v) + 0.5 * self.strengths.l2 @ (v * v))

    def _excess(self, slopes: np.ndarray) -> float:
        """By how much of its threshold the most violated condition is off: about the gap, as a share of F."""
        l1, l2 = self.strengths.l1, self.strengths.l2
        off = np.where(self.v != 0.0, np.abs(slopes + l2 * self.v + np.sign(self.v) * l1), np.abs(slopes) - l1)
        return float(np.max(off / l1, initial=0.0))

    def _minimum(
        self, D: np.ndarray, total: float, t: np.ndarray, slopes: np.ndarray, constant: float
    ) -> tuple[np.ndarray, float, bool]:
        """About where the quadratic is least, the constant there, and whether more sweeps than there were may help."""
        l1, l2, lower, upper = self.strengths
        sums, squares = np.empty(len(self.v)), np.empty(len(self.v))
        column_sums(self.columns.rows, D, sums, squares)
        means = sums / total if self.centred and total > 0.0 else np.zeros(len(sums))
        quadratic = ColumnQuadratic(D, sums, means, squares - sums * means + l2, l1, l2, lower, upper)
        active = np.flatnonzero((self.v != 0.0) | (np.abs(slopes) > l1))
        v, history, gains = self.v.copy(), np.empty((SWEEPS, len(active))), np.empty(len(active))
        change, _, _, sweeps = sweeps_along_columns(
            self.columns.rows, quadratic, active, self.columns.stored, v, t, history, gains, 0.0, LAST_SWEEP
        )
        return v, constant + change, sweeps == SWEEPS

    def _moved(self, v: np.ndarray, constant: float, u: np.ndarray, F: float) -> bool:
        """Go to v, or part of the way, if that lowers F."""
        step, z_step = v - self.v, np.full(len(self.z), constant)
        add_columns(self.columns.rows, step, z_step)
        promised = -float(u @ z_step) - self._penalty(v) + self._penalty(self.v)
        if not promised > F_ROUNDING * F:
            return False
        share = 1.0
        for _ in range(HALVINGS):
            v_new = v if share == 1.0 else self.v + share * step
            F_new = loss_along(self.loss, self.y, self.weight, self.z, z_step, share) + self._penalty(v_new)
            if F - F_new >= SUFFICIENT * share * promised:
                self.v, self.z = v_new, self.z + share * z_step
                self.b += share * (constant - float(self.origin @ step))
                return True
            share *= 0.5
        return False

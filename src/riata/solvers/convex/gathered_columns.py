"""The minimum of F over the columns of a working set that are gathered in memory, sparse ones as they are.

Where columns have few entries, or rows are fewer than columns, a step along a column costs less than a row of the
curvature of the working set, and that matrix is not made. F is minimised by Newton steps, each of which minimises a
penalised quadratic of the margins (`column_quadratic`); the squared loss is such a quadratic itself. Nothing is solved
to more digits than were asked for.
"""

from dataclasses import dataclass, replace

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem, duality_gap, first_order
from riata.penalties import GroupLasso
from riata.solvers.convex.column_quadratic import minimise_along_columns
from riata.solvers.convex.columns import Columns, one_by_one
from riata.solvers.convex.curvature import Point
from riata.solvers.convex.group_column_quadratic import minimise_groups_along_columns
from riata.solvers.convex.restricted import F_ROUNDING, HALVINGS, STEPS
from riata.threads import one_blas_thread

FORCING = 0.1  # of the gap of F: how precisely a quadratic is minimised


@dataclass(frozen=True)
class GatheredColumns:
    """The columns of some features: as rows for passes, and one by one for coordinate descent."""

    is_local = False  # it gives the loss itself at every point

    features: np.ndarray
    rows: InMemory
    columns: Columns
    origin: np.ndarray  # what was taken off the entries of each column: its mean, of dense columns with an intercept

    @classmethod
    def of(cls, data: InMemory, features: np.ndarray, fit_intercept: bool) -> "GatheredColumns":
        matrix = data.gather(features)
        y, weight = data.targets()
        return cls(features, InMemory(matrix, y, weight), *one_by_one(matrix, weight if fit_intercept else None))

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of F over these features, up to a gap of `enough`, from a guess that has no others."""
        w, b = guess
        penalty = problem.penalty.of(self.features)  # type: ignore[attr-defined] # all that come here have it
        restricted = replace(problem, data=self.rows, penalty=penalty, start=None)
        with one_blas_thread():
            v, b = self._minimise(restricted, w[self.features], b, enough)
        w = np.zeros_like(w)
        w[self.features] = v
        return w, b

    def _minimise(self, problem: Problem, v: np.ndarray, b: float, enough: float) -> Point:
        """(v, b) whose F is within `enough` of the minimum, from a start."""
        loss, penalty = problem.loss, problem.penalty
        y, weight = problem.data.targets()
        weight = weight / weight.sum()
        minimise = minimise_groups_along_columns if isinstance(penalty, GroupLasso) else minimise_along_columns
        at = first_order(problem, v, b)
        F = at.loss + penalty.value(v)
        for _ in range(STEPS):
            gap = duality_gap(problem, v, at)
            if gap <= max(enough, F_ROUNDING * F):
                break
            z = self.rows.chunk.X.margins(v, b)
            u = weight * loss.derivative(y, z)
            D = weight * np.maximum(loss.second_derivative(y, z), loss.least_curvature)
            target = enough if loss.quadratic else max(FORCING * min(gap, F), FORCING * enough)
            v_new, b_step = minimise(problem, self.columns, u, D, v, target)
            v_step, share = v_new - v, 1.0
            b_step -= float(self.origin @ v_step)
            for _ in range(HALVINGS):
                v_new = v_new if share == 1.0 else v + share * v_step
                at_new = first_order(problem, v_new, b + share * b_step)
                F_new = at_new.loss + penalty.value(v_new)
                if F_new <= F + F_ROUNDING * abs(F):
                    break
                share *= 0.5
            else:
                break
            stalled = F_new >= F
            v, b, F, at = v_new, b + share * b_step, F_new, at_new
            if stalled:
                break
        return v, float(b)

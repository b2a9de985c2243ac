"""The minimum of F over the columns of a working set that are gathered in memory, sparse ones as they are.

Where columns have few entries, or rows are fewer than columns, a step along a column costs less than a row of the
curvature of the working set, and that matrix is not made. F is minimised by Newton steps, each of which minimises a
penalised quadratic of the margins (`column_quadratic`); the squared loss is such a quadratic itself. Nothing is solved
to more digits than were asked for.

A loss that is nearly linear in a row has hardly any curvature there, and its quadratic lets a step throw the margin of
that row far to the wrong side, from where the next goes as far back: so it is with words that few texts have. So a row
has curvature enough that by itself it would not go much further than to where its loss is gone; and after a step that
gained much less than its quadratic said, rows have a least curvature, which grows until steps gain what they promise,
and goes again.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem, at_best_intercept, duality_gap, first_order, pulls
from riata.penalties import GroupLasso
from riata.solvers.convex.columns.column_quadratic import minimise_along_columns
from riata.solvers.convex.columns.columns import Columns, DenseColumns, one_by_one
from riata.solvers.convex.columns.damping import next_damping
from riata.solvers.convex.columns.effort import Effort
from riata.solvers.convex.columns.first_steps import first_steps, first_steps_serve
from riata.solvers.convex.columns.group_column_quadratic import minimise_groups_along_columns
from riata.solvers.convex.columns.restricted import F_ROUNDING, HALVINGS, STEPS, sum_rounding
from riata.solvers.convex.columns.row_curvature import row_curvature
from riata.solvers.convex.quadratics.curvature import ROUGH_PRECISION, Point
from riata.threads import one_blas_thread

FORCING = 0.1  # of the gap of F: how precisely a quadratic is minimised
LAST_STEP, LAST_ROUND = 0.1, 0.05  # of what was gained: a rough minimum is where the next would gain less than that
WORTH_KEEPING = 0.8  # of the columns: where so many are in the next step, too, they are not gathered again


@dataclass(frozen=True)
class GatheredColumns:
    """The columns of some features: as rows for passes, and one by one for coordinate descent."""

    is_local = False  # it gives the loss itself at every point
    starts_anywhere = True  # it finds the minimum from any guess
    lets_features_go = True  # those that come to nothing in its minimum leave the working set

    features: np.ndarray
    rows: InMemory
    columns: Columns
    origin: np.ndarray  # what was taken off the entries of each column: its mean, of dense columns with an intercept
    effort: Effort = field(default_factory=Effort)

    @classmethod
    def of(cls, data: InMemory, features: np.ndarray, fit_intercept: bool) -> "GatheredColumns":
        matrix = data.gather(features)
        y, weight = data.targets()
        return cls(features, InMemory(matrix, y, weight), *one_by_one(matrix, weight if fit_intercept else None))

    @property
    def dense(self) -> bool:
        """Whether every entry of the columns is there."""
        return isinstance(self.columns, DenseColumns)

    def serves(self, features: np.ndarray, also: int) -> bool:
        """Whether these features are among its own, and not many others but for so many."""
        has = np.isin(features, self.features, assume_unique=True)
        return bool(has.all()) and len(features) + also >= WORTH_KEEPING * len(self.features)

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of F over these features, up to a gap of `enough`, from a guess that has no others."""
        w, b = guess
        penalty = problem.penalty.of(self.features)  # type: ignore[attr-defined] # all that come here have it
        restricted = replace(problem, data=self.rows, penalty=penalty, start=None)
        with one_blas_thread():
            (v, b), well = (w[self.features], b), False
            if not isinstance(penalty, GroupLasso) and first_steps_serve(restricted):
                outside = self._pull_outside(problem, at)
                (v, b), well = first_steps(restricted, self.columns, self.origin, (v, b), enough, outside)
            if not well:
                v, b = self._minimise(restricted, v, b, enough, rough=precision >= ROUGH_PRECISION)
        w = np.zeros_like(w)
        w[self.features] = v
        return w, b

    def _pull_outside(self, problem: Problem, at: FirstOrder) -> float:
        """By how much of its threshold the most pulled of the other features is above it."""
        pull, threshold = pulls(problem.penalty, at_best_intercept(problem, at))
        pull[self.features] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return max(0.0, float(np.nanmax(pull / threshold, initial=1.0)) - 1.0)

    def _minimise(self, problem: Problem, v: np.ndarray, b: float, enough: float, rough: bool) -> Point:
        """(v, b) whose F is within `enough` of the minimum, from a start; a rough one is where little is left to gain.

        Gaps are no measure of that: at small penalties they are many times what is left to gain.
        """
        loss, penalty = problem.loss, problem.penalty
        y, weight = problem.data.targets()
        weight = weight / weight.sum()
        at, damping, rounding = first_order(problem, v, b), 0.0, sum_rounding(problem.data.n_rows)
        F = at.loss + penalty.value(v)
        for _ in range(STEPS):
            gap = duality_gap(problem, v, at)
            if gap <= max(enough, F_ROUNDING * F):
                break
            z = self.rows.chunk.X.margins(v, b)
            u = weight * loss.derivative(y, z)
            D = weight * row_curvature(loss, y, z, damping)
            target = enough if loss.quadratic else max(FORCING * min(gap, F), FORCING * enough)
            if isinstance(penalty, GroupLasso):
                v_far, b_step = minimise_groups_along_columns(problem, self.columns, u, D, v, target)
            else:
                last_share = LAST_ROUND if rough else 0.0
                v_far, b_step = minimise_along_columns(problem, self.columns, u, D, v, target, self.effort, last_share)
            v_step, share, v_new = v_far - v, 1.0, v_far
            b_step -= float(self.origin @ v_step)
            for _ in range(HALVINGS):
                v_new = v_far if share == 1.0 else v + share * v_step
                at_new = first_order(problem, v_new, b + share * b_step)
                F_new = at_new.loss + penalty.value(v_new)
                if F_new <= F + rounding * abs(F):
                    break
                share *= 0.5
            else:
                break
            gained, promised = F - F_new, F - F_new
            if not loss.quadratic:
                z_step = self.rows.chunk.X.margins(v_far, b + b_step) - z
                promised = penalty.value(v) - penalty.value(v_far) - float(z_step @ (u + 0.5 * D * z_step))
                damping = next_damping(damping, gained, promised)
            v, b, F, at = v_new, b + share * b_step, F_new, at_new
            if gained <= 0.0 or (rough and abs(gained - promised) <= LAST_STEP * gained):
                break
        return v, float(b)

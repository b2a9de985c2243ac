"""A path along columns in memory: between two passes, models of many alphas in one compiled loop.

It is for sparse columns, and for few entries: there what goes with each step, in Python, takes longer than the step.
"""

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.column_path import FEW, FIRST, Limits, Models, follow_alphas_along_columns
from riata.kernels.coordinate import ColumnQuadratic
from riata.kernels.losses import code_of
from riata.kernels.path_columns import OfColumns
from riata.kernels.path_rows import OfRows, Terms
from riata.kernels.strengths import Strengths
from riata.matrices.dense import MOST_DEVIATIONS
from riata.objective import FirstOrder, Problem
from riata.penalties import ElasticNet
from riata.solvers.convex.columns.columns import Columns, one_by_one
from riata.solvers.convex.compiled_paths.path_models import Passed, Proposal
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.convex.working_set import MIN_JOINING, NO_EFFECT, STEP_PRECISION

FEW_ENTRIES = 1 << 24  # of dense columns: of more a copy costs much, and passes are on all cores
PASSES = 30.0  # over the entries, between two that confirm what was proposed
BETWEEN, OF_QUADRATIC = 1.0, 0.1  # of that work, until a gap is halved: where more is needed, columns are correlated
LEAST_WORK = 4e6  # entries: what goes with a pass costs little beside that
MOST_OF_ONE = 1e9  # a second or two, in which nobody hears Ctrl-C, and no progress is seen
MOST_PRODUCTS = 256  # columns, of whose products with one another sweeps may be made
SWEEPS = 32  # of a quadratic, at most
ENTRY_BYTES, COLUMN_BYTES = 16, 8 * (17 + SWEEPS)  # of a copy of the columns, and of what goes with each


def column_path(problem: Problem, memory: int | None) -> "ColumnPath | None":
    """What can propose the models of a path; None where it cannot, or other ways are faster."""
    data = problem.data
    if not isinstance(data, InMemory) or (problem.loss.quadratic and not data.chunk.X.sparse):
        return None
    return along_columns(problem, memory, np.inf if data.chunk.X.sparse else FEW_ENTRIES)


def along_columns(problem: Problem, memory: int | None, most_entries: float) -> "ColumnPath | None":
    """What goes along columns of no more entries than that; None where it cannot."""
    data, loss = problem.data, problem.loss
    if loss.code is None or loss.kinked or loss.stiff or loss.couples_rows or loss.n_outputs > 1:
        return None
    if not isinstance(problem.penalty, ElasticNet) or not isinstance(data, InMemory):
        return None
    n_entries = float(data.chunk.X.array.nnz) if data.chunk.X.sparse else float(data.n_rows * data.n_features)
    if n_entries > most_entries:
        return None
    if memory is not None and ENTRY_BYTES * n_entries + COLUMN_BYTES * data.n_features > memory:
        return None
    moments = data.moments
    if np.any(np.abs(moments.mean) > MOST_DEVIATIONS * moments.scale) or not np.all(problem.strengths.l1 > 0.0):
        return None
    return ColumnPath(problem, one_by_one(data.chunk.X, None)[0])


class ColumnPath:
    """Proposes models by Newton steps along columns, of which there is a copy, and room for what goes with them."""

    def __init__(self, problem: Problem, columns: Columns) -> None:
        self._columns, self.n_entries = columns, float(columns.stored.sum())
        data, moments = problem.data, problem.data.moments
        y, weight = data.targets()
        n, d = len(weight), data.n_features
        least, constant = float(problem.loss.least_curvature), bool(problem.loss.quadratic)
        self._terms = Terms(y, weight / weight.sum(), least, problem.fit_intercept, constant)
        z, step, u, D, t, balanced, reference = np.empty((7, n))
        self._rows = OfRows(z, step, u, D, t, balanced, reference, np.empty(6))
        deviation = moments.scale if problem.fit_intercept else np.hypot(moments.scale, moments.mean)
        _, _, lower, upper = map(np.array, problem.strengths)
        sums, means, curvatures, l1, l2 = np.zeros((5, d))
        quadratic = ColumnQuadratic(D, sums, means, curvatures, l1, l2, lower, upper)
        active, room, history = np.empty(d, dtype=np.int64), np.empty(d), np.empty((SWEEPS, d))
        among, squares = np.empty((min(d, max(FEW, MOST_PRODUCTS)),) * 2), np.full(d, -1.0)
        v, far, slopes, at_reference = np.zeros((4, d))
        self._place = OfColumns(
            deviation,
            columns.stored,
            v,
            far,
            slopes,
            at_reference,
            active,
            room,
            history,
            among,
            squares,
            quadratic,
        )

    def proposed(
        self, problem: Problem, alphas: np.ndarray, way: list[Passed], at: FirstOrder, tol: float, unit: float
    ) -> Proposal | None:
        """As `Proposer` says."""
        if not alphas[-1] > 0.0:
            return None
        n = FIRST + len(alphas)
        models = Models(np.empty(n), np.empty((n, problem.data.n_features)), *np.empty((3, n)))
        models.shares[FIRST:] = alphas / alphas[0]
        for i, passed in enumerate((way[0], way[-1])):
            models.shares[i], models.coefs[i], models.intercepts[i] = passed.alpha / alphas[0], passed.w, passed.b
        in_all = max(PASSES * self.n_entries, LEAST_WORK)
        between = in_all * (OF_QUADRATIC if problem.loss.quadratic else BETWEEN)
        limits = Limits(tol * unit, _no_effect(tol), between, np.inf, in_all, problem.data.n_features)
        end = self._follow(problem, models, limits)
        return None if end == FIRST else Proposal(*(found[FIRST:end] for found in models[1:]))

    def one(self, problem: Problem, start: Point, tol: float, unit: float, between: float) -> Point:
        """The model of the problem's own penalty from a start; or a point on the way, where halving the gap would take
        more work than that."""
        models = Models(np.ones(FIRST + 1), np.empty((FIRST + 1, len(start[0]))), *np.empty((3, FIRST + 1)))
        models.coefs[:FIRST], models.intercepts[:FIRST] = start
        self._follow(problem, models, Limits(tol * unit, _no_effect(tol), between, MOST_OF_ONE, np.inf, MIN_JOINING))
        return models.coefs[FIRST], float(models.intercepts[FIRST])

    def _follow(self, problem: Problem, models: Models, limits: Limits) -> int:
        """Make the models that are missing; the number of the first that was not made."""
        strengths = Strengths(*map(np.array, problem.strengths))
        end: int = follow_alphas_along_columns(
            self._columns.rows, code_of(problem.loss), self._terms, strengths, self._rows, self._place, models, limits
        )
        return end


def _no_effect(tol: float) -> float:
    """The share of the largest effect of a coefficient below which one leaves no trace in a gap of `tol`."""
    return max(STEP_PRECISION, NO_EFFECT * tol)

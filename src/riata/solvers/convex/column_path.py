"""A path along columns in memory: between two passes, models of many alphas in one compiled loop.

It is for sparse columns, and for few entries: there what goes with each step, in Python, takes longer than the step.
"""

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.column_path import (
    FIRST,
    Limits,
    Models,
    OfColumns,
    OfRows,
    Terms,
    follow_alphas_along_columns,
)
from riata.kernels.coordinate import ColumnQuadratic
from riata.kernels.losses import code_of
from riata.kernels.strengths import Strengths
from riata.matrices.dense import MOST_DEVIATIONS
from riata.objective import FirstOrder, Problem
from riata.penalties import ElasticNet
from riata.solvers.convex.columns import Columns, one_by_one
from riata.solvers.convex.told import Passed, Told
from riata.solvers.convex.working_set import NO_EFFECT, STEP_PRECISION

FEW_ENTRIES, FEW_OF_WIDE = 1 << 20, 1 << 22  # of dense columns: more, where each has few
PASSES = 30.0  # over the entries, between two that confirm what was told
PASSES_OF_ONE = 30.0  # at most, for one model: where that is not enough, columns are correlated
LEAST_WORK = 4e6  # entries: what goes with a pass costs little beside that
FEW_ACTIVE = 64  # columns, of whose products with one another sweeps are made
SWEEPS = 32  # of a quadratic, at most
ENTRY_BYTES, COLUMN_BYTES = 16, 8 * (16 + SWEEPS)  # of a copy of the columns, and of what goes with each


def column_path(problem: Problem, memory: int | None) -> "ColumnPath | None":
    """What can tell the models of a path; None where it cannot, or other ways are faster."""
    data, loss = problem.data, problem.loss
    if loss.code is None or loss.kinked or loss.stiff or loss.couples_rows or loss.n_outputs > 1:
        return None
    if not isinstance(problem.penalty, ElasticNet) or not isinstance(data, InMemory):
        return None
    X, moments = data.chunk.X, data.moments
    n_entries = float(data.stored(np.arange(data.n_features)))
    few = FEW_ENTRIES if data.n_rows > data.n_features else FEW_OF_WIDE
    if not X.sparse and (loss.quadratic or n_entries > few):
        return None
    if memory is not None and ENTRY_BYTES * n_entries + COLUMN_BYTES * data.n_features > memory:
        return None
    if np.any(np.abs(moments.mean) > MOST_DEVIATIONS * moments.scale) or not np.all(problem.strengths.l1 > 0.0):
        return None
    return ColumnPath(problem, one_by_one(X, None)[0])


class ColumnPath:
    """Tells models by Newton steps along columns, of which there is a copy, and room for what goes with them."""

    def __init__(self, problem: Problem, columns: Columns) -> None:
        self._columns = columns
        data, moments = problem.data, problem.data.moments
        y, weight = data.targets()
        n, d = len(weight), data.n_features
        self._terms = Terms(y, weight / weight.sum(), float(problem.loss.least_curvature), problem.fit_intercept)
        z, step, u, D, t, balanced, reference = np.empty((7, n))
        self._rows = OfRows(z, step, u, D, t, balanced, reference, np.empty(6))
        deviation = moments.scale if problem.fit_intercept else np.hypot(moments.scale, moments.mean)
        _, _, lower, upper = map(np.array, problem.strengths)
        sums, means, curvatures, l1, l2 = np.zeros((5, d))
        quadratic = ColumnQuadratic(D, sums, means, curvatures, l1, l2, lower, upper)
        active, room, history = np.empty(d, dtype=np.int64), np.empty(d), np.empty((SWEEPS, d))
        among = np.empty((min(d, FEW_ACTIVE),) * 2)
        v, far, slopes, at_reference = np.zeros((4, d))
        self._place = OfColumns(
            deviation, columns.stored, v, far, slopes, at_reference, active, room, history, among, quadratic
        )

    def told(
        self, problem: Problem, alphas: np.ndarray, way: list[Passed], at: FirstOrder, tol: float, unit: float
    ) -> Told | None:
        """As `Teller` says."""
        if not alphas[-1] > 0.0:
            return None
        n, n_entries = FIRST + len(alphas), float(self._columns.stored.sum())
        models = Models(np.empty(n), np.empty((n, problem.data.n_features)), *np.empty((3, n)))
        models.shares[FIRST:] = alphas / alphas[0]
        for i, passed in enumerate((way[0], way[-1])):
            models.shares[i], models.coefs[i], models.intercepts[i] = passed.alpha / alphas[0], passed.w, passed.b
        strengths = Strengths(*map(np.array, problem.strengths))
        no_effect = max(STEP_PRECISION, NO_EFFECT * tol)
        limits = Limits(
            tol * unit, no_effect, max(PASSES_OF_ONE * n_entries, LEAST_WORK), max(PASSES * n_entries, LEAST_WORK)
        )
        end = follow_alphas_along_columns(
            self._columns.rows, code_of(problem.loss), self._terms, strengths, self._rows, self._place, models, limits
        )
        return None if end == FIRST else Told(*(found[FIRST:end] for found in models[1:]))

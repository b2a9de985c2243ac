"""A copy of the columns of a small working set: F itself is minimised over them, in place of a quadratic."""

from dataclasses import dataclass

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem
from riata.solvers.convex.columns.restricted import minimise_loss
from riata.solvers.convex.quadratics.curvature import Point
from riata.threads import one_blas_thread

LARGEST_COPY = 1 << 22  # entries
FEW_COLUMNS = 128  # more of them than rows have a curvature that is mostly zero
# Guesses, in operations: a minimum over a copy takes STEPS, each with a loss for every row beside its columns. It saves
# PASSES over all entries, which beyond those cost what a call does.
STEPS, ROW = 6, 30
PASSES, CALL, ENTRY_BYTES = 4, 100_000, 8


@dataclass(frozen=True)
class ColumnCopy:
    """The columns of some features."""

    is_local = False  # it gives the loss itself at every point
    starts_anywhere = True  # it finds the minimum from any guess
    lets_features_go = False  # they stay in the working set

    features: np.ndarray
    A: np.ndarray
    compiled: bool = True  # whether its rows are worth compiled loops

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of F over these features and the intercept, from a guess whose other coefficients are 0."""
        W, (w, b) = self.features, guess
        y, weight = problem.data.targets()
        strengths = problem.strengths.of(W)
        with one_blas_thread():
            v, b = minimise_loss(
                self.A, y, weight, problem.loss, strengths, problem.fit_intercept, w[W], b, enough, self.compiled
            )
        w = np.zeros_like(w)
        w[W] = v
        return w, float(b)


def column_copy(problem: Problem, features: np.ndarray, many_minima: bool = False) -> ColumnCopy | None:
    """A copy of the columns of these features, or None: where the loss is quadratic, the data is not in memory, passes
    cost less, or the loss or the penalty has no compiled version.

    For one minimum over few rows array functions do, and nothing is compiled.
    """
    data = problem.data
    if "strengths" not in problem.penalty.has or "compiled" not in problem.loss.has:
        return None
    if problem.loss.quadratic or not isinstance(data, InMemory) or not _pays(data, len(features)):
        return None
    A = np.ascontiguousarray(data.gather(features).toarray(), dtype=np.float64)
    return ColumnCopy(features, A, compiled=many_minima or not data.chunk.X.few)


def _pays(data: InMemory, n_columns: int) -> bool:
    """Whether steps over a copy of so many columns cost less than the passes that they save."""
    if n_columns > max(FEW_COLUMNS, data.n_rows) or data.n_rows * n_columns > LARGEST_COPY:
        return False
    return STEPS * data.n_rows * (ROW + 2 * n_columns) <= PASSES * (CALL + data.chunk.X.nbytes / ENTRY_BYTES)

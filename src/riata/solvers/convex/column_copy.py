"""The columns of a working set, copied together where they are small: F is minimised over them, not a model of it."""

from dataclasses import dataclass

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem
from riata.solvers.convex.curvature import Point
from riata.solvers.convex.restricted import minimise_loss
from riata.threads import one_blas_thread

MOST = 1 << 20  # numbers in a copy: more would not stay in the cache, and are worth several threads


@dataclass(frozen=True)
class ColumnCopy:
    """The columns of some features."""

    moves = False  # it is the loss itself, wherever one is

    features: np.ndarray
    A: np.ndarray

    def times(self, factor: float) -> "ColumnCopy":
        """The loss itself needs no damping."""
        return self

    def minimum(self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float) -> Point:
        """The minimum of F over these features and the intercept, searched from a guess whose other weights are 0."""
        W, (w, b) = self.features, guess
        y, weight = problem.data.targets()
        l1, l2, lower = (strength[W] for strength in problem.strengths)
        with one_blas_thread():
            v, b = minimise_loss(self.A, y, weight, problem.loss, (l1, l2, lower), problem.fit_intercept, w[W], b)
        w = np.zeros_like(w)
        w[W] = v
        return w, float(b)


def column_copy(problem: Problem, features: np.ndarray) -> ColumnCopy | None:
    """The columns of these features; None where a quadratic is the loss itself, or they are elsewhere, or too many, or
    where the loss or the penalty is no part of a compiled loop."""
    data = problem.data
    if "strengths" not in problem.penalty.has or "compiled" not in problem.loss.has:
        return None
    if problem.loss.quadratic or not isinstance(data, InMemory) or data.n_rows * len(features) > MOST:
        return None
    return ColumnCopy(features, np.ascontiguousarray(data.gather(features).toarray(), dtype=np.float64))

"""The curvature of several targets at once, and the minimum of the quadratic that it makes.

The squared loss of each target has the same curvature, that of the columns alone. So H, over coefficients of features
and targets, is that matrix for each target and 0 between them, and is never made where there are many of them.
"""

from dataclasses import dataclass, replace

import numpy as np

from riata.objective import FirstOrder, Problem
from riata.penalties import GroupLasso
from riata.solvers.convex.quadratics.curvature import Curvature, Point, penalised_minimum
from riata.solvers.convex.quadratics.shared_quadratic import SharedQuadratic
from riata.threads import one_blas_thread

FEW = 512  # coefficients, up to which H is made as one matrix, for Newton steps


@dataclass(frozen=True)
class TargetsCurvature:
    """H of some coefficients: by the curvature of their columns, and perhaps more of them."""

    is_local = False  # it is the same at every point
    starts_anywhere = False  # it steps from the point at which slopes were read
    lets_features_go = False  # they stay in the working set

    features: np.ndarray  # the numbers of the coefficients among all
    of_columns: Curvature

    def only(self, kept: np.ndarray) -> "TargetsCurvature":
        """The curvature of some of the coefficients, by a mask."""
        return replace(self, features=self.features[kept])

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of the penalised quadratic about the point `here`, whose slopes are `at`, from a first guess."""
        w, W, K = here[0], self.features, problem.loss.n_outputs
        place, output = self._places(K), W % K
        G, slope = self.quadratic(problem, at)
        squares = 2.0 * (at.loss + problem.penalty.value(w))
        v = _minimum(problem, _Step(W, place, output, G, slope, squares), w, guess[0], precision, enough)
        return self.moved(problem, at, here, v)

    def quadratic(self, problem: Problem, at: FirstOrder) -> tuple[np.ndarray, np.ndarray]:
        """H of the columns, and the slopes of its coefficients, where the best intercepts follow them."""
        W, mean, K = self.features, self.of_columns.mean, problem.loss.n_outputs
        if problem.fit_intercept:
            return self.of_columns.H, at.by_w[W] - at.by_b[W % K] * mean[self._places(K)]
        return self.of_columns.H + np.outer(mean, mean), at.by_w[W]

    def moved(self, problem: Problem, at: FirstOrder, here: Point, v: np.ndarray) -> Point:
        """The point with these values of its coefficients, and the intercepts that follow them."""
        (w, b), W, K = here, self.features, problem.loss.n_outputs
        if problem.fit_intercept:
            mean = self.of_columns.mean[self._places(K)]
            b = b - at.by_b - np.bincount(W % K, mean * (v - w[W]), minlength=K)
        w = w.copy()
        w[W] = v
        return w, b

    def _places(self, n_outputs: int) -> np.ndarray:
        """Where the column of each coefficient is among those of the curvature."""
        columns = self.of_columns.features
        order = np.argsort(columns)
        places: np.ndarray = order[np.searchsorted(columns, self.features // n_outputs, sorter=order)]
        return places


@dataclass(frozen=True)
class _Step:
    """The quadratic about a point, over coefficients W of columns at these places of G and of these targets."""

    W: np.ndarray
    place: np.ndarray
    output: np.ndarray
    G: np.ndarray
    slope: np.ndarray
    squares: float  # of the residuals


def _minimum(
    problem: Problem, step: _Step, w: np.ndarray, guess: np.ndarray, precision: float, enough: float
) -> np.ndarray:
    """The best coefficients, by the way that the penalty allows."""
    penalty, K = problem.penalty, problem.loss.n_outputs
    if isinstance(penalty, GroupLasso) and len(step.W) > FEW and _is_by_feature(penalty.of(step.W), step.place, K):
        return _shared_minimum(penalty, step, w, guess, precision, enough)
    if isinstance(penalty, GroupLasso) or len(step.W) <= FEW:
        H = step.G[np.ix_(step.place, step.place)] * (step.output[:, None] == step.output)
        return penalised_minimum(penalty, step.W, H, step.slope, w, guess, precision, enough, step.squares)
    v = np.empty(len(step.W))
    for k in range(K):  # targets by themselves
        mine = np.flatnonzero(step.output == k)
        G, W = step.G[np.ix_(step.place[mine], step.place[mine])], step.W[mine]
        v[mine] = penalised_minimum(
            penalty, W, G, step.slope[mine], w, guess, precision, enough / K, step.squares, send=problem.data.send
        )
    return v


def _is_by_feature(penalty: GroupLasso, place: np.ndarray, n_targets: int) -> bool:
    """Whether each group is all coefficients of one feature."""
    pairs = np.unique(np.stack([penalty.groups, place]), axis=1)
    return len(pairs[0]) == penalty.n_groups == len(np.unique(place)) and len(place) == n_targets * penalty.n_groups


def _shared_minimum(
    penalty: GroupLasso, step: _Step, w: np.ndarray, guess: np.ndarray, precision: float, enough: float
) -> np.ndarray:
    """By sweeps over features, each of which is in for all targets or for none."""
    rows = np.lexsort((step.output, step.place))
    W, n_targets = step.W[rows], int(step.output.max()) + 1
    columns = step.place[rows][::n_targets]
    G, V = step.G[np.ix_(columns, columns)], guess[W].reshape(-1, n_targets)
    slope = step.slope[rows].reshape(V.shape) + G @ (V - w[W].reshape(V.shape))
    with one_blas_thread():
        found = SharedQuadratic(G, slope, penalty.of(W), V).minimum(precision, enough, step.squares)
    v = np.empty(len(rows))
    v[rows] = found.ravel()
    return v

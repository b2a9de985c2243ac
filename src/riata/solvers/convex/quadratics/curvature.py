"""The curvature of the mean loss over a working set, and the minimum of the penalised quadratic that it makes.

    H = sum_i s_i loss''(y_i, z_i) (x_i - mean)(x_i - mean)' / sum(s)

about means weighted by s loss'' is the curvature once the best intercept follows the coefficients. The squared loss
has the same H everywhere, so that H is kept and only its rows for new features are read.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riata.matrices.moments import Products
from riata.objective import FirstOrder, Problem
from riata.penalties import GroupLasso, Penalty, SeparablePenalty, Strengths
from riata.solvers.convex.quadratics.group_quadratic import minimise_groups
from riata.solvers.convex.quadratics.kept_factor import KeptFactor
from riata.solvers.convex.quadratics.on_device import FEWEST, MOST, Send, minimise_on_device
from riata.solvers.convex.quadratics.quadratic import minimise_quadratic
from riata.solvers.convex.quadratics.separable_quadratic import minimise_separable
from riata.threads import one_blas_thread

ROUGH_PRECISION = 1e-3  # of the optimality conditions, in a step that another with more features follows
FAST = 0.1  # a curvature is kept while a step reduces the gap to this share
Point = tuple[np.ndarray, Any]  # (w, b)


@dataclass(frozen=True)
class Curvature:
    """H of some features about their means, and the mean curvature sum_i s_i loss'' / sum(s) of the rows."""

    is_local = True  # it is that of one point, unless the loss is quadratic
    starts_anywhere = False  # it steps from the point at which slopes were read
    lets_features_go = False  # they stay in the working set

    features: np.ndarray
    weight: float
    mean: np.ndarray
    H: np.ndarray
    factor: KeptFactor | None = None  # of H, where one model follows another; a ridge may not come to it

    def grown(self, features: np.ndarray, new: Products, total: float) -> "Curvature":
        """H of these features, the known ones first, with the products of the new ones with all of them."""
        known = len(self.features)
        H = np.empty((len(features), len(features)))
        H[:known, :known] = self.H
        np.divide(new.about_means, total, out=H[known:])
        H[:known, known:] = H[known:, :known].T
        return Curvature(features, new.weight / total, new.right_mean, H, self.factor)

    def only(self, kept: np.ndarray) -> "Curvature":
        """The curvature of some of the features, by a mask."""
        return Curvature(self.features[kept], self.weight, self.mean[kept], self.H[np.ix_(kept, kept)])

    def damped(self, share: float) -> "Curvature":
        """The curvature with so much of its mean added to each feature's own, so that steps are shorter."""
        H = self.H.copy()
        H.ravel()[:: len(H) + 1] += share * np.trace(H) / max(1, len(H))
        return Curvature(self.features, self.weight, self.mean, H)

    @cached_property
    def about_zero(self) -> np.ndarray:
        """The same about zero: where there is no intercept to follow the coefficients."""
        H: np.ndarray = self.H + self.weight * np.outer(self.mean, self.mean)
        return H

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of the penalised quadratic about the point `here`, whose slopes are `at`, from a first guess."""
        w, W = here[0], self.features
        F = at.loss + problem.penalty.value(w)
        H, slope = self.quadratic(problem, at)
        v = penalised_minimum(
            problem.penalty, W, H, slope, w, guess[0], precision, enough, 2.0 * F, self.factor, problem.data.send
        )
        return self.moved(problem, at, here, v)

    def quadratic(self, problem: Problem, at: FirstOrder) -> tuple[np.ndarray, np.ndarray]:
        """H and the slopes of its features, where the best intercept follows them."""
        slope = at.by_w[self.features]
        if problem.fit_intercept:
            return self.H, slope - at.by_b * self.mean
        return self.about_zero, slope

    def moved(self, problem: Problem, at: FirstOrder, here: Point, v: np.ndarray) -> Point:
        """The point with these coefficients of its features, and the intercept that follows them."""
        (w, b), W = here, self.features
        if problem.fit_intercept and self.weight > 0:
            b = b - at.by_b / self.weight - self.mean @ (v - w[W])
        w = w.copy()
        w[W] = v
        return w, b


NOTHING = Curvature(np.empty(0, dtype=np.int64), 0.0, np.empty(0), np.empty((0, 0)))


def penalised_minimum(
    penalty: Penalty,
    W: np.ndarray,
    H: np.ndarray,
    slope: np.ndarray,
    w: np.ndarray,
    guess: np.ndarray,
    precision: float,
    enough: float,
    squares: float,
    factor: KeptFactor | None = None,
    send: Send | None = None,
) -> np.ndarray:
    """The minimum of quadratic and penalty over the features W, from a guess: compiled for the elastic net, and of many
    features on the device that `send` takes arrays to, if there is one."""
    v, strengths = guess[W], penalty.strengths(len(w))
    if "block step" in penalty.has:
        assert isinstance(penalty, GroupLasso)  # checked before the solver started, as is the next one
        with one_blas_thread():
            return minimise_groups(H, slope + H @ (v - w[W]), penalty.of(W), v, precision, enough, squares)
    if strengths is None:
        assert isinstance(penalty, SeparablePenalty)
        with one_blas_thread():
            return minimise_separable(H, slope + H @ (v - w[W]), penalty.of(W), v, precision)
    l1, l2, lower, upper = strengths.of(W)
    if l2.any():
        H, factor = H.copy(), None
        H.ravel()[:: len(W) + 1] += l2
    moved = v - w[W]
    slope = slope + l2 * w[W] + (H @ moved if moved.any() else 0.0)
    if send is not None and FEWEST <= len(W) <= MOST:
        strengths = Strengths(l1, np.zeros(len(W)), lower, upper)  # a ridge is in H
        return minimise_on_device(H, slope, strengths, v, precision, enough, squares, W, send)
    return minimise_quadratic(H, slope, l1, lower, upper, v, precision, enough, squares, factor=factor)

"""The minimum of F over a few columns that are in memory: Newton steps without a pass over the other data."""

from typing import NamedTuple

import numpy as np

from riata.kernels.losses import code_of
from riata.kernels.restricted import losses_of_rows, slopes_and_curved_rows
from riata.losses.loss import Loss
from riata.penalties import Strengths
from riata.solvers.convex.quadratics.quadratic import minimise_quadratic

STEPS = 30
HALVINGS = 40  # of a step: where the loss is linear its curvature does not limit the length of a step
F_ROUNDING = 1e-14  # of F: a smaller increase is rounding
LAST_GAIN = 1e-11  # of F: steps converge quadratically, so after one that gains less there is nothing left to gain
LAST_SHARE = 0.3  # of what is enough: by the same token, where the gain is what the quadratic promised,
AS_PROMISED = 0.5  # or no further from it than this share
QUADRATIC_PRECISION = 1e-12


def sum_rounding(n_rows: int) -> float:
    """The share of a sum over so many rows that rounding can make at most, in whatever order they are added."""
    return max(F_ROUNDING, n_rows * float(np.finfo(np.float64).eps))


class Derivatives(NamedTuple):
    """Of the mean loss: where there is an intercept, slopes and curvature are those at its best for every v."""

    by_b: float
    curvature: float  # in b
    by_v: np.ndarray
    mean: np.ndarray  # of the rows, weighted by their curvatures
    H: np.ndarray


class CompiledRows:
    """What Newton's method takes from the rows, by compiled loops over arrays that are kept."""

    def __init__(self, A: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: Loss, fit_intercept: bool) -> None:
        n, m = A.shape
        self.A, self.fit_intercept = A, fit_intercept
        self.fixed = code_of(loss), y, weight, loss.least_curvature
        self.u, self.D = np.empty(n), np.empty(n)
        self.slope, self.mean, self.C = np.empty(m), np.empty(m), np.empty((n, m))

    def loss_at(self, z: np.ndarray) -> float:
        code, y, weight, least_curvature = self.fixed
        loss: float = losses_of_rows(code, y, z, weight, least_curvature, self.u, self.D)
        return loss

    def derivatives(self) -> Derivatives:
        slope, mean, C = self.slope, self.mean, self.C
        by_b, curvature = slopes_and_curved_rows(self.A, self.u, self.D, self.fit_intercept, slope, mean, C)
        return Derivatives(by_b, curvature, slope - by_b * mean, mean, C.T @ C)


class ArrayRows:
    """The same by array functions, which need no compiling."""

    def __init__(self, A: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: Loss, fit_intercept: bool) -> None:
        self.A, self.y, self.weight, self.loss, self.fit_intercept = A, y, weight, loss, fit_intercept

    def loss_at(self, z: np.ndarray) -> float:
        loss, y, weight = self.loss, self.y, self.weight
        self.u = weight * loss.derivative(y, z)
        self.D = weight * np.maximum(loss.second_derivative(y, z), loss.least_curvature)
        return float(weight @ loss.value(y, z))

    def derivatives(self) -> Derivatives:
        A, by_b, curvature = self.A, float(self.u.sum()), float(self.D.sum())
        centred = self.fit_intercept and curvature > 0.0
        # sums over rows and no products: of copies of a column they are the same to the last bit
        mean = (self.D[:, None] * A).sum(axis=0) / curvature if centred else np.zeros(A.shape[1])
        slope = (self.u[:, None] * A).sum(axis=0)
        C = np.sqrt(self.D)[:, None] * (A - mean)
        return Derivatives(by_b, curvature, slope - by_b * mean, mean, C.T @ C)


def minimise_loss(
    A: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Loss,
    strengths: Strengths,
    fit_intercept: bool,
    v: np.ndarray,
    b: float,
    enough: float = 0.0,
    compiled: bool = True,
) -> tuple[np.ndarray, float]:
    """(v, b) at the minimum over the columns of A, from a start within the bounds.

    F = sum_i s_i loss(y_i, a_i . v + b) / sum(s) + sum_j l1_j |v_j| + l2_j / 2 v_j^2

    It ends where a further step would hardly gain anything, or much less than `enough`.
    """
    l1, l2, lower, upper = strengths
    rounding = sum_rounding(len(A))
    has_l2 = bool(l2.any())
    rows = (CompiledRows if compiled else ArrayRows)(A, y, weight / weight.sum(), loss, fit_intercept)

    def objective(z: np.ndarray, v: np.ndarray) -> float:
        """F; the rows keep their derivatives at z."""
        return float(rows.loss_at(z) + np.abs(v) @ l1 + (0.5 * (v * v) @ l2 if has_l2 else 0.0))

    z = A @ v + b
    F = objective(z, v)
    as_promised = False
    for _ in range(STEPS):
        by_b, curvature, by_v, mean, H = rows.derivatives()
        if has_l2:
            H.ravel()[:: len(v) + 1] += l2
            by_v += l2 * v
        v_far = minimise_quadratic(H, by_v, l1, lower, upper, v, QUADRATIC_PRECISION)
        v_step = v_far - v
        b_step = -by_b / curvature - mean @ v_step if fit_intercept and curvature > 0.0 else 0.0
        z_step, share = A @ v_step + b_step, 1.0
        for _ in range(HALVINGS):
            v_new, z_new = v_far if share == 1.0 else v + share * v_step, z + share * z_step
            F_new = objective(z_new, v_new)
            if F_new <= F + rounding * abs(F):
                break
            share *= 0.5
        else:
            break
        gain = F - F_new
        if enough:
            promised = -v_step @ (by_v + 0.5 * (H @ v_step)) + (np.abs(v) - np.abs(v_far)) @ l1
            promised += 0.5 * by_b * by_b / curvature if fit_intercept and curvature > 0.0 else 0.0
            as_promised = abs(gain - promised) <= AS_PROMISED * promised
        F, v, b, z = F_new, v_new, b + share * b_step, z_new
        if gain <= max(LAST_GAIN * F, LAST_SHARE * enough if as_promised else 0.0):
            break
    return v, b

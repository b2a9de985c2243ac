"""The minimum of F over a few columns that are in memory: Newton steps without a pass over the other data."""

import numpy as np

from riata.kernels.losses import code_of
from riata.kernels.restricted import losses_of_rows, slopes_and_curved_rows
from riata.losses.loss import Loss
from riata.penalties import Strengths
from riata.solvers.convex.quadratic import minimise_quadratic

STEPS = 30
HALVINGS = 40  # of a step: where the loss is linear its curvature does not limit the length of a step
F_ROUNDING = 1e-14  # of F: a smaller increase is rounding
LAST_GAIN = 1e-11  # of F: steps converge quadratically, so after one that gains less there is nothing left to gain
LAST_SHARE = 0.3  # of what is enough: by the same token
QUADRATIC_PRECISION = 1e-12


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
) -> tuple[np.ndarray, float]:
    """(v, b) at the minimum over the columns of A, from a start within the bounds.

    F = sum_i s_i loss(y_i, a_i . v + b) / sum(s) + sum_j l1_j |v_j| + l2_j / 2 v_j^2

    It ends where a further step would hardly gain anything, or much less than `enough`.
    """
    l1, l2, lower, upper = strengths
    has_l2 = bool(l2.any())
    code, least_curvature = code_of(loss), loss.least_curvature
    weight = weight / weight.sum()
    u, D, slope, mean, C = np.empty(len(y)), np.empty(len(y)), np.empty(len(v)), np.empty(len(v)), np.empty(A.shape)

    def objective(z: np.ndarray, v: np.ndarray) -> float:
        """F; sets u and D to the first and second derivatives of the rows' losses."""
        losses = losses_of_rows(code, y, z, weight, least_curvature, u, D)
        return float(losses + np.abs(v) @ l1 + (0.5 * (v * v) @ l2 if has_l2 else 0.0))

    z = A @ v + b
    F = objective(z, v)
    for _ in range(STEPS):
        by_b, curvature = slopes_and_curved_rows(A, u, D, fit_intercept, slope, mean, C)
        H, by_v = C.T @ C, slope - by_b * mean
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
            if F_new <= F + F_ROUNDING * abs(F):
                break
            share *= 0.5
        else:
            break
        F, gain, v, b, z = F_new, F - F_new, v_new, b + share * b_step, z_new
        if gain <= max(LAST_GAIN * F, LAST_SHARE * enough):
            break
    return v, b

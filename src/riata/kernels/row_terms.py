"""What Newton steps ask of rows whose margins are known, in one loop over them."""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import LOGISTIC, Coded, is_logistic, value, value_and_both_derivatives
from riata.kernels.rows import FAST


@compiled(nogil=True)
def quadratic_of_rows(
    loss: Coded,
    y: np.ndarray,
    weight: np.ndarray,
    z: np.ndarray,
    least: float,
    furthest: float,
    u: np.ndarray,
    D: np.ndarray,
) -> float:
    """Write weighted slopes and curvatures of all rows, and return their weighted loss.

    No curvature is less than `least`, nor than that of a step `furthest` times as far as to where a parabola of this
    slope would have no loss.
    """
    if is_logistic(loss):
        return _quadratic_of_rows(LOGISTIC, y, weight, z, least, furthest, u, D)
    return _quadratic_of_rows(loss, y, weight, z, least, furthest, u, D)


@compiled(nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def _quadratic_of_rows(
    loss: Coded,
    y: np.ndarray,
    weight: np.ndarray,
    z: np.ndarray,
    least: float,
    furthest: float,
    u: np.ndarray,
    D: np.ndarray,
) -> float:
    total = 0.0
    for i in range(z.shape[0]):
        cost, slope, curvature = value_and_both_derivatives(loss, y[i], z[i])
        curvature = max(curvature, least)
        if cost > 0.0:
            curvature = max(curvature, slope * slope / (2.0 * cost * furthest))
        total += weight[i] * cost
        u[i], D[i] = weight[i] * slope, weight[i] * curvature
    return total


@compiled(nogil=True)
def loss_along(loss: Coded, y: np.ndarray, weight: np.ndarray, z: np.ndarray, step: np.ndarray, share: float) -> float:
    """The weighted loss of rows whose margins are a share of a step from z."""
    if is_logistic(loss):
        return _loss_along(LOGISTIC, y, weight, z, step, share)
    return _loss_along(loss, y, weight, z, step, share)


@compiled(nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def _loss_along(loss: Coded, y: np.ndarray, weight: np.ndarray, z: np.ndarray, step: np.ndarray, share: float) -> float:
    total = 0.0
    for i in range(z.shape[0]):
        total += weight[i] * value(loss, y[i], z[i] + share * step[i])
    return total

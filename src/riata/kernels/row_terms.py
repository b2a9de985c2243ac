"""What Newton steps ask of rows whose margins are known, in one loop over them."""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import Coded, second_derivative, value, value_and_derivative
from riata.kernels.rows import FAST


@compiled(nogil=True, fastmath=FAST)
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
    total = 0.0
    for i in range(z.shape[0]):
        cost, slope = value_and_derivative(loss, y[i], z[i])
        curvature = max(second_derivative(loss, y[i], z[i]), least)
        if cost > 0.0:
            curvature = max(curvature, slope * slope / (2.0 * cost * furthest))
        total += weight[i] * cost
        u[i], D[i] = weight[i] * slope, weight[i] * curvature
    return total


@compiled(nogil=True, fastmath=FAST)
def loss_along(loss: Coded, y: np.ndarray, weight: np.ndarray, z: np.ndarray, step: np.ndarray, share: float) -> float:
    """The weighted loss of rows whose margins are a share of a step from z."""
    total = 0.0
    for i in range(z.shape[0]):
        total += weight[i] * value(loss, y[i], z[i] + share * step[i])
    return total

"""What Newton's method on the columns of a working set takes from the rows; `solvers.convex.restricted` is the rest.

Results are written to arrays that the caller keeps: to return one costs as much as a small step.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import LOGISTIC, Coded, is_logistic, value_and_both_derivatives
from riata.kernels.rows import FAST


@compiled(interpretable=True, nogil=True)
def losses_of_rows(
    loss: Coded, y: np.ndarray, z: np.ndarray, weight: np.ndarray, least_curvature: float, u: np.ndarray, D: np.ndarray
) -> float:
    """sum_i s_i loss; of every row s loss' into u and s loss'' into D."""
    if is_logistic(loss):
        return _losses_of_rows(LOGISTIC, y, z, weight, least_curvature, u, D)
    return _losses_of_rows(loss, y, z, weight, least_curvature, u, D)


@compiled(nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def _losses_of_rows(
    loss: Coded, y: np.ndarray, z: np.ndarray, weight: np.ndarray, least_curvature: float, u: np.ndarray, D: np.ndarray
) -> float:
    total = 0.0
    for i in range(z.shape[0]):
        value, slope, curvature = value_and_both_derivatives(loss, y[i], z[i])
        total += weight[i] * value
        u[i] = weight[i] * slope
        D[i] = weight[i] * max(curvature, least_curvature)
    return total


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def slopes_and_curved_rows(
    A: np.ndarray, u: np.ndarray, D: np.ndarray, centre: bool, slope: np.ndarray, mean: np.ndarray, C: np.ndarray
) -> tuple[float, float]:
    """(sum u, sum D); sum u a, the mean of a weighted by D, and rows C whose products are the curvature of F.

    Without an intercept nothing is taken off the rows: `centre` is False, and the mean is 0.
    """
    n, m = A.shape
    by_b = curvature = 0.0
    for j in range(m):
        slope[j] = mean[j] = 0.0
    for i in range(n):
        row, ui, Di = A[i], u[i], D[i]
        by_b += ui
        curvature += Di
        for j in range(m):
            slope[j] += ui * row[j]
            mean[j] += Di * row[j]
    for j in range(m):
        mean[j] = mean[j] / curvature if centre and curvature > 0.0 else 0.0
    for i in range(n):
        row, root = A[i], math.sqrt(D[i])
        for j in range(m):
            C[i, j] = root * (row[j] - mean[j])
    return by_b, curvature

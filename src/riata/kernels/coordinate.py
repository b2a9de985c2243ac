"""One cyclic pass of coordinate descent over columns held in memory.

Columns are the rows of the transposed matrix, so the layouts of `kernels.rows` serve. A coordinate minimises its
quadratic bound of curvature L_j = curvature * sum_i s_i x_ij^2 / sum(s), which is the loss itself when it is squared.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import derivative
from riata.kernels.rows import FAST, Rows, axpy, entries


class Coordinates(NamedTuple):
    """What a pass knows of every column."""

    curvatures: np.ndarray
    means: np.ndarray  # a weight moves along its column less this, which the intercept takes up
    l1: np.ndarray
    l2: np.ndarray


@compiled(fastmath=FAST)
def slope(
    features: np.ndarray | None,
    values: np.ndarray,
    loss: int,
    y: np.ndarray,
    z: np.ndarray,
    b: float,
    weight: np.ndarray,
) -> float:
    """sum_i weight_i x_ij loss'(y_i, z_i + b) for one column."""
    total = 0.0
    for p in range(values.shape[0]):
        i = p if features is None else features[p]
        total += values[p] * weight[i] * derivative(loss, y[i], z[i] + b)
    return total


@compiled()
def coordinate_pass(
    columns: Rows,
    coordinates: Coordinates,
    loss: int,
    y: np.ndarray,
    weight: np.ndarray,
    w: np.ndarray,
    z: np.ndarray,
    b: float,
) -> float:
    """One cyclic pass; updates w and z = X w in place, returns b. `weight` sums to one."""
    curvatures, means, l1, l2 = coordinates
    for j in range(w.shape[0]):
        if curvatures[j] == 0.0:
            continue
        features, values = entries(columns, j)
        centre = curvatures[j] * w[j] - slope(features, values, loss, y, z, b, weight)
        new = np.sign(centre) * max(abs(centre) - l1[j], 0.0) / (curvatures[j] + l2[j])
        if new != w[j]:
            axpy(new - w[j], features, values, columns.shrink, z)
            b -= (new - w[j]) * means[j]
            w[j] = new
    return b

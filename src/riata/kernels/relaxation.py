"""Coordinate descent for a quadratic with the reverse Huber penalty, for `riata.solvers.subset.relaxation`."""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST


@compiled(interpretable=True, fastmath=FAST, nogil=True)
def descend(
    G: np.ndarray,
    ridge: np.ndarray,
    limit: np.ndarray,
    slope: np.ndarray,
    width: np.ndarray,
    least: float,
    sweeps: int,
    w: np.ndarray,
    r: np.ndarray,
) -> None:
    """Sweeps over the coordinates of w'Gw / 2 - c'w + penalty(w), until none of them lowers it by `least`.

    A coefficient pays slope |w_j| up to width_j, ridge_j w_j^2 / 2 and a constant beyond; |w_j| <= limit_j. w and
    r = c - G w change.
    """
    for _ in range(sweeps):
        largest = 0.0
        for j in range(w.shape[0]):
            if w[j] == 0.0 and abs(r[j]) <= slope[j]:
                continue
            curvature = max(G[j, j], 1e-12)  # columns are of unit norm; a diagonal shift may leave nothing of one
            pull = r[j] + curvature * w[j]
            size = abs(pull)
            if size - slope[j] > width[j] * curvature:
                new = size / (curvature + ridge[j])
            else:
                new = max(size - slope[j], 0.0) / curvature
            step = (min(new, limit[j]) if pull > 0.0 else -min(new, limit[j])) - w[j]
            if step != 0.0:
                row = G[j]
                for k in range(w.shape[0]):
                    r[k] -= step * row[k]
                w[j] += step
                largest = max(largest, curvature * step * step)
        if largest <= least:
            break

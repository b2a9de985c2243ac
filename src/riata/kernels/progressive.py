"""Sums over rows that were predicted before they were learnt, in one sweep."""

import math

import numpy as np

from riata.kernels.compiled import compiled


@compiled(nogil=True)
def add_scores(
    y: np.ndarray, z: np.ndarray, weight: np.ndarray, widest: float, weights: np.ndarray
) -> tuple[float, float]:
    """The weighted sums of the log losses and of the probabilities of rows with targets -1 and +1 and these log odds.

    Adds their weights to `weights`, of negative rows and of positive ones, by bins of log odds from -widest to widest.
    """
    loss, predicted, n_bins = 0.0, 0.0, weights.shape[1]
    per_unit, last = n_bins / (2.0 * widest), n_bins - 1.0
    for i in range(len(y)):
        e = math.exp(-abs(z[i]))
        loss += weight[i] * (max(-y[i] * z[i], 0.0) + math.log1p(e))
        predicted += weight[i] * ((1.0 if z[i] >= 0.0 else e) / (1.0 + e))
        place = min(max((z[i] + widest) * per_unit, 0.0), last)
        weights[int(y[i] > 0.0), int(place) if place == place else 0] += weight[i]
    return loss, predicted

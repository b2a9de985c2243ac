"""The two halves of a stochastic step that all sweeps share: the slopes of its rows, and the move along them."""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import Coded, derivative
from riata.kernels.rows import Rows, axpy, dot, entries, norm2


class Steps(NamedTuple):
    """A run of steps over rows of one chunk, as all sweeps take it; they unpack it first."""

    rows: Rows
    y: np.ndarray
    weight: np.ndarray
    visits: np.ndarray  # rows, `batch` of them a step
    batch: int
    loss: Coded
    etas: np.ndarray
    safe: float  # the loss's curvature if steps are divided by it along the largest row so far; 0 if not
    margins: np.ndarray  # gets that of each visited row before it is learnt


@compiled()
def slopes_of(
    rows: Rows,
    members: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Coded,
    w: np.ndarray,
    b: float,
    slopes: np.ndarray,
    margins: np.ndarray,
) -> float:
    """Each row's share of the mean slope in its margin, into `slopes`, and the margin; returns the sum of slopes."""
    shrink = rows.shrink
    total = 0.0
    for r, i in enumerate(members):
        features, values = entries(rows, i)
        z = dot(features, values, shrink, w) + b
        margins[r] = z
        slopes[r] = weight[i] * derivative(loss, y[i], z) / members.shape[0]
        total += slopes[r]
    return total


@compiled()
def safe_step(
    rows: Rows, members: np.ndarray, weight: np.ndarray, learn_b: float, curvature: float, eta: float, largest: float
) -> tuple[float, float]:
    """eta over the curvature along the largest row so far, and that row's squared norm; eta itself if there is none."""
    if curvature == 0.0:
        return eta, largest
    shrink = rows.shrink
    for i in members:
        features, values = entries(rows, i)
        largest = max(largest, weight[i] * (norm2(features, values, shrink) + learn_b))
    return (eta / (curvature * largest) if largest > 0.0 else eta), largest


@compiled()
def descend(rows: Rows, members: np.ndarray, eta: float, slopes: np.ndarray, w: np.ndarray) -> None:
    """w -= eta times the slope, row by row."""
    shrink = rows.shrink
    for r, i in enumerate(members):
        features, values = entries(rows, i)
        axpy(-eta * slopes[r], features, values, shrink, w)

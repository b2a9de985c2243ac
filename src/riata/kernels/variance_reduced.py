"""Steps of reduced variance on the rows of a chunk, at the cost of a row's non-zeros.

A step moves along a (u - u_then) + mean, where u_then is the slope of this row that went into the mean slope of all
rows. A feature that a row does not hold moves by its mean slope alone, which nobody changes before a row holds the
feature again, so many such steps are one (`drift`).
"""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import Coded, derivative
from riata.kernels.rows import Rows, axpy, dot, entries


class RowSteps(NamedTuple):
    """A run of steps of one row and one length each over rows of a chunk; sweeps unpack it first."""

    rows: Rows
    y: np.ndarray
    weight: np.ndarray
    visits: np.ndarray
    loss: Coded
    eta: float
    l1: float
    learn_b: float


@compiled(inline="always")
def soft(v: float, threshold: float) -> float:
    """v moved towards zero by `threshold`, and no further than zero."""
    return math.copysign(max(abs(v) - threshold, 0.0), v)


@compiled()
def drift(w: float, steps: int, eta: float, mean: float, l1: float) -> float:
    """So many steps w <- soft(w - eta mean, eta l1) at once: on each side of zero they are all of one length."""
    while steps > 0:
        if w == 0.0 and abs(mean) <= l1:
            return 0.0
        side = 1.0 if w > 0.0 or (w == 0.0 and mean < 0.0) else -1.0
        fall = eta * (side * mean + l1)
        if fall <= 0.0:
            return w - side * steps * fall
        whole = int(min(abs(w) / fall, steps))
        w -= side * whole * fall
        steps -= whole
        if steps > 0:  # this one may cross zero
            w = soft(w - eta * mean, eta * l1)
            steps -= 1
    return w


@compiled()
def settle(
    features: np.ndarray | None, now: int, eta: float, l1: float, mean: np.ndarray, w: np.ndarray, last: np.ndarray
) -> None:
    """Make the steps last_j .. now for some features (None: all)."""
    for p in range(w.shape[0] if features is None else features.shape[0]):
        j = p if features is None else features[p]
        w[j] = drift(w[j], now - last[j], eta, mean[j], l1)
        last[j] = now


@compiled()
def step(
    features: np.ndarray | None,
    values: np.ndarray,
    shrink: np.ndarray,
    now: int,
    eta: float,
    l1: float,
    change: float,
    mean: np.ndarray,
    w: np.ndarray,
    last: np.ndarray,
) -> None:
    """The step of the features that the row holds, whose slope has changed by `change`."""
    for p in range(values.shape[0]):
        j = p if features is None else features[p]
        w[j] = soft(w[j] - eta * (change * values[p] * shrink[j] + mean[j]), eta * l1)
        last[j] = now


@compiled()
def svrg_sweep(
    steps: RowSteps, anchor: np.ndarray, anchor_b: float, mean: np.ndarray, mean_b: float, w: np.ndarray, b: float
) -> float:
    """Steps over `visits` with the slopes at the anchor as reference, updating w in place; returns b."""
    rows, y, weight, visits, loss, eta, l1, learn_b = steps
    last = np.zeros(w.shape[0], dtype=np.int64)
    shrink = rows.shrink
    for t in range(visits.shape[0]):
        i = visits[t]
        features, values = entries(rows, i)
        settle(features, t, eta, l1, mean, w, last)
        then = derivative(loss, y[i], dot(features, values, shrink, anchor) + anchor_b)
        change = weight[i] * (derivative(loss, y[i], dot(features, values, shrink, w) + b) - then)
        step(features, values, shrink, t + 1, eta, l1, change, mean, w, last)
        b -= learn_b * eta * (change + mean_b)
    settle(None, visits.shape[0], eta, l1, mean, w, last)
    return b


@compiled()
def saga_sweep(
    steps: RowSteps, share: float, slopes: np.ndarray, mean: np.ndarray, mean_b: float, w: np.ndarray, b: float
) -> tuple[float, float]:
    """Steps over `visits` with each row's last slope as reference, updating slopes, mean and w in place.

    `share` is one over the number of all rows. Returns mean_b and b.
    """
    rows, y, weight, visits, loss, eta, l1, learn_b = steps
    last = np.zeros(w.shape[0], dtype=np.int64)
    shrink = rows.shrink
    for t in range(visits.shape[0]):
        i = visits[t]
        features, values = entries(rows, i)
        settle(features, t, eta, l1, mean, w, last)
        slope = weight[i] * derivative(loss, y[i], dot(features, values, shrink, w) + b)
        change = slope - slopes[i]
        slopes[i] = slope
        step(features, values, shrink, t + 1, eta, l1, change, mean, w, last)
        b -= learn_b * eta * (change + mean_b)
        axpy(share * change, features, values, shrink, mean)
        mean_b += share * change
    settle(None, visits.shape[0], eta, l1, mean, w, last)
    return mean_b, b

"""The sweep of solver 'online' where rows have a margin for each of several classes: softmax.

Every class has what `kernels.online` keeps for a margin, in a row of its own, and lanes go together: the slopes of a
class in a lane are its probability there, by the margins of all classes in that lane, less 1 for the class of the row.
"""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.online import EMPTY, LANES, REPEATS, Predicted, first_row, learn_intercepts, learn_row, predict_row
from riata.kernels.rows import Rows, entries


class OutputSettings(NamedTuple):
    """What a sweep is told."""

    curvature: float
    learn_b: bool
    alpha: float
    standardize: float
    distinct: float  # rows' weight after which they come again


class OutputMemory(NamedTuple):
    """What a sweep remembers; the first axis is that of classes, but of the first two, `total` and `losses`."""

    noise: np.ndarray
    stiffness: np.ndarray
    block: np.ndarray
    b_z: np.ndarray
    b_hold: np.ndarray
    b: np.ndarray
    slope_squares: np.ndarray
    total: np.ndarray
    losses: np.ndarray


@compiled(nogil=True)
def judge_outputs(
    target: int,
    weight: float,
    T: float,
    new: bool,
    margin: np.ndarray,
    slopes: np.ndarray,
    slope_squares: np.ndarray,
    losses: np.ndarray,
) -> None:
    """Slopes of all classes in all lanes and in the empty model, and the losses of these if the row is new.

    In its first steps a model may overshoot: slopes are no larger than those of the empty model, and as those usually
    are.
    """
    for g in range(LANES + 1):
        top = margin[0, g]
        for k in range(1, margin.shape[0]):
            top = max(top, margin[k, g])
        total = 0.0
        for k in range(margin.shape[0]):
            slopes[k, g] = math.exp(margin[k, g] - top)
            total += slopes[k, g]
        for k in range(margin.shape[0]):
            slopes[k, g] = slopes[k, g] / total - (1.0 if k == target else 0.0)
        if new:
            losses[g] += weight * (math.log(total) + top - margin[target, g])
    if new:
        losses[LANES + 1] += weight
    for k in range(margin.shape[0]):
        cap = abs(slopes[k, EMPTY]) + math.sqrt(slope_squares[k, EMPTY] / max(T, 1e-300))
        for g in range(LANES + 1):
            slopes[k, g] = weight * min(max(slopes[k, g], -cap), cap)
            slope_squares[k, g] += slopes[k, g] * slopes[k, g]


@compiled(nogil=True)
def online_outputs_sweep(
    rows: Rows,
    plain: bool,
    y: np.ndarray,
    weight: np.ndarray,
    visits: np.ndarray,
    settings: OutputSettings,
    memory: OutputMemory,
    margins: np.ndarray,
) -> None:
    """Learn from `visits`, updating the memory in place; `margins` gets each row's before it is learnt."""
    curvature, learn_b, alpha, standardize, distinct = settings
    noise, stiffness, block, b_z, b_hold, b, slope_squares, total, losses = memory
    n_classes, width = block.shape[0], 1
    for i in visits:
        features, values = entries(rows, i)
        width = max(width, values.shape[0])
    x, variance, hold, work = (
        np.empty((n_classes, width)), np.empty((n_classes, width)), np.empty((n_classes, width + 3)),
        np.empty(width + 3),
    )  # fmt: skip
    places, n_places = np.empty((n_classes, width), np.int64), np.empty(n_classes, np.int64)
    v = np.empty((n_classes, width, LANES))
    sums, level, origin = np.empty((n_classes, LANES)), np.empty(LANES), np.zeros(1)
    slopes, margin, shrink = np.empty((n_classes, LANES + 1)), np.empty((n_classes, LANES + 1)), rows.shrink
    for t in range(visits.shape[0]):
        i = visits[t]
        features, values = entries(rows, i)
        T = total[0]
        stretch = 1.0 if T <= distinct else (T / distinct) ** REPEATS
        flat = T * alpha * (1.0 - standardize)
        for k in range(n_classes):
            if T == 0.0 and learn_b:
                first_row(features, values, shrink, 0.0, False, block[k], origin)
            for g in range(LANES):
                level[g] = noise[g] * math.sqrt(slope_squares[k, g]) * stretch + T * alpha * standardize
            row = Predicted(x[k], variance[k], places[k], hold[k], work, v[k], sums[k])
            n_places[k] = predict_row(features, values, shrink, plain, weight[i], T, level, flat, block[k], row)
            for g in range(LANES + 1):
                margin[k, g] = b[k, g] + (sums[k, g] / (stiffness[g] * curvature) if g < LANES else 0.0)
                margins[t, k, g] = margin[k, g]
        total[0] = T + weight[i]
        judge_outputs(int(y[i]), weight[i], T, T < distinct, margin, slopes, slope_squares, losses)
        for k in range(n_classes):
            rest = math.sqrt(slope_squares[k, EMPTY] / total[0])
            if rest <= 0.0:
                continue
            square = 0.0
            for g in range(LANES):
                square += slopes[k, g] * slopes[k, g] / LANES
            row = Predicted(x[k], variance[k], places[k], hold[k], work, v[k], sums[k])
            learn_row(features, slopes[k], square / (rest * rest), block[k], row, values.shape[0], n_places[k])
            if learn_b:
                learn_intercepts(slopes[k], rest, curvature, False, b_z[k], b_hold[k], b[k])

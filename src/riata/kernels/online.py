"""The sweep of solver 'online': scale-free FTRL-Proximal, LANES settings side by side over the same rows.

Per feature j and lane, with u the slope of the loss on a row, s_j the running standard deviation of column j, T the
weight of the rows so far, and `rest` the root mean square of the slopes of the empty model:

    hold_j' = sqrt(hold_j^2 + (s_j u x_j stiffness / rest)^2),      z_j += u x_j - (hold_j' - hold_j) w_j,
    w_j = -soft(z_j, s_j level + flat) / (s_j^2 stiffness + hold_j),    level = noise sqrt(sum of u^2) + alpha T.

Everything is homogeneous in x_j: a column in other units gives the same margins, bit for bit when the factor is a power
of two. On dense rows x_j is counted from the first row's value, so a constant added to a column changes nothing either.
"""

import math

import numpy as np
from numba import njit

from riata.kernels.losses import derivative, value
from riata.kernels.rows import FAST, entries

LANES = 4
EMPTY = LANES  # the place of the model without features in arrays over lanes
REPEATS = 0.4  # 0.5 would take rows met again for no evidence at all, 0 for as much as new ones
CONSTANT = 1e-12  # a column whose variance is this share of its mean square does not vary


@njit(cache=True, fastmath=FAST)
def predict_row(
    features, values, shrink, shift, weight, total, level, flat, stiffness, z, hold, sums, squares, deviation, w, margin
):
    """Count a row into the moments, work out the weights of its features and add them to the margins of all lanes."""
    share = 1.0 / (total + weight)
    for p in range(values.shape[0]):
        j = p if features is None else features[p]
        x = values[p] * shrink[j] - shift[j]
        sums[j] += weight * x
        squares[j] += weight * x * x
        mean, square = sums[j] * share, squares[j] * share
        variance = square - mean * mean
        if variance <= CONSTANT * square:
            deviation[p] = 0.0
            continue
        s = math.sqrt(variance)
        deviation[p] = s
        for g in range(LANES):
            left = max(abs(z[j, g]) - s * level[g] - flat, 0.0)
            v = -math.copysign(left, z[j, g]) / (variance * stiffness[g] + hold[j, g])
            w[p, g] = v
            margin[g] += v * x


@njit(cache=True, fastmath=FAST)
def learn_row(features, values, shrink, shift, slopes, pushes, z, hold, deviation, w):
    """Add the slopes of a row to the memory of its features."""
    for p in range(values.shape[0]):
        s = deviation[p]
        if s == 0.0:
            continue
        j = p if features is None else features[p]
        x = values[p] * shrink[j] - shift[j]
        for g in range(LANES):
            before = hold[j, g]
            push = s * x * pushes[g]
            after = math.sqrt(before * before + push * push)
            hold[j, g] = after
            z[j, g] += slopes[g] * x - (after - before) * w[p, g]


@njit(cache=True)
def first_row(features, values, shrink, y, relative, shift, origin):
    """Dense columns, and a target of which only differences matter, are counted from the first row."""
    if features is None:
        for j in range(values.shape[0]):
            shift[j] = values[j] * shrink[j]
    if relative:
        origin[0] = y


@njit(cache=True)
def online_sweep(
    rows, y, weight, visits, loss, curvature, relative, learn_b, alpha, standardize, distinct, noise, stiffness,
    z, hold, sums, squares, shift, origin, b_z, b_hold, b, slope_squares, total, losses, margins,
):  # fmt: skip
    """Learn from `visits`, updating the arrays from z on in place; `margins` gets each row's before it is learnt.

    `losses` sums the losses of the lanes, of the empty model and the weights, over rows that are new (T < distinct).
    """
    width = 1
    for i in visits:
        features, values = entries(rows, i)
        width = max(width, values.shape[0])
    deviation, w = np.empty(width), np.zeros((width, LANES))
    slopes, level, pushes = np.empty(LANES + 1), np.empty(LANES), np.empty(LANES)
    shrink = rows.shrink
    for t in range(visits.shape[0]):
        i = visits[t]
        features, values = entries(rows, i)
        T = total[0]
        if T == 0.0 and learn_b > 0.0:  # without an intercept zero means zero
            first_row(features, values, shrink, y[i], relative, shift, origin)
        stretch = max(T / distinct, 1.0) ** REPEATS
        margin = margins[t]
        for g in range(LANES):
            level[g] = noise[g] * math.sqrt(slope_squares[g]) * stretch + T * alpha * standardize
        for g in range(LANES + 1):
            margin[g] = origin[0] + b[g]
        predict_row(
            features, values, shrink, shift, weight[i], T, level, T * alpha * (1.0 - standardize), stiffness,
            z, hold, sums, squares, deviation, w, margin,
        )  # fmt: skip
        # In its first steps a model may overshoot: it must not learn from its own excess.
        cap = abs(derivative(loss, y[i], margin[EMPTY])) + math.sqrt(slope_squares[EMPTY] / max(T, 1e-300))
        for g in range(LANES + 1):
            if T < distinct:
                losses[g] += weight[i] * value(loss, y[i], margin[g])
            slopes[g] = weight[i] * min(max(derivative(loss, y[i], margin[g]), -cap), cap)
            slope_squares[g] += slopes[g] * slopes[g]
        if T < distinct:
            losses[LANES + 1] += weight[i]
        total[0] = T + weight[i]
        rest = math.sqrt(slope_squares[EMPTY] / total[0])
        if rest == 0.0:
            continue
        for g in range(LANES):
            pushes[g] = slopes[g] * stiffness[g] / rest
        learn_row(features, values, shrink, shift, slopes, pushes, z, hold, deviation, w)
        for g in range(LANES + 1):
            after = math.hypot(b_hold[g], learn_b * slopes[g] * curvature / rest)
            b_z[g] += slopes[g] - (after - b_hold[g]) * b[g]
            b_hold[g] = after
            b[g] = -learn_b * b_z[g] / (curvature + after)

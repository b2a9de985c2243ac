"""The sweep of solver 'online': scale-free FTRL-Proximal, LANES settings side by side over the same rows.

Per feature j and lane, with u the slope of the loss on a row, s_j the running standard deviation of column j, T the
weight of the rows so far, and `rest` the root mean square of the slopes of the empty model:

    hold_j' = sqrt(hold_j^2 + (s_j u x_j stiffness / rest)^2),      z_j += u x_j - (hold_j' - hold_j) w_j,
    w_j = -soft(z_j, s_j level + flat) / (s_j^2 stiffness + hold_j),    level = noise sqrt(sum of u^2) + alpha T.

Everything is homogeneous in x_j: a column in other units gives the same margins, bit for bit when the factor is a power
of two. On dense rows x_j is counted from the first row's value, so a constant added to a column changes nothing either.
All numbers of a feature lie side by side in a row of `block`.
"""

import math

import numpy as np
from numba import njit

from riata.kernels.losses import derivative, value
from riata.kernels.rows import FAST, entries

LANES = 4
WIDTH = 12  # numbers of a feature: z and hold of every lane, then these three, and one that rounds it up
SUMS, SQUARES, SHIFT = 8, 9, 10
EMPTY = LANES  # the place of the model without features in arrays over lanes
REPEATS = 0.4  # 0.5 would take rows met again for no evidence at all, 0 for as much as new ones
CONSTANT = 1e-12  # a column whose variance is this share of its mean square does not vary


@njit(cache=True, inline="always")
def weight_of(z, level, divisor):
    """-soft(z, level) / divisor"""
    return -math.copysign(max(abs(z) - level, 0.0), z) / divisor


# The lanes are written out in the next two, all that is read before all that is written: vector instructions are made
# of that, and not of a loop.
@njit(cache=True, fastmath=FAST)
def predict_row(
    features, values, shrink, plain, weight, total, level, flat, stiffness, block, deviation, w, margin
):  # fmt: skip
    """Count a row into the moments, work out the weights of its features and add them to the margins of all lanes."""
    share = 1.0 / (total + weight)
    level0, level1, level2, level3 = level[0], level[1], level[2], level[3]
    stiff0, stiff1, stiff2, stiff3 = stiffness[0], stiffness[1], stiffness[2], stiffness[3]
    sum0 = sum1 = sum2 = sum3 = 0.0
    for p in range(values.shape[0]):
        j = p if features is None else features[p]
        x = (values[p] if plain else values[p] * shrink[j]) - block[j, SHIFT]
        sums = block[j, SUMS] + weight * x
        squares = block[j, SQUARES] + weight * x * x
        block[j, SUMS] = sums
        block[j, SQUARES] = squares
        mean, square = sums * share, squares * share
        variance = square - mean * mean
        if variance <= CONSTANT * square:
            deviation[p] = 0.0
            continue
        s = math.sqrt(variance)
        deviation[p] = s
        v0 = weight_of(block[j, 0], s * level0 + flat, variance * stiff0 + block[j, 4])
        v1 = weight_of(block[j, 1], s * level1 + flat, variance * stiff1 + block[j, 5])
        v2 = weight_of(block[j, 2], s * level2 + flat, variance * stiff2 + block[j, 6])
        v3 = weight_of(block[j, 3], s * level3 + flat, variance * stiff3 + block[j, 7])
        w[p, 0], w[p, 1], w[p, 2], w[p, 3] = v0, v1, v2, v3
        sum0, sum1, sum2, sum3 = sum0 + v0 * x, sum1 + v1 * x, sum2 + v2 * x, sum3 + v3 * x
    margin[0] += sum0
    margin[1] += sum1
    margin[2] += sum2
    margin[3] += sum3


@njit(cache=True, fastmath=FAST)
def learn_row(features, values, shrink, plain, slopes, pushes, block, deviation, w):
    """Add the slopes of a row to the memory of its features."""
    slope0, slope1, slope2, slope3 = slopes[0], slopes[1], slopes[2], slopes[3]
    push0, push1, push2, push3 = pushes[0], pushes[1], pushes[2], pushes[3]
    for p in range(values.shape[0]):
        s = deviation[p]
        if s == 0.0:
            continue
        j = p if features is None else features[p]
        x = (values[p] if plain else values[p] * shrink[j]) - block[j, SHIFT]
        sx2 = s * x * s * x
        before0, before1, before2, before3 = block[j, 4], block[j, 5], block[j, 6], block[j, 7]
        after0 = math.sqrt(before0 * before0 + sx2 * push0 * push0)
        after1 = math.sqrt(before1 * before1 + sx2 * push1 * push1)
        after2 = math.sqrt(before2 * before2 + sx2 * push2 * push2)
        after3 = math.sqrt(before3 * before3 + sx2 * push3 * push3)
        z0 = block[j, 0] + slope0 * x - (after0 - before0) * w[p, 0]
        z1 = block[j, 1] + slope1 * x - (after1 - before1) * w[p, 1]
        z2 = block[j, 2] + slope2 * x - (after2 - before2) * w[p, 2]
        z3 = block[j, 3] + slope3 * x - (after3 - before3) * w[p, 3]
        block[j, 0], block[j, 1], block[j, 2], block[j, 3] = z0, z1, z2, z3
        block[j, 4], block[j, 5], block[j, 6], block[j, 7] = after0, after1, after2, after3


@njit(cache=True)
def first_row(features, values, shrink, y, relative, block, origin):
    """Dense columns, and a target of which only differences matter, are counted from the first row."""
    if features is None:
        for j in range(values.shape[0]):
            block[j, SHIFT] = values[j] * shrink[j]
    if relative:
        origin[0] = y


@njit(cache=True)
def online_sweep(
    rows, y, weight, visits, loss, curvature, relative, learn_b, alpha, standardize, distinct, noise, stiffness,
    block, origin, b_z, b_hold, b, slope_squares, total, losses, margins,
):  # fmt: skip
    """Learn from `visits`, updating the arrays from block on in place; `margins` gets each row's before it is learnt.

    `losses` sums the losses of the lanes, of the empty model and the weights, over rows that are new (T < distinct).
    """
    width = 1
    for i in visits:
        features, values = entries(rows, i)
        width = max(width, values.shape[0])
    deviation, w = np.empty(width), np.zeros((width, LANES))
    slopes, level, pushes = np.empty(LANES + 1), np.empty(LANES), np.empty(LANES)
    shrink = rows.shrink
    plain = bool((shrink == 1.0).all())
    for t in range(visits.shape[0]):
        i = visits[t]
        features, values = entries(rows, i)
        T = total[0]
        if T == 0.0 and learn_b > 0.0:  # without an intercept zero means zero
            first_row(features, values, shrink, y[i], relative, block, origin)
        stretch = max(T / distinct, 1.0) ** REPEATS
        margin = margins[t]
        for g in range(LANES):
            level[g] = noise[g] * math.sqrt(slope_squares[g]) * stretch + T * alpha * standardize
        for g in range(LANES + 1):
            margin[g] = origin[0] + b[g]
        predict_row(
            features, values, shrink, plain, weight[i], T, level, T * alpha * (1.0 - standardize), stiffness,
            block, deviation, w, margin,
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
        learn_row(features, values, shrink, plain, slopes, pushes, block, deviation, w)
        for g in range(LANES + 1):
            after = math.hypot(b_hold[g], learn_b * slopes[g] * curvature / rest)
            b_z[g] += slopes[g] - (after - b_hold[g]) * b[g]
            b_hold[g] = after
            b[g] = -learn_b * b_z[g] / (curvature + after)

"""The sweep of solver 'online': scale-free FTRL-Proximal, LANES settings side by side over the same rows.

Per feature j and lane, with u the slope of the loss on a row, s_j the running standard deviation of column j, T the
weight of the rows so far, and `rest` the root mean square of the slopes of the empty model:

    v_j = -soft(z_j, s_j level + flat) / (s_j^2 + hold_j),    w_j = v_j / (stiffness * curvature),
    level = noise sqrt(sum of u^2) + alpha T,
    hold_j' = sqrt(hold_j^2 + (s_j x_j / rest)^2 * mean of u^2),    z_j += u x_j - (hold_j' - hold_j) v_j.

The mean is that over the lanes, whose slopes are much alike: how far a feature is held where it is, with the root and
the quotient that this takes, is worked out once for all of them. What is kept is the square of hold_j: roots are only
for features of which some lane has a weight, and nearly all have none.

Everything is homogeneous in x_j: a column in other units gives the same margins, bit for bit when the factor is a power
of two. On dense rows x_j is counted from the first row's value, so a constant added to a column changes nothing either.
All numbers of a feature lie side by side in a row of `block`, which is a line of the cache.

Of losses whose margins are logarithms of means, slopes and curvatures are in units of the target or a power of them. So
margins are counted from the logarithm of the mean of all targets so far, and the curvature is that at this mean. Where
every target so far was zero there is none, and nothing is learnt. Of a loss with a kink, the curvature is the density
that the spread of the targets so far lets expect at their quantile.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from riata.kernels.candidates import OF_MARK
from riata.kernels.compiled import compiled, uint64
from riata.kernels.losses import Coded, value_and_derivative, with_offset
from riata.kernels.mean_so_far import SUM, follow_mean, follow_spread, near
from riata.kernels.prefetch import fetch_memory, fetch_row
from riata.kernels.rows import FAST, Rows, entries
from riata.kernels.simd4 import any_above, load, root, soft, store

LANES = 4
HOLD_SQUARE, SUMS, SQUARES, SHIFT, WIDTH = 4, 5, 6, 7, 8  # of a row of `block`: first comes z of every lane
EMPTY = LANES  # the place of the model without features in arrays over lanes
REPEATS = 0.4  # 0.5 would take rows met again for no evidence at all, 0 for as much as new ones
MOVED = LANES + 1  # and of the change of the origin by the row itself in margins
CURVED = LANES + 2  # and of the curvature as it was then
SLOPE = LANES + 3  # and of the slope of the chosen lane
NO_SLOPE = 1e-12  # slopes of this share of the curvature are rounding: exp(log(y)) - y is not always 0
BELOW = 1.0 - 1e-9  # what is below by more than rounding
CONSTANT = 1e-12  # a column whose variance is this share of its mean square does not vary


@compiled(nogil=True, inline="always")
def variance_of(first: float, second: float, share: float) -> float:
    """Of a column with these sums of x and of x^2 in rows of weight 1 / share; 0 if it does not vary."""
    mean, square = first * share, second * share
    variance = square - mean * mean
    return variance if variance > CONSTANT * square else 0.0


@compiled(nogil=True, inline="always")
def v_of(z: Any, variance: float, s: float, hold: float, levels: Any, flat: float) -> Any:
    """v_j of all lanes."""
    return soft(z, levels * s + flat) * (-1.0 / (variance + hold))


class Predicted(NamedTuple):
    """What predicting a row leaves for learning from it."""

    x: np.ndarray  # of its features; 0 where their columns do not vary
    variance: np.ndarray  # of the columns
    places: np.ndarray  # among its features, of those that may have a weight in some lane
    hold: np.ndarray  # of these, and room for three more: roots are taken four at a time
    work: np.ndarray  # room for as much
    v: np.ndarray  # of these
    sums: np.ndarray  # of v x, of all lanes


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def predict_row(
    features: np.ndarray | None,
    values: np.ndarray,
    shrink: np.ndarray,
    plain: bool,
    weight: float,
    total: float,
    level: np.ndarray,
    flat: float,
    block: np.ndarray,
    row: Predicted,
) -> int:
    """Count a row into the moments and work out v of its features, and what else `row` gets.

    Of most features it is zero in every lane, which squares tell without a root or a quotient. The others are listed,
    without a branch, of which the processor could not know where it goes; returns how many they are.
    """
    xs, variances, places, hold, deviation, v, sums = row
    share, n = 1.0 / (total + weight), uint64(0)
    sums[:] = 0.0
    levels, sums_vx = load(level, 0), load(sums, 0)
    level_squares = levels * levels * BELOW
    for p in range(values.shape[0]):
        j = uint64(p if features is None else features[p])
        x = (values[p] if plain else values[p] * shrink[j]) - block[j, SHIFT]
        first = block[j, SUMS] + weight * x
        second = block[j, SQUARES] + weight * x * x
        block[j, SUMS] = first
        block[j, SQUARES] = second
        variance = variance_of(first, second, share)
        xs[p], variances[p] = x if variance > 0.0 else 0.0, variance
        z = load(block, j)
        places[n] = p
        n += uint64(any_above(z * z, level_squares * variance) & (variance > 0.0))
    for a in range(n):
        p = uint64(places[a])
        hold[a] = block[uint64(p if features is None else features[p]), HOLD_SQUARE]
        deviation[a] = variances[p]
    for a in range(uint64(0), n, uint64(4)):
        store(hold, a, root(load(hold, a)))
        store(deviation, a, root(load(deviation, a)))
    for a in range(n):
        p = uint64(places[a])
        j = uint64(p if features is None else features[p])
        va = v_of(load(block, j), variances[p], deviation[a], hold[a], levels, flat)
        store(v, a, va)
        sums_vx = sums_vx + va * xs[p]
    store(sums, 0, sums_vx)
    return n


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def learn_row(
    features: np.ndarray | None, slopes: np.ndarray, push: float, block: np.ndarray, row: Predicted, width: int, n: int
) -> None:
    """Add the slopes of a row of `width` features, of which n are listed, to the memory of its features."""
    xs, variances, places, hold, step, v, _ = row
    slope = load(slopes, 0)
    for p in range(uint64(width)):
        j, x = uint64(p if features is None else features[p]), xs[p]
        block[j, HOLD_SQUARE] += push * variances[p] * x * x
        store(block, j, load(block, j) + slope * x)
    for a in range(uint64(n)):
        p = uint64(places[a])
        step[a] = block[uint64(p if features is None else features[p]), HOLD_SQUARE]
    for a in range(uint64(0), uint64(n), uint64(4)):
        store(step, a, root(load(step, a)) - load(hold, a))
    for a in range(uint64(n)):
        p = uint64(places[a])
        j = uint64(p if features is None else features[p])
        store(block, j, load(block, j) - load(v, a) * step[a])


@compiled(nogil=True, inline="always")
def after_slope(slope: Any, per_unit: float, per_curvature: float, z: Any, hold: Any, b: Any) -> Any:
    """z, hold and value of an intercept, or of four, after one more slope."""
    pushed = slope * per_unit
    after = root(hold * hold + pushed * pushed)
    z = z + slope * per_curvature - (after - hold) * b
    return z, after, z / (after + 1.0) * -1.0


@compiled(nogil=True, inline="always")
def learn_intercepts(
    slopes: np.ndarray,
    unit: float,
    curvature: float,
    logarithms: bool,
    b_z: np.ndarray,
    b_hold: np.ndarray,
    b: np.ndarray,
) -> None:
    """The same for the intercepts of all lanes and of the empty model, which no penalty holds back.

    Where margins are logarithms, the empty model is the mean itself: its intercept stays 0. A step then is below 1, a
    factor of e, however much the targets vary.
    """
    unit = min(unit, curvature) if logarithms else unit
    per_unit, per_curvature = 1.0 / unit, 1.0 / curvature
    z, hold, now = after_slope(load(slopes, 0), per_unit, per_curvature, load(b_z, 0), load(b_hold, 0), load(b, 0))
    store(b_z, 0, z)
    store(b_hold, 0, hold)
    store(b, 0, now)
    if not logarithms:
        b_z[EMPTY], b_hold[EMPTY], b[EMPTY] = after_slope(
            slopes[EMPTY], per_unit, per_curvature, b_z[EMPTY], b_hold[EMPTY], b[EMPTY]
        )


@compiled(nogil=True)
def first_row(
    features: np.ndarray | None,
    values: np.ndarray,
    shrink: np.ndarray,
    y: float,
    relative: bool,
    block: np.ndarray,
    origin: np.ndarray,
) -> None:
    """Dense columns, and a target of which only differences matter, are counted from the first row."""
    if features is None:
        for j in range(values.shape[0]):
            block[j, SHIFT] = values[j] * shrink[j]
    if relative:
        origin[0], _ = with_offset(y, 0.0)  # such targets have none beside them


@compiled(nogil=True, inline="always")
def judge_row(
    loss: Coded,
    y: float,
    weight: float,
    T: float,
    new: bool,
    lane: int,
    margin: np.ndarray,
    slopes: np.ndarray,
    slope_squares: np.ndarray,
    losses: np.ndarray,
) -> tuple[float, float]:
    """Slopes of all lanes and the empty model, and their losses if the row is new.

    T is the weight of the rows before, or 0 for slopes without a cap: before any rows all lanes are the empty model.
    Returns the lanes' mean of u^2, and the slope of the loss in one of them, as it is.
    """
    cap, lane_squares, of_lane = math.inf, 0.0, 0.0
    for g in range(EMPTY, -1, -1):
        cost, slope = value_and_derivative(loss, y, margin[g])
        if g == EMPTY and T > 0.0:  # in its first steps a model may overshoot: it must not learn from its own excess
            cap = abs(slope) + math.sqrt(slope_squares[EMPTY] / T)
        of_lane = slope if g == lane else of_lane
        slopes[g] = weight * min(max(slope, -cap), cap)
        slope_squares[g] += slopes[g] * slopes[g]
        lane_squares += slopes[g] * slopes[g] if g < LANES else 0.0
        if new:
            losses[g] += weight * cost
    if new:
        losses[LANES + 1] += weight
    return lane_squares / LANES, of_lane


class Settings(NamedTuple):
    """What a sweep is told."""

    loss: Coded
    relative: bool  # whether only differences of targets matter
    logarithms: bool  # whether margins are logarithms of means
    curvature_by_spread: float  # of a loss with a kink, or 0
    learn_b: bool
    from_first_row: bool  # whether dense columns, and targets, are counted from the first row; else as memory says
    alpha: float
    standardize: float
    distinct: float  # rows' weight after which they come again
    lane: int  # that is chosen


class Memory(NamedTuple):
    """What a sweep remembers; all but the first two change."""

    noise: np.ndarray
    stiffness: np.ndarray
    block: np.ndarray
    origin: np.ndarray
    b_z: np.ndarray
    b_hold: np.ndarray
    b: np.ndarray
    slope_squares: np.ndarray
    total: np.ndarray
    losses: np.ndarray
    mean_sums: np.ndarray  # see `kernels.mean_so_far`
    curvature: np.ndarray


@compiled(nogil=True)
def online_sweep(
    rows: Rows,
    plain: bool,
    y: np.ndarray,
    weight: np.ndarray,
    visits: np.ndarray,
    settings: Settings,
    memory: Memory,
    margins: np.ndarray,
) -> None:
    """Learn from `visits`, updating the memory in place; `margins` gets each row's before it is learnt.

    Its last columns have what to add to them to have the margins at which the row was learnt, the curvature then, and
    the slope of the chosen lane.
    `losses` sums the losses of the lanes, of the empty model and the weights, over rows that are new (T < distinct).
    """
    loss, relative, logarithms, curvature_by_spread, learn_b, from_first_row, alpha, standardize, distinct, lane = (
        settings
    )
    kinked = curvature_by_spread > 0.0
    noise, stiffness, block, origin, b_z, b_hold, b, slope_squares, total, losses, mean_sums, curvature = memory
    width = 1
    for i in visits:
        features, values = entries(rows, i)
        width = max(width, values.shape[0])
    slopes, level, sums, margin = np.empty(LANES + 1), np.empty(LANES), np.empty(LANES), np.empty(LANES + 1)
    row = Predicted(
        np.empty(width), np.empty(width), np.empty(width, np.int64), np.empty(width + 3), np.empty(width + 3),
        np.empty((width, LANES)), sums,
    )  # fmt: skip
    shrink = rows.shrink
    for t in range(visits.shape[0]):
        i = visits[t]
        if t + 2 < visits.shape[0]:
            fetch_memory(rows, visits[t + 1], block)
            fetch_row(rows, visits[t + 2])
        features, values = entries(rows, i)
        T = total[0]
        if T == 0.0 and learn_b and from_first_row:  # without an intercept zero means zero
            first_row(features, values, shrink, y[i], relative, block, origin)
        moved = 0.0
        if logarithms:
            moved = follow_mean(loss, y[i], weight[i], learn_b, mean_sums, origin, curvature)
        if kinked:
            target, _ = with_offset(y[i], 0.0)
            follow_spread(target - origin[0] - b[EMPTY], weight[i], curvature_by_spread, mean_sums, curvature)
        stretch = 1.0 if T <= distinct else (T / distinct) ** REPEATS
        for g in range(LANES):
            level[g] = noise[g] * math.sqrt(slope_squares[g]) * stretch + T * alpha * standardize
        flat = T * alpha * (1.0 - standardize)
        n = predict_row(features, values, shrink, plain, weight[i], T, level, flat, block, row)
        for g in range(LANES + 1):
            beyond = b[g] + (sums[g] / (stiffness[g] * curvature[0]) if g < LANES else 0.0)
            margin[g] = origin[0] + (near(beyond) if logarithms else beyond)
            margins[t, g] = margin[g] - moved
        margins[t, MOVED] = moved
        margins[t, CURVED] = curvature[0] if not kinked or mean_sums[SUM] > 0.0 else 0.0
        margins[t, SLOPE] = 0.0
        total[0] = T + weight[i]
        if (logarithms or kinked) and mean_sums[SUM] == 0.0:
            continue
        mean_square, margins[t, SLOPE] = judge_row(
            loss, y[i], weight[i], 0.0 if kinked else T, T < distinct, lane, margin, slopes, slope_squares, losses
        )
        rest = math.sqrt(slope_squares[EMPTY] / total[0])
        if rest <= (NO_SLOPE * curvature[0] if logarithms else 0.0):
            continue
        learn_row(features, slopes, mean_square / (rest * rest), block, row, values.shape[0], n)
        if learn_b:
            learn_intercepts(slopes, rest, curvature[0], logarithms, b_z, b_hold, b)


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def all_weights(
    block: np.ndarray,
    total: float,
    level: np.ndarray,
    flat: float,
    stiffness: np.ndarray,
    w: np.ndarray,
    deviation: np.ndarray,
) -> None:
    """The weights of all features, a column for each lane, and the deviations of their columns, as of now."""
    levels, softness, share = load(level, 0), load(1.0 / stiffness, 0), 1.0 / max(total, 1e-300)
    w[:] = 0.0
    for j in range(block.shape[0]):
        variance = variance_of(block[j, SUMS], block[j, SQUARES], share)
        s = math.sqrt(variance)
        deviation[j] = s
        if s > 0.0:
            hold = math.sqrt(block[j, HOLD_SQUARE])
            store(w, j, v_of(load(block, j), variance, s, hold, levels, flat) * softness)


class Steep(NamedTuple):
    """Features that have come far, all of which is filled; and of all features, how many have a weight in each lane."""

    features: np.ndarray
    size: np.ndarray  # |w| s
    slope: np.ndarray  # |z| / s
    entered: np.ndarray


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def steep_features(
    block: np.ndarray,
    marks: np.ndarray,
    total: float,
    level: np.ndarray,
    stiffness: np.ndarray,
    lane: int,
    least: float,
    found: Steep,
) -> int:
    """The features with a mark whose |z| / s in one lane is above `least`: how many there are, `found` first."""
    features, size, slope, entered = found
    levels, share, n = load(level, 0), 1.0 / max(total, 1e-300), 0
    v = np.empty((1, LANES))
    lowest = least
    for g in range(LANES):
        lowest = min(lowest, level[g])
    for g in range(LANES):
        v[0, g] = lowest * lowest * BELOW
    lowest_squares = load(v, 0)
    for group in range(marks.shape[0]):
        if marks[group] >> 8 == 0:  # as nearly all, after the first rows
            continue
        for j in range(OF_MARK * group, min(OF_MARK * (group + 1), block.shape[0])):
            variance = variance_of(block[j, SUMS], block[j, SQUARES], share)
            z = load(block, j)
            if not any_above(z * z, lowest_squares * variance):  # as nearly all, also those not seen: without a root
                continue
            s = math.sqrt(variance)
            if s == 0.0:
                continue
            steepest = 0.0
            for g in range(LANES):
                steepest = max(steepest, abs(block[j, g]) - min(level[g], least) * s)
            if steepest <= 0.0:
                continue
            hold = math.sqrt(block[j, HOLD_SQUARE])
            store(v, 0, v_of(z, variance, s, hold, levels, 0.0))
            for g in range(LANES):
                entered[g] += v[0, g] != 0.0
            if abs(block[j, lane]) > least * s:
                features[n], size[n], slope[n] = j, abs(v[0, lane]) / stiffness[lane] * s, abs(block[j, lane]) / s
                n += 1
    return n


@compiled(nogil=True, fastmath=FAST, error_model="numpy")
def entered(block: np.ndarray, total: float, level: float, flat: float, lane: int, features: np.ndarray) -> int:
    """How many features have a weight in one lane, as of now, and which, as far as there is room for them."""
    n, share, level_square = 0, 1.0 / max(total, 1e-300), level * level * BELOW
    for j in range(block.shape[0]):
        z, variance = block[j, lane], variance_of(block[j, SUMS], block[j, SQUARES], share)
        if z * z > level_square * variance:  # as of few: without a root
            s = math.sqrt(variance)
            if s > 0.0 and abs(z) > level * s + flat:
                if n < len(features):
                    features[n] = j
                n += 1
    return n

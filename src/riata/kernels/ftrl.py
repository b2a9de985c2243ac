"""FTRL-Proximal on the rows of a chunk. The weights are a formula of the memory, so nothing is ever owed:

    w_j = -soft(z_j, l1 * debt) / (1 + root_j + l2 * debt),    debt = sum of eta_t s_t,    root_j = sqrt(n_j),

worked out for the features of a row when it comes, and for all of them at the end of the chunk. z_j and root_j lie side
by side in `memory`, so that a feature costs one visit to the main memory; its last row is the intercept's.

Where margins are logarithms of means, they are counted from that of the mean so far, and slopes and penalty are divided
by the curvature there (`riata.kernels.mean_so_far`). Until a target is positive, nothing is learnt.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import derivative
from riata.kernels.mean_so_far import SUM, MeanSoFar, follow_mean, near
from riata.kernels.rows import FAST, Rows, entries
from riata.kernels.steps import Steps

Z, ROOT = 0, 1


@compiled(inline="always")
def weight_of(z: float, root: float, l1: float, l2: float) -> float:
    """-soft(z, l1) / (1 + root + l2)"""
    return -math.copysign(max(abs(z) - l1, 0.0), z) / (1.0 + root + l2)


@compiled(fastmath=FAST)
def predict_row(
    features: np.ndarray | None,
    values: np.ndarray,
    shrink: np.ndarray,
    plain: bool,
    l1: float,
    l2: float,
    memory: np.ndarray,
    w: np.ndarray,
) -> tuple[float, float]:
    """The weights of a row's features, into w; returns a . w and a . a for the scaled row a (`plain`: scales are 1)."""
    margin, norm2 = 0.0, 0.0
    for p in range(values.shape[0]):
        j = p if features is None else features[p]
        a = values[p] if plain else values[p] * shrink[j]
        v = weight_of(memory[j, Z], memory[j, ROOT], l1, l2)
        w[p] = v
        margin += a * v
        norm2 += a * a
    return margin, norm2


@compiled(fastmath=FAST)
def learn_row(
    features: np.ndarray | None,
    values: np.ndarray,
    shrink: np.ndarray,
    plain: bool,
    slope: float,
    eta: float,
    memory: np.ndarray,
    w: np.ndarray,
) -> None:
    """Add a row's slopes to the memory of its features, whose weights are w."""
    for p in range(values.shape[0]):
        j = p if features is None else features[p]
        g = slope * (values[p] if plain else values[p] * shrink[j])
        before = memory[j, ROOT]
        after = math.sqrt(before * before + g * g)
        memory[j, ROOT] = after
        memory[j, Z] += eta * g - (after - before) * w[p]


@compiled(fastmath=FAST)
def gather_row(
    features: np.ndarray | None, values: np.ndarray, shrink: np.ndarray, slope: float, slopes: np.ndarray
) -> None:
    """Add a row's slopes to those of its batch."""
    for p in range(values.shape[0]):
        j = p if features is None else features[p]
        slopes[j] += slope * values[p] * shrink[j]


@compiled(fastmath=FAST)
def learn_batch(
    features: np.ndarray | None, n: int, l1: float, l2: float, eta: float, slopes: np.ndarray, memory: np.ndarray
) -> None:
    """Add a batch's slopes to the memory of a row's features; what is taken becomes zero, so a feature counts once."""
    for p in range(n):
        j = p if features is None else features[p]
        g = slopes[j]
        slopes[j] = 0.0
        before = memory[j, ROOT]
        after = math.sqrt(before * before + g * g)
        v = weight_of(memory[j, Z], before, l1, l2)
        memory[j, ROOT] = after
        memory[j, Z] += eta * g - (after - before) * v


@compiled()
def longest(rows: Rows, visits: np.ndarray) -> int:
    """Entries of the longest of these rows."""
    width = 1
    for i in visits:
        _, values = entries(rows, i)
        width = max(width, values.shape[0])
    return width


@compiled()
def ftrl_sweep(
    steps: Steps,
    l1: float,
    l2: float,
    memory: np.ndarray,
    debt: np.ndarray,
    mean: MeanSoFar,
    w: np.ndarray,
    b: float,
    learn_b: float,
    largest: float,
) -> tuple[float, float]:
    """Steps over `visits`, `batch` rows each, updating memory, debt and w in place.

    `margins` gets each row's before it is learnt. With `safe`, eta_t is divided by the root of the curvature along the
    largest row so far. Returns b, which is counted from the origin, and the
    largest row norm.
    """
    rows, y, weight, visits, batch, loss, etas, safe, margins = steps
    logarithms, mean_sums, origin, curvature = mean
    d = w.shape[0]
    shrink = rows.shrink
    plain = bool((shrink == 1.0).all())
    row_w, slopes = np.empty(longest(rows, visits)), np.zeros(d if batch > 1 else 0)
    for t in range(etas.shape[0]):
        members = visits[t * batch : (t + 1) * batch]
        due1, due2, total, weights = l1 * debt[0], l2 * debt[0], 0.0, 0.0
        for r, i in enumerate(members):
            features, values = entries(rows, i)
            margin, norm2 = predict_row(features, values, shrink, plain, due1, due2, memory, row_w)
            beyond, moved = margin + b, 0.0
            if logarithms:
                moved = follow_mean(loss, y[i], weight[i], learn_b > 0.0, mean_sums, origin, curvature)
                beyond = near(beyond)
            margins[t * batch + r] = origin[0] + beyond - moved
            slope = weight[i] * derivative(loss, y[i], origin[0] + beyond) / (curvature[0] * members.shape[0])
            total += slope
            weights += weight[i]
            largest = max(largest, weight[i] * (norm2 + learn_b)) if safe > 0.0 else largest
            if batch > 1:
                gather_row(features, values, shrink, slope, slopes)
        if logarithms and mean_sums[SUM] == 0.0:
            slopes[:] = 0.0
            continue
        eta = etas[t] / math.sqrt(safe * largest) if safe > 0.0 and largest > 0.0 else etas[t]
        if batch == 1:
            learn_row(features, values, shrink, plain, total, eta, memory, row_w)
        else:
            for i in members:
                features, values = entries(rows, i)
                learn_batch(features, values.shape[0], due1, due2, eta, slopes, memory)
        before = memory[d, ROOT]
        memory[d, ROOT] = math.sqrt(before * before + total * total)
        memory[d, Z] += eta * total - (memory[d, ROOT] - before) * b
        b = -learn_b * memory[d, Z] / (1.0 + memory[d, ROOT])
        debt[0] += eta * weights / (curvature[0] * members.shape[0])
    for j in range(d):
        w[j] = weight_of(memory[j, Z], memory[j, ROOT], l1 * debt[0], l2 * debt[0])
    return b, largest

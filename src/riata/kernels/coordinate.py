"""Coordinate descent over columns held in memory: on a loss, by a bound of its curvature, or on a quadratic.

Columns are the rows of the transposed matrix, so the layouts of `kernels.rows` serve. A coordinate minimises its
quadratic bound of curvature L_j = curvature * sum_i s_i x_ij^2 / sum(s), which is the loss itself when it is squared.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.losses import Coded, derivative
from riata.kernels.quadratic import best_value
from riata.kernels.rows import FAST, Rows, axpy, begin_end, entries, parts


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
    loss: Coded,
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
    loss: Coded,
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


class ColumnQuadratic(NamedTuple):
    """A penalised quadratic of the margins, seen along the columns a_j of its rows.

    Q = sum_i u_i m_i + D_i m_i^2 / 2 + penalty(v) with margins m = A (v - v0) + c, where the constant c follows the
    coefficients: sum_i t_i = 0 for the slopes t = u + D m. Without an intercept `means` are 0, and so is c.
    """

    D: np.ndarray  # of every row
    sums: np.ndarray  # sum_i D_i a_ij of every column
    means: np.ndarray  # the same over sum_i D_i
    curvatures: np.ndarray  # sum_i D_i (a_ij - mean_j)^2 + l2_j
    l1: np.ndarray
    l2: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@compiled(nogil=True, fastmath=FAST, forceinline=True)
def along_column(
    starts: np.ndarray | int, features: np.ndarray | None, values: np.ndarray, j: int, t: np.ndarray
) -> float:
    """sum_i t_i a_ij, with columns as `parts` has them."""
    begin, end = begin_end(starts, j)
    total = 0.0
    for p in range(begin, end):
        total += values[p] * t[p - begin if features is None else uint64(features[p])]
    return total


@compiled(nogil=True, fastmath=FAST, forceinline=True)
def sums_along_column(
    starts: np.ndarray | int, features: np.ndarray | None, values: np.ndarray, j: int, D: np.ndarray
) -> tuple[float, float]:
    """sum_i D_i a_ij and sum_i D_i a_ij^2."""
    begin, end = begin_end(starts, j)
    first = second = 0.0
    for p in range(begin, end):
        weighted = D[p - begin if features is None else uint64(features[p])] * values[p]
        first += weighted
        second += weighted * values[p]
    return first, second


@compiled(nogil=True, fastmath=FAST, forceinline=True)
def add_column(
    starts: np.ndarray | int, features: np.ndarray | None, values: np.ndarray, j: int, factor: float, z: np.ndarray
) -> None:
    """z_i += factor a_ij."""
    begin, end = begin_end(starts, j)
    for p in range(begin, end):
        z[p - begin if features is None else uint64(features[p])] += factor * values[p]


@compiled(nogil=True, fastmath=FAST, forceinline=True)
def move_along_column(
    starts: np.ndarray | int,
    features: np.ndarray | None,
    values: np.ndarray,
    j: int,
    factor: float,
    D: np.ndarray,
    t: np.ndarray,
) -> None:
    """t_i += factor D_i a_ij."""
    begin, end = begin_end(starts, j)
    for p in range(begin, end):
        i = p - begin if features is None else uint64(features[p])
        t[i] += factor * values[p] * D[i]


@compiled(nogil=True)
def column_sums(columns: Rows, D: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> None:
    """Write sum_i D_i a_ij and sum_i D_i a_ij^2 of every column."""
    starts, features, values = parts(columns)
    for j in range(sums.shape[0]):
        sums[j], squares[j] = sums_along_column(starts, features, values, j, D)


@compiled(nogil=True)
def column_slopes(columns: Rows, t: np.ndarray, slopes: np.ndarray) -> None:
    """Write sum_i t_i a_ij of every column."""
    starts, features, values = parts(columns)
    for j in range(slopes.shape[0]):
        slopes[j] = along_column(starts, features, values, j, t)


@compiled(nogil=True)
def add_columns(columns: Rows, v: np.ndarray, z: np.ndarray) -> None:
    """z += A v, passing over columns whose coefficient is 0."""
    starts, features, values = parts(columns)
    for j in range(v.shape[0]):
        if v[j] != 0.0:
            add_column(starts, features, values, j, v[j], z)


@compiled(nogil=True)
def curvature_along_columns(
    columns: Rows, chosen: np.ndarray, x: np.ndarray, D: np.ndarray, z: np.ndarray, product: np.ndarray
) -> None:
    """Write A'DA x of the chosen columns; z is room for a number for each row."""
    starts, features, values = parts(columns)
    for i in range(z.shape[0]):
        z[i] = 0.0
    for k in range(chosen.shape[0]):
        add_column(starts, features, values, chosen[k], x[k], z)
    for i in range(z.shape[0]):
        z[i] *= D[i]
    for k in range(chosen.shape[0]):
        product[k] = along_column(starts, features, values, chosen[k], z)


@compiled(nogil=True)
def sweeps_along_columns(
    columns: Rows,
    quadratic: ColumnQuadratic,
    active: np.ndarray,
    stored: np.ndarray,
    v: np.ndarray,
    t: np.ndarray,
    history: np.ndarray,
    gains: np.ndarray,
    worth: float,
    last_share: float,
) -> tuple[float, float, float, int]:
    """Cyclic sweeps over the active columns, as many as `history` has rows, which get the coefficients after each; or
    until one gains no more than `last_share` of what all have gained.

    After the first sweep it passes over columns whose last visit lowered Q by less than `worth` times the average of
    the sweep before, per entry: of words, a few have most of the entries, and are soon where they belong. `stored` has
    the entries of every column, `gains` is room for what the last visit to each active one gained.

    Updates v, and t but for the change of the constant c, which is returned with the decrease of Q and the numbers of
    entries visited and of sweeps.
    """
    D, sums, means, curvatures, l1, l2, lower, upper = quadratic
    starts, features, values = parts(columns)
    constant = decrease = visited = least = 0.0
    alike = True  # whether all rows have one curvature: then it is not read for every entry
    for i in range(D.shape[0]):
        if D[i] != D[0]:
            alike = False
            break
    sweep = 0
    while sweep < history.shape[0]:
        decrease_before, visited_before = decrease, visited
        for k in range(active.shape[0]):
            j = active[k]
            curvature = curvatures[j]
            if curvature <= 0.0 or (sweep > 0 and gains[k] < least * stored[j]):
                continue
            visited += stored[j]
            old = v[j]
            slope = along_column(starts, features, values, j, t) + constant * sums[j] + l2[j] * old
            new = best_value(curvature * old - slope, l1[j], lower[j], upper[j], curvature)
            change, gains[k] = new - old, 0.0
            if change != 0.0:
                if alike:
                    add_column(starts, features, values, j, change * D[0], t)
                else:
                    move_along_column(starts, features, values, j, change, D, t)
                constant -= change * means[j]
                gains[k] = -change * (slope + 0.5 * curvature * change) - l1[j] * (abs(new) - abs(old))
                decrease += gains[k]
                v[j] = new
        least = worth * (decrease - decrease_before) / max(visited - visited_before, 1.0)
        for k in range(active.shape[0]):
            history[sweep, k] = v[active[k]]
        sweep += 1
        if decrease - decrease_before <= last_share * decrease:
            break
    return constant, decrease, visited, sweep

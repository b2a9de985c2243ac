"""The columns of a path along them (`column_path`): their slopes, the gap these certify, and which are active."""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.certificate import cost_of_bounded, slope_checks
from riata.kernels.compiled import compiled
from riata.kernels.coordinate import ColumnQuadratic, along_column, column_slopes
from riata.kernels.path_rows import OfRows
from riata.kernels.rows import Rows, parts

KEPT = 0.7  # of its threshold: a slope that cannot be more is not made; nor is a feature active for less
MANY = 0.3  # of the features: where so many slopes have to be made, all of them are
HALVINGS_OF_PULL = 12  # of an interval, until it tells which columns are pulled most
FEASIBLE = 1.0 - 1e-14  # as in `objective.certificate`


class OfColumns(NamedTuple):
    """What there is for each column: its deviation and entries; coefficients, and those that a step leads to; slopes by
    the balanced slopes of rows, now (0 where they are not made) and at the reference."""

    deviation: np.ndarray
    stored: np.ndarray
    v: np.ndarray
    far: np.ndarray
    slopes: np.ndarray
    reference: np.ndarray
    active: np.ndarray  # numbers of those that steps go along
    gains: np.ndarray
    history: np.ndarray
    among: np.ndarray  # products of active columns with one another, where they are few
    squares: np.ndarray  # sum_i D_i a_ij^2; below 0 where it has not been made
    quadratic: ColumnQuadratic


@compiled(nogil=True)
def make_all_slopes(columns: Rows, rows: OfRows, place: OfColumns) -> float:
    """Those of all columns, which is a reference for others; returns the entries visited."""
    for i in range(rows.u.shape[0]):
        rows.reference[i] = rows.balanced[i]
    column_slopes(columns, rows.balanced, place.reference)
    visited = 0.0
    for j in range(place.v.shape[0]):
        place.slopes[j] = place.reference[j]
        visited += place.stored[j]
    return visited


@compiled(nogil=True)
def make_slopes(columns: Rows, weight: np.ndarray, rows: OfRows, place: OfColumns) -> float:
    """Those that may be near their thresholds; returns the entries visited."""
    d, moved, many = place.v.shape[0], 0.0, 0
    for i in range(rows.u.shape[0]):
        change = rows.balanced[i] - rows.reference[i]
        moved += change * change / weight[i]
    moved = math.sqrt(moved)
    for j in range(d):
        most = abs(place.reference[j]) + moved * place.deviation[j]
        place.slopes[j] = 1.0 if not most < KEPT * place.quadratic.l1[j] else 0.0
        many += 1 if place.slopes[j] != 0.0 else 0
    if many > MANY * d:
        return make_all_slopes(columns, rows, place)
    (starts, features, values), visited = parts(columns), 0.0
    for j in range(d):
        if place.slopes[j] != 0.0:
            place.slopes[j] = along_column(starts, features, values, j, rows.balanced)
            visited += place.stored[j]
    return visited


@compiled(nogil=True)
def gap_of(place: OfColumns, F: float, rise: float) -> float:
    """The duality gap, as `objective.certificate` has it."""
    _, _, _, _, l1, l2, lower, upper = place.quadratic
    slopes = place.slopes
    largest, cost, _ = slope_checks(slopes, slopes, 1.0, 0.0, l1, l2, lower, upper, place.v)
    feasible = FEASIBLE / max(1.0, largest)
    shrunk_cost = cost_of_bounded(slopes, feasible, l1, l2, lower, upper)
    return F - max(-feasible * rise - shrunk_cost, -rise - cost)


@compiled(nogil=True)
def activate(place: OfColumns, least: float, joining: int, before: int) -> tuple[int, float, float, bool]:
    """Choose the columns that are in the model, or pulled by this share of their threshold: how many, how many entries
    they have, by how much of its threshold one that has to wait may be pulled above it, and whether they are others
    than those `before`, of which there were so many.

    Of columns that are not in the model, the ones that are pulled most: as many as there are in it, or may join.
    """
    v, slopes, (_, _, _, _, l1, _, lower, upper) = place.v, place.slopes, place.quadratic
    n_active, n_pulled, stored, most, outside = 0, 0, 0.0, 0.0, 0.0
    for j in range(v.shape[0]):
        if v[j] != 0.0:
            n_active += 1
        else:
            pull = _pull(slopes[j], l1[j], lower[j], upper[j])
            n_pulled += 1 if pull > least else 0
            most = max(most, pull)
    if n_pulled > max(joining, n_active):
        least = _pull_of_most(place, max(joining, n_active), least, most)
        outside = max(0.0, least - 1.0)
    n_active, others = 0, False
    for j in range(v.shape[0]):
        if v[j] != 0.0 or _pull(slopes[j], l1[j], lower[j], upper[j]) > least:
            others = others or place.active[n_active] != j
            place.active[n_active] = j
            n_active += 1
            stored += place.stored[j]
    return n_active, stored, outside, others or n_active != before


@compiled(nogil=True)
def _pull(slope: float, l1: float, lower: float, upper: float) -> float:
    """That on a coefficient of 0, as a share of its threshold."""
    moves = upper > 0.0 if slope < 0.0 else lower < 0.0
    return abs(slope) / l1 if moves else 0.0


@compiled(nogil=True)
def _pull_of_most(place: OfColumns, room: int, low: float, high: float) -> float:
    """A pull, between these two, that about as many columns exceed as there is room for, and one at least."""
    v, slopes, (_, _, _, _, l1, _, lower, upper) = place.v, place.slopes, place.quadratic
    admitted = 0
    for _ in range(HALVINGS_OF_PULL):
        middle, n = math.sqrt(low * high), 0
        for j in range(v.shape[0]):
            n += 1 if v[j] == 0.0 and _pull(slopes[j], l1[j], lower[j], upper[j]) > middle else 0
        if n > room:
            low = middle
        else:
            high, admitted = middle, n
            if 2 * n > room:
                break
    return high if admitted > 0 else low


@compiled(nogil=True)
def penalty_of(n_active: int, place: OfColumns, v: np.ndarray) -> float:
    """Of coefficients, all of which are of active columns."""
    l1, l2, total = place.quadratic.l1, place.quadratic.l2, 0.0
    for k in range(n_active):
        j = place.active[k]
        total += abs(v[j]) * l1[j] + 0.5 * l2[j] * v[j] * v[j]
    return total

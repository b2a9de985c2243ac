"""The models of falling alphas by Newton steps along columns, of a few sweeps each, in one loop over the alphas.

Each model starts where the last two lead to, over the features that are in it or that the strong rule says may be
(Tibshirani et al., 2012). A duality gap over all features certifies it. Slopes that cannot have come near their
threshold are not made for it: |g_j - g'_j| is at most the deviation of column j times |u - u'|, where u are the slopes
of the rows now, and u' those when all slopes were made.
"""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.certificate import cost_of_bounded, slope_checks
from riata.kernels.compiled import compiled
from riata.kernels.coordinate import (
    ColumnQuadratic,
    add_column,
    add_columns,
    along_column,
    column_slopes,
    move_along_column,
    sums_along_column,
    sweeps_along_columns,
)
from riata.kernels.losses import LOGISTIC, Coded, is_logistic, value_and_both_derivatives
from riata.kernels.quadratic import best_value, violation
from riata.kernels.rows import FAST, Rows, parts
from riata.kernels.strengths import Strengths

FIRST = 2  # models that are given, and lead to the others
FURTHEST = 10.0  # as in `solvers.convex.row_curvature`
STEPS = 100  # of Newton's method for one model
LAST_SWEEP = 0.003  # of what all have gained: after a sweep that gains no more, a quadratic is near its minimum
WORTH = 0.1  # of what an entry gains on average in a sweep: columns that gain less wait for the next step
AMONG_ACTIVE = 2.0  # times all entries: after so much work along active columns the others are looked at, too
HALF = 0.5  # of the least gap: from there the same work again may be worth it
KEPT_PRODUCTS = 3  # steps, for which the products of few columns are kept
SWEEPS_OVER_PRODUCTS, NO_GAIN = 100, 1e-12  # at most; and a share of all gains
INNER, TIGHTER = 0.5, 0.2  # of the gap that is asked for, over the active features; and where that was not enough
SUFFICIENT, HALVINGS = 0.1, 30  # of the gain that slopes promise: a step that brings less is cut back
F_ROUNDING, EPSILON = 1e-14, 2.2e-16  # of F: what rounding makes at least, and of each of the rows
OUTSIDE = 0.1  # of the pull of columns that wait to become active: what conditions are met to, while there are some
HALVINGS_OF_PULL = 12  # of an interval, until it tells which columns are pulled most
KEPT = 0.7  # of its threshold: a slope that cannot be more is not made; nor is a feature active for less
MANY = 0.3  # of the features: where so many slopes have to be made, all of them are
FEASIBLE, SUM_ROUNDING = 1.0 - 1e-14, 9e-16  # as in `objective.certificate`


class Terms(NamedTuple):
    """Targets and weights of the rows, which sum to 1, and whether there is an intercept."""

    y: np.ndarray
    weight: np.ndarray
    least_curvature: float
    centred: bool


class OfRows(NamedTuple):
    """What there is for each row: margins, a step of them, slopes, curvatures, and slopes of the quadratic. Then slopes
    that sum to 0, as a certificate takes them: those now, and those when all columns were last gone along. In the end
    a few sums."""

    z: np.ndarray
    step: np.ndarray
    u: np.ndarray
    D: np.ndarray
    t: np.ndarray
    balanced: np.ndarray
    reference: np.ndarray
    totals: np.ndarray  # of losses and curvatures; of slopes and of conjugates, upwards and downwards


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
    quadratic: ColumnQuadratic


class Models(NamedTuple):
    """What was found for each alpha, which are given as shares of one; the first two are given."""

    shares: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    losses: np.ndarray
    gaps: np.ndarray


class Limits(NamedTuple):
    """How good models are to be, how many entries may be visited until a gap is halved and for one model, and after
    how many to end."""

    gap: float
    no_effect: float  # of the largest effect of a coefficient: less leaves no trace in the gap
    between: float
    of_one: float
    work: float
    joining: int  # columns that may become active at a time, however few are in the model


@compiled(nogil=True)
def follow_alphas_along_columns(
    columns: Rows,
    loss: Coded,
    terms: Terms,
    strengths: Strengths,
    rows: OfRows,
    place: OfColumns,
    models: Models,
    limits: Limits,
) -> int:
    """Fill in models after the first two, and return the number of the first that is missing, or not as good as it
    should be: of that one there are coefficients.

    The strengths are those of a share of 1; every l1 is above 0.
    """
    d, v = place.v.shape[0], place.v
    l1, l2, lower, upper = place.quadratic.l1, place.quadratic.l2, place.quadratic.lower, place.quadratic.upper
    b, worked = models.intercepts[FIRST - 1], 0.0
    for j in range(d):
        v[j] = models.coefs[FIRST - 1, j]
    _margins(columns, v, b, rows)
    _look_at_rows(loss, terms, rows, 0.0)
    _balance(terms, rows)
    all_entries = _make_all_slopes(columns, rows, place)
    for i in range(FIRST, models.shares.shape[0]):
        share = models.shares[i]
        for j in range(d):
            l1[j], l2[j] = share * strengths.l1[j], share * strengths.l2[j]
        b = _ahead(models, i, lower, upper, v)
        _margins(columns, v, b, rows)
        _look_at_rows(loss, terms, rows, 0.0)
        least = max(2.0 - models.shares[i - 1] / share, KEPT)
        n_active, entries_active, outside = _activate(place, least, limits.joining)
        looked, least_gap, last, most = worked, math.inf, worked + limits.between, worked + limits.of_one
        inner, done, n_multiplied = INNER * limits.gap, False, 0
        for step in range(STEPS):
            worked += 3.0 * entries_active
            constant, excess = _look_along_columns(columns, terms, n_active, rows, place)
            F = rows.totals[0] + _penalty(n_active, place, v)
            settled = excess * F <= inner
            if settled or excess <= OUTSIDE * outside or worked - looked > AMONG_ACTIVE * all_entries:
                looked, rise = worked, _balance(terms, rows)
                worked += _make_slopes(columns, terms.weight, rows, place)
                gap = _gap(place, F, rise) + SUM_ROUNDING * (abs(rows.totals[3]) + abs(rows.totals[5]))
                if gap <= limits.gap:
                    done = True
                    models.losses[i], models.gaps[i] = rows.totals[0], gap
                    break
                if gap < HALF * least_gap or outside > 0.0:
                    least_gap, last = min(gap, least_gap), worked + limits.between
                known = n_active
                n_active, entries_active, outside = _activate(place, 1.0, limits.joining)
                if settled and n_active <= known:
                    inner *= TIGHTER
                constant, excess = _look_along_columns(columns, terms, n_active, rows, place)
                n_multiplied = 0  # others may be active now
            if worked > min(last, most):
                break
            for k in range(n_active):
                place.far[place.active[k]] = v[place.active[k]]
            if n_active <= place.among.shape[0]:
                if step % KEPT_PRODUCTS == 0 or n_active != n_multiplied:
                    worked += _multiply(columns, n_active, rows, place)
                    n_multiplied = n_active
                change = _sweeps_over_products(n_active, place)
            else:
                change, _, visited, _ = sweeps_along_columns(
                    columns, place.quadratic, place.active[:n_active], place.stored, place.far, rows.t, place.history,
                    place.gains, WORTH, LAST_SWEEP,
                )  # fmt: skip
                worked += 2.0 * visited
            taken = _move(columns, loss, terms, n_active, rows, place, constant + change, F)
            if taken == 0.0:
                break
            b += taken * (constant + change)
            if _drop_rounding(columns, n_active, limits.no_effect, rows, place):
                _look_at_rows(loss, terms, rows, 0.0)
        models.intercepts[i] = b
        for j in range(d):
            models.coefs[i, j] = v[j]
        if not done:
            return i
        if worked > limits.work:
            return i + 1
    return int(models.shares.shape[0])


@compiled(nogil=True)
def _ahead(models: Models, i: int, lower: np.ndarray, upper: np.ndarray, v: np.ndarray) -> float:
    """Where the last two models lead to, with no sign changed; returns the intercept there."""
    between, along = models.shares[i - 2] - models.shares[i - 1], 0.0
    if between > 0.0:
        along = min(1.0, (models.shares[i - 1] - models.shares[i]) / between)
    for j in range(v.shape[0]):
        now = models.coefs[i - 1, j]
        if now != 0.0:
            end = min(max(now + along * (now - models.coefs[i - 2, j]), lower[j]), upper[j])
            now = end if end * now > 0.0 else 0.0
        v[j] = now
    return models.intercepts[i - 1] + along * (models.intercepts[i - 1] - models.intercepts[i - 2])


@compiled(nogil=True)
def _margins(columns: Rows, v: np.ndarray, b: float, rows: OfRows) -> None:
    for i in range(rows.z.shape[0]):
        rows.z[i], rows.step[i] = b, 0.0
    add_columns(columns, v, rows.z)


@compiled(nogil=True)
def _look_at_rows(loss: Coded, terms: Terms, rows: OfRows, share: float) -> None:
    """Weighted slopes and curvatures of all rows after this share of the step, and their totals."""
    if is_logistic(loss):
        _look_at_rows_of(LOGISTIC, terms, rows, share)
    else:
        _look_at_rows_of(loss, terms, rows, share)


@compiled(nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def _look_at_rows_of(loss: Coded, terms: Terms, rows: OfRows, share: float) -> None:
    y, weight, least, _ = terms
    u, D, totals = rows.u, rows.D, rows.totals
    cost_of_all = curvatures = up = rise_up = down = rise_down = 0.0
    for i in range(u.shape[0]):
        z = rows.z[i] + share * rows.step[i]
        cost, slope, curvature = value_and_both_derivatives(loss, y[i], z)
        curvature = max(curvature, least)
        if cost > 0.0:  # no row goes much further than to where its loss is gone
            curvature = max(curvature, slope * slope / (2.0 * cost * FURTHEST))
        s = weight[i]
        conjugate = s * (slope * z - cost)
        u[i], D[i] = s * slope, s * curvature
        cost_of_all += s * cost
        curvatures += s * curvature
        up += s * slope if slope > 0.0 else 0.0
        rise_up += conjugate if slope > 0.0 else 0.0
        down += 0.0 if slope > 0.0 else s * slope
        rise_down += 0.0 if slope > 0.0 else conjugate
    totals[0], totals[1], totals[2], totals[3], totals[4], totals[5] = (
        cost_of_all, curvatures, up, rise_up, down, rise_down
    )  # fmt: skip


@compiled(nogil=True)
def _balance(terms: Terms, rows: OfRows) -> float:
    """Slopes of rows that sum to 0 where there is an intercept, and the mean of their conjugates."""
    _, _, up, rise_up, down, rise_down = rows.totals
    down = -down
    keep_up = keep_down = 1.0
    if terms.centred:
        keep_up = min(down / up, 1.0) if up > 0.0 else 1.0
        keep_down = min(up / down, 1.0) if down > 0.0 else 1.0
    for i in range(rows.u.shape[0]):
        rows.balanced[i] = rows.u[i] * (keep_up if rows.u[i] > 0.0 else keep_down)
    return keep_up * rise_up + keep_down * rise_down


@compiled(nogil=True)
def _make_all_slopes(columns: Rows, rows: OfRows, place: OfColumns) -> float:
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
def _make_slopes(columns: Rows, weight: np.ndarray, rows: OfRows, place: OfColumns) -> float:
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
        return _make_all_slopes(columns, rows, place)
    (starts, features, values), visited = parts(columns), 0.0
    for j in range(d):
        if place.slopes[j] != 0.0:
            place.slopes[j] = along_column(starts, features, values, j, rows.balanced)
            visited += place.stored[j]
    return visited


@compiled(nogil=True)
def _gap(place: OfColumns, F: float, rise: float) -> float:
    """The duality gap, as `objective.certificate` has it."""
    _, _, _, _, l1, l2, lower, upper = place.quadratic
    slopes = place.slopes
    largest, cost, _ = slope_checks(slopes, slopes, 1.0, 0.0, l1, l2, lower, upper, place.v)
    feasible = FEASIBLE / max(1.0, largest)
    shrunk_cost = cost_of_bounded(slopes, feasible, l1, l2, lower, upper)
    return F - max(-feasible * rise - shrunk_cost, -rise - cost)


@compiled(nogil=True)
def _activate(place: OfColumns, least: float, joining: int) -> tuple[int, float, float]:
    """Choose the columns that are in the model, or pulled by this share of their threshold: how many, how many entries
    they have, and by how much of its threshold one that has to wait may be pulled above it.

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
    n_active = 0
    for j in range(v.shape[0]):
        if v[j] != 0.0 or _pull(slopes[j], l1[j], lower[j], upper[j]) > least:
            place.active[n_active] = j
            n_active += 1
            stored += place.stored[j]
    return n_active, stored, outside


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
def _look_along_columns(
    columns: Rows, terms: Terms, n_active: int, rows: OfRows, place: OfColumns
) -> tuple[float, float]:
    """What the quadratic is along the active columns, with slopes t of rows, and of columns in `gains`: the constant
    that goes with them, and by how much of its threshold the most violated condition is off, which is about the gap, as
    a share of F."""
    _, curved, up, _, down, _ = rows.totals
    D, sums, means, curvatures, l1, l2, lower, upper = place.quadratic
    starts, features, values = parts(columns)
    centred = terms.centred and curved > 0.0
    constant = -(up + down) / curved if centred else 0.0
    for i in range(rows.u.shape[0]):
        rows.t[i] = rows.u[i] + constant * rows.D[i]
    worst = abs(up + down) / max(up, -down, 1e-300) if terms.centred else 0.0
    for k in range(n_active):
        j = place.active[k]
        sums[j], curvatures[j] = sums_along_column(starts, features, values, j, D)
        means[j] = sums[j] / curved if centred else 0.0
        curvatures[j] += l2[j] - sums[j] * means[j]
        slope = along_column(starts, features, values, j, rows.t) + l2[j] * place.v[j]
        place.gains[k] = slope
        worst = max(worst, violation(slope, place.v[j], l1[j], lower[j], upper[j]) / l1[j])
    return constant, worst


@compiled(nogil=True)
def _multiply(columns: Rows, n_active: int, rows: OfRows, place: OfColumns) -> float:
    """The products of the active columns with one another; returns the entries visited."""
    weighted, visited = rows.step, 0.0
    starts, features, values = parts(columns)
    D, sums, means, _, _, l2, _, _ = place.quadratic
    for i in range(weighted.shape[0]):
        weighted[i] = 0.0
    for k in range(n_active):
        j = place.active[k]
        move_along_column(starts, features, values, j, 1.0, D, weighted)
        for other in range(k + 1):
            i = place.active[other]
            product = along_column(starts, features, values, i, weighted) - means[j] * sums[i]
            place.among[k, other] = product
            place.among[other, k] = product
            visited += place.stored[i]
        place.among[k, k] += l2[j]
        move_along_column(starts, features, values, j, -1.0, D, weighted)
    return visited


@compiled(nogil=True, fastmath=FAST)
def _sweeps_over_products(n_active: int, place: OfColumns) -> float:
    """Sweeps over the active columns, by their products, to the far coefficients: what the constant changes by."""
    _, _, means, curvatures, l1, _, lower, upper = place.quadratic
    far, slopes, change, all_gained = place.far, place.gains, 0.0, 0.0
    for _ in range(SWEEPS_OVER_PRODUCTS):
        gained = 0.0
        for k in range(n_active):
            j, products = place.active[k], place.among[k]
            curvature = products[k]
            if not (curvature > 0.0 and curvatures[j] > 0.0):
                continue
            new = best_value(curvature * far[j] - slopes[k], l1[j], lower[j], upper[j], curvature)
            move = new - far[j]
            if move != 0.0:
                gained += curvature * move * move
                change -= move * means[j]
                far[j] = new
                for other in range(n_active):
                    slopes[other] += move * products[other]
        all_gained += gained
        if gained <= NO_GAIN * all_gained:
            break
    return change


@compiled(nogil=True)
def _penalty(n_active: int, place: OfColumns, v: np.ndarray) -> float:
    """Of coefficients, all of which are of active columns."""
    l1, l2, total = place.quadratic.l1, place.quadratic.l2, 0.0
    for k in range(n_active):
        j = place.active[k]
        total += abs(v[j]) * l1[j] + 0.5 * l2[j] * v[j] * v[j]
    return total


@compiled(nogil=True)
def _move(
    columns: Rows, loss: Coded, terms: Terms, n_active: int, rows: OfRows, place: OfColumns, constant: float, F: float
) -> float:
    """Go to the far coefficients, or part of the way, if that lowers F: the share. There rows are looked at."""
    z, step, v, far, active = rows.z, rows.step, place.v, place.far, place.active
    starts, features, values = parts(columns)
    for i in range(z.shape[0]):
        step[i] = constant
    for k in range(n_active):
        j = active[k]
        if far[j] != v[j]:
            add_column(starts, features, values, j, far[j] - v[j], step)
    penalty = _penalty(n_active, place, v)
    promised = penalty - _penalty(n_active, place, far)
    for i in range(z.shape[0]):
        promised -= rows.u[i] * step[i]
    share, rounding = 1.0, max(F_ROUNDING, z.shape[0] * EPSILON) * F  # near the minimum gains are no more than that
    for _ in range(HALVINGS):
        for k in range(n_active):
            j = active[k]
            far[j] = far[j] if share == 1.0 else v[j] + 0.5 * (far[j] - v[j])
        _look_at_rows(loss, terms, rows, share)
        F_new = rows.totals[0] + _penalty(n_active, place, far)
        if F - F_new >= SUFFICIENT * share * promised - rounding:
            for i in range(z.shape[0]):
                z[i] += share * step[i]
            for k in range(n_active):
                v[active[k]] = far[active[k]]
            return share
        share *= 0.5
    return 0.0


@compiled(nogil=True)
def _drop_rounding(columns: Rows, n_active: int, no_effect: float, rows: OfRows, place: OfColumns) -> bool:
    """Coefficients that leave no trace become zero: of a column and its copy, what the second has may be rounding.
    Whether there were any."""
    dropped, largest, (starts, features, values) = False, 0.0, parts(columns)
    for k in range(n_active):
        j = place.active[k]
        largest = max(largest, place.deviation[j] * abs(place.v[j]))
    for k in range(n_active):
        j = place.active[k]
        now = place.v[j]
        if now != 0.0 and place.deviation[j] * abs(now) <= no_effect * largest:
            add_column(starts, features, values, j, -now, rows.z)
            place.v[j], dropped = 0.0, True
    return dropped

"""The models of falling alphas by Newton steps along columns, of a few sweeps each, in one loop over the alphas.

Each model starts where the last two lead to, over the features that are in it or that the strong rule says may be
(Tibshirani et al., 2012). A duality gap over all features certifies it. Slopes that cannot have come near their
threshold are not made for it: |g_j - g'_j| is at most the deviation of column j times |u - u'|, where u are the slopes
of the rows now, and u' those when all slopes were made.
"""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.coordinate import sweeps_along_columns
from riata.kernels.losses import Coded
from riata.kernels.path_columns import KEPT, OfColumns, activate, gap_of, make_all_slopes, make_slopes, penalty_of
from riata.kernels.path_rows import OfRows, Terms, balance, look_at_rows, make_margins
from riata.kernels.path_steps import drop_rounding, look_along_columns, move, multiply, sweeps_over_products
from riata.kernels.rows import Rows
from riata.kernels.strengths import Strengths

FIRST = 2  # models that are given, and lead to the others
STEPS = 100  # of Newton's method for one model
LAST_SWEEP = 0.003  # of what all have gained: after a sweep that gains no more, a quadratic is near its minimum
WORTH = 0.1  # of what an entry gains on average in a sweep: columns that gain less wait for the next step
AMONG_ACTIVE = 2.0  # times all entries: after so much work along active columns the others are looked at, too
HALF = 0.5  # of the least gap: from there the same work again may be worth it
FEW = 64  # active columns, whose products with one another are made at once
KEPT_PRODUCTS = 3  # steps, for which the products of few columns are kept
OF_PRODUCTS = 0.5  # of an entry, for each that a sweep adds
INNER, TIGHTER = 0.5, 0.2  # of the gap that is asked for, over the active features; and where that was not enough
OUTSIDE = 0.1  # of the pull of columns that wait to become active: what conditions are met to, while there are some
SUM_ROUNDING = 9e-16  # as in `objective.certificate`


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
    make_margins(columns, v, b, rows)
    look_at_rows(loss, terms, rows, 0.0)
    balance(terms, rows)
    all_entries = make_all_slopes(columns, rows, place)
    n_active, multiplied, swept = 0, False, 0.0  # whether products are of the active columns; entries since these are
    for i in range(FIRST, models.shares.shape[0]):
        share = models.shares[i]
        for j in range(d):
            l1[j], l2[j] = share * strengths.l1[j], share * strengths.l2[j]
        b = _ahead(models, i, lower, upper, v)
        make_margins(columns, v, b, rows)
        look_at_rows(loss, terms, rows, 0.0)
        least = max(2.0 - models.shares[i - 1] / share, KEPT)
        n_active, entries_active, outside, others = activate(place, least, limits.joining, n_active)
        looked, least_gap, last, most = worked, math.inf, worked + limits.between, worked + limits.of_one
        inner, done = INNER * limits.gap, False
        multiplied = multiplied and terms.constant and not others
        swept = swept if terms.constant and not others else 0.0
        for step in range(STEPS):
            worked += (1.0 if terms.constant else 3.0) * entries_active
            constant, excess = look_along_columns(columns, terms, n_active, rows, place)
            F = rows.totals[0] + penalty_of(n_active, place, v)
            settled = excess * F <= inner
            if settled or excess <= OUTSIDE * outside or worked - looked > AMONG_ACTIVE * all_entries:
                looked, rise = worked, balance(terms, rows)
                worked += make_slopes(columns, terms.weight, rows, place)
                gap = gap_of(place, F, rise) + SUM_ROUNDING * (abs(rows.totals[3]) + abs(rows.totals[5]))
                if gap <= limits.gap:
                    done = True
                    models.losses[i], models.gaps[i] = rows.totals[0], gap
                    break
                if gap < HALF * least_gap or outside > 0.0:
                    least_gap, last = min(gap, least_gap), worked + limits.between
                known = n_active
                n_active, entries_active, outside, others = activate(place, 1.0, limits.joining, n_active)
                if settled and n_active <= known:
                    inner *= TIGHTER
                if others:
                    constant, excess = look_along_columns(columns, terms, n_active, rows, place)
                    multiplied, swept = False, 0.0
            if worked > min(last, most):
                break
            for k in range(n_active):
                place.far[place.active[k]] = v[place.active[k]]
            # of a constant curvature, once sweeps have cost as much as products do: more of them are to come
            pays = terms.constant and swept > 0.5 * entries_active * n_active
            if n_active <= FEW or (pays and n_active <= place.among.shape[0]):
                if not multiplied or (step % KEPT_PRODUCTS == 0 and not terms.constant):
                    worked += multiply(columns, n_active, rows, place)
                    multiplied = True
                change, visited = sweeps_over_products(n_active, place)
                worked += OF_PRODUCTS * visited
            else:
                change, _, visited, _ = sweeps_along_columns(
                    columns, place.quadratic, place.active[:n_active], place.stored, place.far, rows.t, place.history,
                    place.gains, WORTH, LAST_SWEEP,
                )  # fmt: skip
                worked += 2.0 * visited
                swept += 2.0 * visited
            taken = move(columns, loss, terms, n_active, rows, place, constant + change, F)
            if taken == 0.0:
                break
            b += taken * (constant + change)
            if drop_rounding(columns, n_active, limits.no_effect, rows, place):
                look_at_rows(loss, terms, rows, 0.0)
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

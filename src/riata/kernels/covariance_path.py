"""The models of falling alphas by coordinate descent on products of columns, with no row in sight.

The mean squared loss is a quadratic, which the slopes at one point and the products of the columns that have moved from
there tell everywhere: the loss, all slopes, and so a duality gap. Columns whose products are known have places 0 to
m - 1; `features` says of which features they are.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.certificate import cost_of_bounded, slope_checks
from riata.kernels.compiled import compiled, uint64
from riata.kernels.quadratic import best_value
from riata.kernels.rows import FAST
from riata.kernels.strengths import Strengths

AT_ITS_END, OTHERS_PULLED, SLOW = 0, 1, 2  # why it ended
SWEEPS = 10  # along columns that are in the model, between two along all that are known
LITTLE = 0.1  # of what the first of some sweeps gained: there is more to gain elsewhere
INNER, TIGHTER = 0.5, 0.2  # of the gap that is asked for, over the known columns, before all slopes are made; and after
FREE_REACH, FEASIBLE = 10.0, 1.0 - 1e-14  # as in `objective.certificate`


class Known(NamedTuple):
    """Columns whose products are known: about their means, where there is an intercept."""

    features: np.ndarray
    among: np.ndarray  # products with one another
    with_all: np.ndarray  # and with all columns: a row for each
    unit: np.ndarray  # of the effects of coefficients


class Origin(NamedTuple):
    """The point from which others are told: coefficients of the known columns, slopes of all, and the loss."""

    v: np.ndarray
    slopes: np.ndarray
    loss: float


class Place(NamedTuple):
    """Where the path is, over the known columns and over all; with the penalty there."""

    v: np.ndarray
    slopes: np.ndarray
    strengths: Strengths
    all_v: np.ndarray
    all_slopes: np.ndarray
    all_strengths: Strengths
    zeros: np.ndarray


class Models(NamedTuple):
    """What was found for each alpha, which is a share of the first: coefficients of the known columns, loss and gap."""

    shares: np.ndarray
    v: np.ndarray
    losses: np.ndarray
    gaps: np.ndarray


class Limits(NamedTuple):
    """How good models are to be, and how many products of numbers they may take."""

    gap: float
    no_effect: float  # a share of the largest effect that leaves no trace in the gap
    work: float
    rounds: int  # of sweeps, at one alpha


@compiled(nogil=True)
def follow_alphas(
    known: Known,
    strengths: Strengths,
    of_known: Strengths,
    origin: Origin,
    place: Place,
    models: Models,
    first: int,
    guessed: bool,
    limits: Limits,
) -> tuple[int, int, float]:
    """Fill in models from the first on: the number of the next one, why it ended there, and the work that it took.

    The strengths are those of the first alpha. Where `guessed`, the place is a guess at the first model; others are
    guessed from those before.
    """
    m, d, worked = place.v.shape[0], place.all_v.shape[0], 0.0
    for i in range(first, models.shares.shape[0]):
        _scaled(of_known, models.shares[i], place.strengths)
        _scaled(strengths, models.shares[i], place.all_strengths)
        if not (guessed and i == first) and i >= 2:
            _ahead(models, i, place)
        worked += _slopes_from(origin, known.features, known.among, place.v, place.slopes)
        inner, done = INNER * limits.gap, False
        for _ in range(limits.rounds):
            gained, moved = _sweep(known.among, place, True)
            worked += float(moved * m)
            for _ in range(SWEEPS):
                again, moved = _sweep(known.among, place, False)
                worked += float(moved * m)
                if again <= LITTLE * gained:
                    break
            loss = _loss_at(origin, known.features, place.v, place.slopes)
            gap = _gap(place.v, place.slopes, loss, place.strengths, place.zeros)
            worked += float(m)
            if not gap <= inner:
                continue
            _drop_rounding(known, limits.no_effect, place)
            for p in range(m):
                place.all_v[uint64(known.features[p])] = place.v[p]
            worked += _all_slopes_from(origin, known, place)
            loss = _loss_at(origin, known.features, place.v, place.slopes)
            gap = _gap(place.all_v, place.all_slopes, loss, place.all_strengths, place.zeros)
            if gap <= limits.gap:
                done = True
                break
            if _others_pulled(known.features, place):
                return i, OTHERS_PULLED, worked
            inner *= TIGHTER
        if not done:
            return i, SLOW, worked
        for p in range(m):
            models.v[i, p] = place.v[p]
        models.losses[i], models.gaps[i] = loss, gap
        worked += float(d)
        if worked > limits.work:
            return i + 1, AT_ITS_END, worked
    return models.shares.shape[0], AT_ITS_END, worked


@compiled(nogil=True)
def _scaled(strengths: Strengths, share: float, scaled: Strengths) -> None:
    for j in range(strengths.l1.shape[0]):
        scaled.l1[j] = share * strengths.l1[j]
        scaled.l2[j] = share * strengths.l2[j]


@compiled(nogil=True)
def _ahead(models: Models, i: int, place: Place) -> None:
    """Where the last two models lead to, with no sign changed: between two changes it is a straight line."""
    shares, v = models.shares, models.v
    along = min(1.0, (shares[i - 1] - shares[i]) / max(shares[i - 2] - shares[i - 1], 1e-300))
    for p in range(place.v.shape[0]):
        now = v[i - 1, p]
        end = now + along * (now - v[i - 2, p])
        end = min(max(end, place.strengths.lower[p]), place.strengths.upper[p])
        place.v[p] = end if end * now > 0.0 else 0.0


@compiled(nogil=True, fastmath=FAST)
def _add(factor: float, row: np.ndarray, total: np.ndarray) -> None:
    for k in range(total.shape[0]):
        total[k] += factor * row[k]


@compiled(nogil=True)
def _slopes_from(origin: Origin, features: np.ndarray, among: np.ndarray, v: np.ndarray, slopes: np.ndarray) -> float:
    """Those of the known columns; returns the work."""
    m, moved = v.shape[0], 0
    for p in range(m):
        slopes[p] = origin.slopes[uint64(features[p])]
    for p in range(m):
        if v[p] != origin.v[p]:
            _add(v[p] - origin.v[p], among[p], slopes)
            moved += 1
    return float(moved * m)


@compiled(nogil=True)
def _all_slopes_from(origin: Origin, known: Known, place: Place) -> float:
    """Those of all columns; returns the work."""
    slopes, moved = place.all_slopes, 0
    for j in range(slopes.shape[0]):
        slopes[j] = origin.slopes[j]
    for p in range(place.v.shape[0]):
        if place.v[p] != origin.v[p]:
            _add(place.v[p] - origin.v[p], known.with_all[p], slopes)
            moved += 1
    return float(moved * slopes.shape[0])


@compiled(nogil=True)
def _sweep(among: np.ndarray, place: Place, everywhere: bool) -> tuple[float, int]:
    """Each coordinate at its best, those that are zero only where `everywhere`; about what was gained, twice, and how
    many moved."""
    (l1, l2, lower, upper), v, slopes = place.strengths, place.v, place.slopes
    gained, moved = 0.0, 0
    for p in range(v.shape[0]):
        now = v[p]
        if now == 0.0 and not everywhere:
            continue
        own = among[p, p]
        if own <= 0.0:
            continue
        new = best_value(own * now - slopes[p], l1[p], lower[p], upper[p], own + l2[p])
        if new != now:
            v[p] = new
            gained += (own + l2[p]) * (new - now) * (new - now)
            moved += 1
            _add(new - now, among[p], slopes)
    return gained, moved


@compiled(nogil=True)
def _loss_at(origin: Origin, features: np.ndarray, v: np.ndarray, slopes: np.ndarray) -> float:
    rise = 0.0
    for p in range(v.shape[0]):
        if v[p] != origin.v[p]:
            rise += (v[p] - origin.v[p]) * (slopes[p] + origin.slopes[uint64(features[p])])
    return origin.loss + 0.5 * rise


@compiled(nogil=True)
def _gap(v: np.ndarray, slopes: np.ndarray, loss: float, strengths: Strengths, zeros: np.ndarray) -> float:
    """The duality gap, as `objective.certificate` has it."""
    l1, l2, lower, upper = strengths
    penalty, rise = 0.0, -loss
    for p in range(v.shape[0]):
        if v[p] != 0.0:
            penalty += l1[p] * abs(v[p]) + 0.5 * l2[p] * v[p] * v[p]
            rise += slopes[p] * v[p]
    largest, cost, free = slope_checks(slopes, zeros[: v.shape[0]], 1.0, 1.0, l1, l2, lower, upper, v)
    feasible = FEASIBLE / max(1.0, largest)
    shrunk_cost = cost_of_bounded(slopes, feasible, l1, l2, lower, upper)
    return loss + penalty - max(-feasible * rise - shrunk_cost, -rise - cost) + FREE_REACH * free


@compiled(nogil=True)
def _drop_rounding(known: Known, no_effect: float, place: Place) -> None:
    """Coefficients that leave no trace become zero: of a column and its copy, what the second has may be rounding."""
    v, largest = place.v, 0.0
    for p in range(v.shape[0]):
        largest = max(largest, known.unit[p] * abs(v[p]))
    for p in range(v.shape[0]):
        now = v[p]
        if now != 0.0 and known.unit[p] * abs(now) <= no_effect * largest and place.strengths.l1[p] > 0.0:
            v[p] = 0.0
            _add(-now, known.among[p], place.slopes)


@compiled(nogil=True)
def _others_pulled(features: np.ndarray, place: Place) -> bool:
    """Whether a column is pulled that is not known."""
    pulled, mark = False, place.zeros
    for p in range(features.shape[0]):
        mark[uint64(features[p])] = 1.0
    for j in range(mark.shape[0]):
        slope = place.all_slopes[j]
        if mark[j] == 0.0 and abs(slope) > place.all_strengths.l1[j]:
            reach = place.all_strengths.upper[j] if slope < 0.0 else -place.all_strengths.lower[j]
            pulled = pulled or reach > 0.0
        mark[j] = 0.0
    return pulled

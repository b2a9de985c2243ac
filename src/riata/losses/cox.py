"""Cox's proportional hazards: times to an event, of which some are only known to be longer (Cox, 1972).

Time is divided into slots that end with an event each, in order; slot 0 is before the first one. A row is at risk in
the slots after that of its entry, up to that of its own time. Its target is a code: the slot of its time if nothing had
happened by then (it is censored), or `n_slots` more if that is its event. Where rows enter late, y has the slot of the
entry beside the code, in its last axis, and behind that the offset, where they have one; strata lie one after the other
on one line of slots, and rows enter each with its own.

The loss is minus the log partial likelihood, above that of a model that knows the order of all events:

    f(z) = sum over slots k of d_k log(S_k / d_k) - sum over events of s_i z_i,
    S_k = sum over the rows at risk of s_j exp(z_j),

with the weight d_k of the events of slot k, for ties as Breslow has them. With Efron's, the events of a slot leave its
risk set one after the other: each of m of them has S_k - (l / m) T_k, l = 0 ... m - 1, in place of S_k, where T_k is
the part of the events. f is never negative, and 0 in the limit of margins that fall fast enough with time: so its
conjugate is 0 at 0, and certificates are as for any other loss.

At given S_k the hazard of slot k is h_k = d_k / S_k, and f is a sum over rows, half a Poisson deviance:
    exp(z_i) H_i - [event] (1 + z_i + log h_k),    H_i = sum of h over the slots in which row i is at risk.
Its slope exp(z_i) H_i - [event] is that of f. The curvature of f is sum_k d_k Var_k(x), with the variance over the risk
set of slot k; slots that lie together are taken as one, about the mean of all of them, which is never less.
"""

from typing import NamedTuple

import numpy as np

from riata.arrays import Array, to_host
from riata.losses.coupled import CoupledLoss, SettledLoss

LARGEST_MARGIN = 700.0  # whose exponential floating point holds
TERMS = 32  # into which the curvature is divided, at least: nearly that of as many terms as there are events
OF_ROWS = 1 << 19  # rows x terms, up to which there are more: where risks tell nearly all of the order, they matter


class RiskSums(NamedTuple):
    """Sums over rows; arrays have an entry for every slot."""

    weight: float
    event_margins: float  # sum of s z over the events
    risk: np.ndarray  # of s exp(z) of the rows that leave after this slot, less that of those that enter after it
    dying: np.ndarray  # of s exp(z) of the events of a slot
    deaths: np.ndarray  # of s of the events
    counts: np.ndarray  # the number of events
    n_rows: int


class Cox(CoupledLoss):
    """Minus the log partial likelihood, less its least value; ties as Breslow has them."""

    name = "cox"
    efron = False
    tasks = ("survival",)
    score = "partial likelihood loss"
    half_deviance = True
    words = "Cox loss (half the deviance of the partial likelihood)"
    refusal = "the target has times of zero or less"
    formula = (
        "<mo>−</mo><mi>log</mi><mspace width='0.2em'/><mfrac><msup><mi>e</mi><msub><mi>z</mi><mi>i</mi></msub></msup>"
        "<mrow><munder><mo>∑</mo><mrow><mi>j</mi><mspace width='0.2em'/><mtext>at risk</mtext></mrow></munder>"
        "<msup><mi>e</mi><msub><mi>z</mi><mi>j</mi></msub></msup></mrow></mfrac>"
        "<mspace width='0.5em'/><mtext>of events, 0 of censored rows</mtext>"
    )

    def __init__(self, n_slots: int = 0) -> None:
        self.n_slots = n_slots  # known once times are

    @property
    def n_sums(self) -> int:  # type: ignore[override]
        return 4 * self.n_slots

    def reading(self, of: str | None = None) -> str:
        return "the logarithm of the hazard, relative to that of the average row"

    def sums(self, y: Array, z: Array, weight: Array) -> RiskSums:
        code, entry = _codes(y)
        event = code >= self.n_slots
        slot = code - self.n_slots * event
        z, weight = _moved(y, to_host(z)), to_host(weight)
        with np.errstate(over="ignore"):
            mass = weight * np.exp(z)
        risk = self._by_slot(slot, mass)
        if entry is not None:
            risk -= self._by_slot(entry, mass)
        at = slot[event]
        return RiskSums(
            float(weight.sum()),
            float(weight[event] @ z[event]),
            risk,
            self._by_slot(at, mass[event]),
            self._by_slot(at, weight[event]),
            self._by_slot(at, np.ones(len(at))),
            len(weight),
        )

    def _by_slot(self, slot: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return np.bincount(slot, numbers, self.n_slots)

    def total(self, sums: RiskSums) -> float:
        return float(-sums.event_margins - sums.deaths @ self._hazards(sums).log)

    def settled(self, sums: RiskSums) -> "GivenHazard":
        hazards = self._hazards(sums)
        return GivenHazard(self, hazards, sums)

    def _hazards(self, sums: RiskSums) -> "Hazards":
        with np.errstate(all="ignore"):  # margins may be beyond floating point, on the way to others
            at_risk = np.maximum(np.cumsum(sums.risk[::-1])[::-1], sums.dying)
            on = sums.deaths > 0.0
            hazards = _efron if self.efron else _breslow
            return Hazards(*(_spread(on, found) for found in hazards(at_risk[on], *(part[on] for part in sums[3:6]))))


class Efron(Cox):
    """The partial likelihood where the events of one time leave one after the other (Efron, 1977)."""

    name = "cox-efron"
    efron = True
    words = "Cox loss (half the deviance of the partial likelihood, ties as Efron has them)"


class Hazards(NamedTuple):
    """What happens in each slot."""

    of_rows: np.ndarray  # the hazard of rows at risk, at a margin of 0
    of_dying: np.ndarray  # that of the events, which are at risk for a part of it
    log: np.ndarray  # its logarithm, in the mean over the events; 0 where there is none


class GivenHazard(SettledLoss):
    """A Poisson loss of rows whose hazards are known."""

    tasks = Cox.tasks

    def __init__(self, of: Cox, hazards: Hazards, sums: RiskSums) -> None:
        self.name, self._n_slots = of.name, of.n_slots
        self.cumulative = np.cumsum(hazards.of_rows)  # up to the end of each slot
        with np.errstate(invalid="ignore"):  # of margins beyond floating point
            dying = self.cumulative - hazards.of_rows + hazards.of_dying
        self._hazard = np.concatenate([self.cumulative, dying])  # by the code of a row
        self._log = np.concatenate([np.zeros(of.n_slots), 1.0 + hazards.log])
        self._edges = np.unique(
            np.concatenate(
                [
                    [0.0],
                    self.cumulative[_ends_of_terms(sums.deaths, max(TERMS, OF_ROWS // max(sums.n_rows, 1)))],
                    self.cumulative[-1:],
                ]
            )
        )

    def value(self, y: Array, z: Array) -> Array:
        code, _ = _codes(y)
        event, z = code >= self._n_slots, _moved(y, z)
        with np.errstate(invalid="ignore"):
            value = _risk(z) * self._exposure(y) - np.where(event, z, 0.0) - self._log[code]
        return np.where(z > LARGEST_MARGIN, np.inf, value)  # what is left of it there may even be negative

    def derivative(self, y: Array, z: Array) -> Array:
        return _risk(_moved(y, z)) * self._exposure(y) - (_codes(y)[0] >= self._n_slots)

    def second_derivative(self, y: Array, z: Array) -> Array:
        return _risk(_moved(y, z)) * self._exposure(y)

    def shares(self, y: Array, z: Array) -> Array:
        start, end = self._interval(y)
        within = np.clip(end[:, None], self._edges[:-1], self._edges[1:])
        if start is None:
            within -= self._edges[:-1]
        else:
            within -= np.clip(start[:, None], self._edges[:-1], self._edges[1:])
        return _risk(_moved(y, z))[:, None] * within

    def _exposure(self, y: Array) -> np.ndarray:
        """The hazard that a row of margin 0 has been through."""
        start, end = self._interval(y)
        return end if start is None else end - start

    def _interval(self, y: Array) -> tuple[np.ndarray | None, np.ndarray]:
        """The cumulative hazard where each row enters, None where that is 0 for all of them, and where it leaves."""
        code, entry = _codes(y)
        return None if entry is None else self.cumulative[entry], self._hazard[code]


def codes_of(signed: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Codes of times that are negative without an event, among the times of all events, in order."""
    slot = np.searchsorted(times, np.abs(signed), side="right")
    return slot + (len(times) + 1.0) * (signed > 0.0)


def _codes(y: Array) -> tuple[np.ndarray, np.ndarray | None]:
    """The codes of rows, and the slots after which they enter, where they do not all enter before the first."""
    y = to_host(y)
    whole = (y if y.ndim == 1 else y[:, :2]).astype(np.int64)
    return (whole, None) if whole.ndim == 1 else (whole[:, 0], whole[:, 1])


def _moved(y: Array, z: Array) -> Array:
    """Margins with the offsets of their rows, where they have any."""
    return z if y.ndim == 1 or y.shape[1] == 2 else z + to_host(y)[:, 2]


def _risk(z: Array) -> Array:
    """e^z, short of an overflow: a point so far out is no minimum, and a step to it is cut back."""
    return np.exp(np.minimum(z, LARGEST_MARGIN))


def with_offsets(codes: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Codes, with entries or without, and the offsets of their rows."""
    entered = codes if codes.ndim == 2 else np.column_stack([codes, np.zeros(len(codes))])
    return np.column_stack([entered, offset])


def _ends_of_terms(deaths: np.ndarray, n_terms: int) -> np.ndarray:
    """The last slots of the terms: every slot with an event, or some, with about as many events between any two."""
    slots = np.flatnonzero(deaths)
    if len(slots) <= n_terms:
        return slots
    share = np.cumsum(deaths) / deaths.sum()
    return np.searchsorted(share, np.arange(1, n_terms) / n_terms)


def _breslow(at_risk: np.ndarray, dying: np.ndarray, deaths: np.ndarray, counts: np.ndarray) -> Hazards:
    """The hazards of slots that have events."""
    hazard = deaths / at_risk
    return Hazards(hazard, hazard, np.log(hazard))


def _efron(at_risk: np.ndarray, dying: np.ndarray, deaths: np.ndarray, counts: np.ndarray) -> Hazards:
    """The hazards of slots with events: beside the l-th of m events a share of 1 - l / m of the dying is at risk."""
    m = counts.astype(np.int64)
    slot, first = np.repeat(np.arange(len(m)), m), np.cumsum(m) - m
    share = 1.0 - (np.arange(len(slot)) - first[slot]) / m[slot]
    left = at_risk[slot] - (1.0 - share) * dying[slot]
    mean = [np.bincount(slot, part, len(m)) / m for part in (1.0 / left, share / left, np.log(left / share))]
    return Hazards(deaths * mean[0], deaths * mean[1], np.log(deaths) - mean[2])


def _spread(on: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Numbers of the slots that have events, among zeros for the others."""
    spread = np.zeros(len(on))
    spread[on] = numbers
    return spread

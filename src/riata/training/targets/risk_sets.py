"""Times to events while a model is fitted: from signed times to the codes that losses of risk sets look for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from riata.arrays import to_host
from riata.coupled_passes import by_rows
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.folds import ByPosition
from riata.data.remote import Remote
from riata.data.row_marks import ENTRY, STRATA, Mark, Marks
from riata.errors import DataError, OptionError
from riata.losses.cox import Cox, GivenHazard, codes_of, with_offsets
from riata.model.hazard import BaselineHazard, name_of_stratum
from riata.training.fitting import Fit
from riata.training.selection.fits import SelectedFit
from riata.training.spec import Spec
from riata.units import whole_megabytes

ARRAYS = 24  # with a number for every time, that a fit has at once
PER_ROW = 64  # bytes of rows that have strata or entries


@dataclass(frozen=True)
class Stratum:
    """The slots of one stratum: a first one before any event, then one for each of its times."""

    first: int
    times: np.ndarray

    def hazard(self, cumulative: np.ndarray, n_strata: int) -> BaselineHazard:
        """The baseline hazard of this stratum, from the cumulative hazard along the slots of all strata."""
        own = cumulative[self.first : self.first + 1 + len(self.times)]
        return BaselineHazard.of(self.times, own[1:] - own[0], n_strata)


@dataclass(frozen=True)
class RiskSets:
    """The loss of rows in their risk sets, and how rows get the codes that it takes (`riata.losses.cox`)."""

    times: np.ndarray  # of all events, in order
    loss: Cox
    coded: Callable[[Dataset], Dataset]
    together: "RiskSets | None" = None  # the same with all strata as one, where there are some,
    strata: Mapping[str, Stratum] | None = None  # and where each of these is

    @classmethod
    def of_times(cls, times: np.ndarray, kind: type[Cox]) -> "RiskSets":
        """The risk sets of rows that are at risk from the start, up to their own times."""

        def coded(chunk: Chunk) -> Chunk:
            return chunk._replace(y=codes_of(to_host(chunk.y), times))

        return cls(times, kind(len(times) + 1), lambda data: data.map(coded))

    def rows(self, data: Dataset) -> Dataset:
        """The rows with the codes of their slots for a target."""
        seen = self.coded(data)
        if data.facts.offset is not None:
            seen = seen.map(_with_offset)
            seen.facts = seen.facts.but(offset=None)
        return seen.sharing_moments(lambda of_target: data.target_moments if of_target else data.moments)

    def baseline(self, data: Dataset, w: np.ndarray, b: float) -> BaselineHazard:
        """The cumulative hazard of a row of margin 0, by a model of these coefficients: one pass.

        Of several strata it is that of all their rows together, with those of each beside it: one more pass.
        """
        if self.together is None or self.strata is None:
            return BaselineHazard.of(self.times, self._cumulative(data, w, b)[1:])
        whole, cumulative = self.together.baseline(data, w, b), self._cumulative(data, w, b)
        each = {name: one.hazard(cumulative, len(self.strata)) for name, one in self.strata.items() if len(one.times)}
        return replace(whole, by_stratum=each)

    def _cumulative(self, data: Dataset, w: np.ndarray, b: float) -> np.ndarray:
        """The cumulative hazard up to the end of each slot."""
        [settled] = by_rows(self.rows(data), self.loss, [(w, b)])
        assert isinstance(settled, GivenHazard)
        return settled.cumulative


def _with_offset(chunk: Chunk) -> Chunk:
    return chunk._replace(y=with_offsets(to_host(chunk.y), to_host(chunk.offset)), offset=None)


def check_risks(data: Dataset, spec: Spec) -> None:
    """Refuse what is not there for losses of risk sets."""
    if spec.device is not None:
        raise OptionError(f"loss {spec.loss_function.name!r} is not there on a GPU: leave device out")


def risk_sets(data: Dataset, spec: Spec, marks: Marks | None = None, validation: Dataset | None = None) -> RiskSets:
    """The risk sets of some rows, by strata and entries where marks say so, and of those that choose among models.

    One pass over each.
    """
    times = event_times(data)
    if not len(times):
        raise DataError("no row has an event: there is nothing to learn from")
    kind = type(spec.loss_function)
    assert issubclass(kind, Cox)
    own = [None if marks is None or role not in marks else marks[role] for role in (STRATA, ENTRY)]
    placed = any(mark is not None for mark in own)
    memory, need = spec.memory_bytes or data.memory, ARRAYS * 8 * len(times) + (PER_ROW * data.n_rows if placed else 0)
    if memory is not None and need > memory:
        raise OptionError(
            f"there are {len(times)} different times of events{', strata or entries' if placed else ''}, which need "
            f"{whole_megabytes(need)}, more than the budget of {memory / 1e6:.0f} MB: round the times, or give it more "
            "memory"
        )
    if placed:
        if validation is not None:
            raise OptionError("a validation set is not there beside strata or entry: select by cv, or a criterion")
        return _in_strata(data, kind, times, *own)
    return RiskSets.of_times(times if validation is None else np.union1d(times, event_times(validation)), kind)


def _in_strata(data: Dataset, kind: type[Cox], times: np.ndarray, strata: Mark | None, entry: Mark | None) -> RiskSets:
    """The risk sets of rows that differ in their strata, or in when they came under observation."""
    signed, _ = data.targets()
    enters = np.full(len(signed), -np.inf) if entry is None else entry.numbers.all()
    late = enters >= np.abs(signed)
    if late.any():
        row = int(np.argmax(late))
        raise DataError(
            f"row {row + 1} of those used enters at {enters[row]:g} and leaves at {abs(signed[row]):g}: an entry is "
            "before the time of the row"
        )
    one = _slots(signed, enters, np.zeros(len(signed), dtype=np.uint64))
    together = RiskSets(times, kind(one.n_slots), _placing(one.codes, one.entries))
    if strata is None:
        return together
    own = _slots(signed, enters, strata.numbers.all())
    return RiskSets(times, kind(own.n_slots), _placing(own.codes, own.entries), together, own.strata)


class _Slots(NamedTuple):
    """How many slots there are, the code of each row, and the slot after which it enters, stratum after stratum."""

    n_slots: int
    codes: np.ndarray
    entries: np.ndarray
    strata: dict[str, Stratum]


def _slots(signed: np.ndarray, enters: np.ndarray, strata: np.ndarray) -> _Slots:
    order = np.argsort(strata, kind="stable")
    ends = np.flatnonzero(np.diff(strata[order])) + 1
    slot, entry = np.empty(len(signed)), np.empty(len(signed))
    n_slots, found = 0, {}
    for rows in np.split(order, ends):
        times = np.unique(signed[rows][signed[rows] > 0.0])
        slot[rows] = n_slots + np.searchsorted(times, np.abs(signed[rows]), side="right")
        entry[rows] = n_slots + np.searchsorted(times, enters[rows], side="right")
        found[name_of_stratum(strata[rows[0]])] = Stratum(n_slots, times)
        n_slots += len(times) + 1
    return _Slots(n_slots, slot + n_slots * (signed > 0.0), entry, found)


def _placing(codes: np.ndarray, entries: np.ndarray) -> Callable[[Dataset], Dataset]:
    """What gives rows their codes and entries, by their positions."""
    y = np.column_stack([codes, entries])

    def coded(start: int, chunk: Chunk) -> Chunk:
        return chunk._replace(y=y[start : start + chunk.n_rows])

    def view(data: Dataset) -> Dataset:
        if isinstance(data, Remote):
            return data.placed_map(coded)
        return data.map(lambda chunk: coded(0, chunk)) if data.cheap_passes else ByPosition(data, coded, data.n_rows)

    return view


class _Times:
    """Different times, of which two sets add up to one."""

    def __init__(self, times: np.ndarray) -> None:
        self.times = np.unique(times)

    def __add__(self, other: "_Times") -> "_Times":
        return _Times(np.concatenate([self.times, other.times]))


def _times_of(chunk: Chunk) -> _Times:
    y = to_host(chunk.y)
    return _Times(y[y > 0.0])


def event_times(data: Dataset) -> np.ndarray:
    """The times at which rows have events, in order: one pass."""
    return data.sum(_times_of).times


def centred(fitted: Fit, mean: np.ndarray) -> Fit:
    """The fit with intercepts by which the average row has a margin of 0: any others would do as well."""
    result = fitted.result
    fitted = replace(fitted, result=replace(result, intercept=float(-mean @ result.coef)))
    if isinstance(fitted, SelectedFit):
        fitted = replace(fitted, path=replace(fitted.path, intercepts=-fitted.path.coefs @ mean))
    return fitted

"""Times to events while a model is fitted: from signed times to the codes that losses of risk sets look for."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from riata.arrays import to_host
from riata.coupled_passes import by_rows
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import DataError, OptionError
from riata.losses.cox import Cox, GivenHazard
from riata.model.hazard import BaselineHazard
from riata.training.fitting import Fit
from riata.training.selection.fits import SelectedFit
from riata.training.spec import Spec
from riata.units import whole_megabytes

ARRAYS = 24  # with a number for every time, that a fit has at once


@dataclass(frozen=True)
class RiskSets:
    """The times of all events, which divide time into slots (`riata.losses.cox`), and the loss of rows in them."""

    times: np.ndarray
    loss: Cox

    def rows(self, data: Dataset) -> Dataset:
        """The rows with the codes of their slots for a target."""
        seen = data.map(_coding(self.times))
        return seen.sharing_moments(lambda of_target: data.target_moments if of_target else data.moments)

    def baseline(self, data: Dataset, w: np.ndarray, b: float) -> BaselineHazard:
        """The cumulative hazard of a row of margin 0, by a model of these coefficients: one pass."""
        [settled] = by_rows(self.rows(data), self.loss, [(w, b)])
        assert isinstance(settled, GivenHazard)
        return BaselineHazard.of(self.times, settled.cumulative[1:])


def check_risks(data: Dataset, spec: Spec) -> None:
    """Refuse what is not there for losses of risk sets."""
    if spec.device is not None:
        raise OptionError(f"loss {spec.loss_function.name!r} is not there on a GPU: leave device out")
    if data.facts.offset is not None:
        raise OptionError(f"loss {spec.loss_function.name!r} has no offset yet: make it a feature, or leave it out")


def risk_sets(data: Dataset, spec: Spec, validation: Dataset | None = None) -> RiskSets:
    """The risk sets of some rows, and of those that choose among models: one pass over each."""
    times = event_times(data)
    if not len(times):
        raise DataError("no row has an event: there is nothing to learn from")
    memory = spec.memory_bytes or data.memory
    need = ARRAYS * 8 * len(times)
    if memory is not None and need > memory:
        raise OptionError(
            f"there are {len(times)} different times of events, which need {whole_megabytes(need)}, more than the "
            f"budget of {memory / 1e6:.0f} MB: round the times, or give it more memory"
        )
    if validation is not None:
        times = np.union1d(times, event_times(validation))
    loss = spec.loss_function
    assert isinstance(loss, Cox)
    return RiskSets(times, type(loss)(len(times) + 1))


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


def _coding(times: np.ndarray) -> Callable[[Chunk], Chunk]:
    """What makes codes of signed times."""
    n_slots = len(times) + 1

    def coded(chunk: Chunk) -> Chunk:
        y = to_host(chunk.y)
        slot = np.searchsorted(times, np.abs(y), side="right")
        return chunk._replace(y=(slot + n_slots * (y > 0.0)).astype(np.float64))

    return coded


def centred(fitted: Fit, mean: np.ndarray) -> Fit:
    """The fit with intercepts by which the average row has a margin of 0: any others would do as well."""
    result = fitted.result
    fitted = replace(fitted, result=replace(result, intercept=float(-mean @ result.coef)))
    if isinstance(fitted, SelectedFit):
        fitted = replace(fitted, path=replace(fitted.path, intercepts=-fitted.path.coefs @ mean))
    return fitted

"""The baseline hazard of a model of times to events, and the survival curves that follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riata.errors import DataError, OptionError
from riata.schema import SchemaError, build

MOST_TIMES = 4096  # that are kept with a model: its file stays readable
FEWEST_TIMES = 16  # of one stratum, however many there are


@dataclass(frozen=True)
class BaselineHazard:
    """The cumulative hazard of a row of margin 0 after each of these times: a step up at each (Breslow, 1972)."""

    times: np.ndarray
    cumulative: np.ndarray
    by_stratum: Mapping[str, "BaselineHazard"] = field(default_factory=dict)  # by `name_of_stratum`, if there are any

    @classmethod
    def of(cls, times: np.ndarray, cumulative: np.ndarray, n_strata: int = 1) -> "BaselineHazard":
        """The hazard at these times; of very many, at some of them, with about as much hazard between any two."""
        most = max(MOST_TIMES // n_strata, FEWEST_TIMES)
        if len(times) > most:
            levels = np.linspace(0.0, cumulative[-1], most + 1)[1:]
            kept = np.unique(np.searchsorted(cumulative, levels).clip(max=len(times) - 1))
            times, cumulative = times[kept], cumulative[kept]
        return cls(times, cumulative)

    def of_rows(self, z: np.ndarray, times: Any = None, strata: np.ndarray | None = None) -> np.ndarray:
        """The cumulative hazard at these times, or at its own: rows x times, for margins z, by strata if given."""
        times = self.times if times is None else np.atleast_1d(np.asarray(times, dtype=np.float64))
        at = self._at(times)[None] if strata is None else self._of_strata(strata, times)
        with np.errstate(over="ignore", invalid="ignore"):  # a hazard of 0 stays 0, whatever the margin
            return np.where(at == 0.0, 0.0, np.exp(z)[:, None] * at)

    def survival(self, z: np.ndarray, times: Any = None, strata: np.ndarray | None = None) -> np.ndarray:
        """The probability that nothing has happened by these times, or by its own: rows x times, for margins z."""
        return np.exp(-self.of_rows(z, times, strata))

    def _at(self, times: np.ndarray) -> np.ndarray:
        return StepFunction(self.times, self.cumulative, 0.0)(times)

    def _of_strata(self, strata: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The cumulative hazard of each row's stratum, whose hash it has: rows x times."""
        if not self.by_stratum:
            raise OptionError("the model was fitted without strata: it has no use for them")
        each, place = np.unique(strata, return_inverse=True)
        known = [self.by_stratum.get(name_of_stratum(stratum)) for stratum in each]
        found = [np.zeros(len(times)) if one is None else one._at(times) for one in known]
        unknown = np.array([one is None for one in known])[place]
        if unknown.any():
            row = int(np.argmax(unknown))
            raise DataError(f"row {row + 1} is of a stratum that no event of the rows learnt from was in")
        return np.array(found).reshape(len(each), len(times))[place]

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"times": self.times.tolist(), "cumulative": self.cumulative.tolist()}
        if self.by_stratum:
            plain["strata"] = {name: one.to_json() for name, one in self.by_stratum.items()}
        return plain

    @classmethod
    def from_json(cls, plain: Any) -> "BaselineHazard":
        own = build(_Plain, plain, "the hazard")
        times, cumulative = np.array(own.times, dtype=np.float64), np.array(own.cumulative, dtype=np.float64)
        fine = len(times) == len(cumulative) > 0 and np.isfinite(times).all() and np.isfinite(cumulative).all()
        if not fine or np.any(np.diff(times) <= 0) or times[0] <= 0 or np.any(np.diff(cumulative, prepend=0.0) < 0):
            raise SchemaError("its hazard does not rise over rising times")
        return cls(times, cumulative, {name: cls.from_json(one) for name, one in own.strata.items()})


def given_strata(labels: Any, n_rows: int) -> np.ndarray | None:
    """The hashes of strata that are given as one label for each row; None where none are given."""
    if labels is None:
        return None
    from riata.data.row_marks import strata_of  # which needs Arrow: other predictions do without

    return strata_of(labels, n_rows)


def name_of_stratum(number: Any) -> str:
    """What the hash of a stratum is called in a file: 64 bits are more than a JSON number has in many languages."""
    return f"{int(number):016x}"


@dataclass(frozen=True)
class _Plain:
    """A hazard as JSON has it."""

    times: list[float]
    cumulative: list[float]
    strata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StepFunction:
    """A function of time that changes at times `x`, from each of which on it is `y`; before the first it is `first`."""

    x: np.ndarray
    y: np.ndarray
    first: float

    def __call__(self, times: Any) -> Any:
        """The value at a time, or at each of several."""
        values = np.concatenate([[self.first], self.y])
        return values[np.searchsorted(self.x, np.asarray(times, dtype=np.float64), side="right")]

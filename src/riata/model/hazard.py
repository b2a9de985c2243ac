"""The baseline hazard of a model of times to events, and the survival curves that follow from it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from riata.schema import SchemaError, build

MOST_TIMES = 4096  # that are kept with a model: its file stays readable


@dataclass(frozen=True)
class BaselineHazard:
    """The cumulative hazard of a row of margin 0 after each of these times: a step up at each (Breslow, 1972)."""

    times: np.ndarray
    cumulative: np.ndarray

    @classmethod
    def of(cls, times: np.ndarray, cumulative: np.ndarray) -> "BaselineHazard":
        """The hazard at these times; of very many, at some of them, with about as much hazard between any two."""
        if len(times) > MOST_TIMES:
            levels = np.linspace(0.0, cumulative[-1], MOST_TIMES + 1)[1:]
            kept = np.unique(np.searchsorted(cumulative, levels).clip(max=len(times) - 1))
            times, cumulative = times[kept], cumulative[kept]
        return cls(times, cumulative)

    def of_rows(self, z: np.ndarray, times: Any = None) -> np.ndarray:
        """The cumulative hazard at these times, or at its own: rows x times, for margins z."""
        step = StepFunction(self.times, self.cumulative, 0.0)
        at = self.cumulative if times is None else np.atleast_1d(step(times))
        with np.errstate(over="ignore", invalid="ignore"):  # a hazard of 0 stays 0, whatever the margin
            return np.where(at == 0.0, 0.0, np.exp(z)[:, None] * at)

    def survival(self, z: np.ndarray, times: Any = None) -> np.ndarray:
        """The probability that nothing has happened by these times, or by its own: rows x times, for margins z."""
        survival: np.ndarray = np.exp(-self.of_rows(z, times))
        return survival

    def to_json(self) -> dict[str, list[float]]:
        return {"times": self.times.tolist(), "cumulative": self.cumulative.tolist()}

    @classmethod
    def from_json(cls, plain: Any) -> "BaselineHazard":
        own = build(_Plain, plain, "the hazard")
        times, cumulative = np.array(own.times, dtype=np.float64), np.array(own.cumulative, dtype=np.float64)
        fine = len(times) == len(cumulative) > 0 and np.isfinite(times).all() and np.isfinite(cumulative).all()
        if not fine or np.any(np.diff(times) <= 0) or times[0] <= 0 or np.any(np.diff(cumulative, prepend=0.0) < 0):
            raise SchemaError("its hazard does not rise over rising times")
        return cls(times, cumulative)


@dataclass(frozen=True)
class _Plain:
    """A hazard as JSON has it."""

    times: list[float]
    cumulative: list[float]


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

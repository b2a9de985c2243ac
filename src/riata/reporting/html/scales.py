"""From numbers to places between 0 and 1 along an axis, and the round numbers that are written beside it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riata.plot.limits import RESOLUTION, limits
from riata.reporting.html.numbers import short

MOST_TICKS = 6
FEWEST_DIGITS, MOST_DIGITS = 4, 13


@dataclass(frozen=True)
class Axis:
    """What one direction of a chart shows: its name, and how its numbers are laid out."""

    title: str
    log: bool = False
    falling: bool = False  # large numbers first
    low: float | None = None  # where it begins and ends, instead of where the data does
    high: float | None = None
    whole: bool = False  # only whole numbers are written beside it


@dataclass(frozen=True)
class Scale:
    """Places of numbers along an axis: 0 at `start`, 1 at `end`."""

    start: float
    end: float
    log: bool = False
    whole: bool = False

    def at(self, values: ArrayLike) -> np.ndarray:
        """The place of every number."""
        numbers, a, b = np.asarray(values, dtype=float), self.start, self.end
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                numbers, a, b = np.log(numbers), np.log(a), np.log(b)
        return np.asarray((numbers - a) / (b - a))

    def ticks(self) -> list[float]:
        """Round numbers within the scale, a handful."""
        low, high = sorted((self.start, self.end))
        candidates = _decades(low, high) if self.log else _steps(low, high)
        if self.whole:
            candidates = [tick for tick in candidates if tick.is_integer()]
        return [tick for tick, place in zip(candidates, self.at(candidates), strict=True) if -1e-9 <= place <= 1 + 1e-9]

    def labelled(self) -> list[tuple[float, str]]:
        """Places and texts of the ticks."""
        ticks = self.ticks()
        return [(float(place), text) for place, text in zip(self.at(ticks), _texts(ticks), strict=True)]


def _texts(ticks: list[float]) -> list[str]:
    """The ticks in as few digits as tell them apart."""
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        texts = [short(tick, digits) for tick in ticks]
        if len(set(texts)) == len(texts):
            return texts
    return [short(tick, MOST_DIGITS) for tick in ticks]


def scale_of(axis: Axis, values: ArrayLike, margin: float = 0.03) -> Scale:
    """The scale on which these values fit, with a little room on both sides."""
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers) & ((numbers > 0) | (not axis.log))]
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (1.0, 1.0)
    if axis.log:
        low, high = (
            (low / 2, high * 2)
            if high <= low * (1.0 + RESOLUTION)
            else (low * (low / high) ** margin, high * (high / low) ** margin)
        )
    else:
        low, high = limits(np.array([low, high]), margin)
    low, high = low if axis.low is None else axis.low, high if axis.high is None else axis.high
    start, end = (high, low) if axis.falling else (low, high)
    return Scale(start, end, axis.log, axis.whole)


def _steps(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / MOST_TICKS
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [float(f"{n * step:.12g}") for n in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten, not too many of them; with 2 and 5 between them where there are few."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    if high / low < 10:
        return _steps(low, high)
    if last - first <= 3:
        return [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    every = -(-(last - first) // MOST_TICKS)
    return [10.0**e for e in range(first, last + 1) if e % every == 0]

"""Histograms in bounded memory, of numbers whose range is not known in advance."""

from dataclasses import dataclass
from math import floor, frexp, ldexp

import numpy as np

from riata.data.columns.column_profile import Bins

MOST_BINS = 64
DIGITS = 50  # the most bits of a bin's number; a double has 53


@dataclass(frozen=True)
class Histogram:
    """Bin i counts numbers in [(first + i) width, (first + i + 1) width), where width = 2^exponent.

    The exponent is the least that needs no more than `most` bins. A wider bin is a union of narrower ones, so that
    histograms can be added exactly: the result does not depend on how rows were divided into chunks. In place of a
    count a bin may have several sums, one in each column of `counts`.
    """

    exponent: int
    first: int
    counts: np.ndarray
    most: int = MOST_BINS

    @property
    def width(self) -> float:
        return ldexp(1.0, self.exponent)

    @property
    def edges(self) -> np.ndarray:
        return np.ldexp(self.first + np.arange(len(self.counts) + 1.0), self.exponent)

    def __add__(self, other: "Histogram") -> "Histogram":
        exponent = max(self.exponent, other.exponent)
        while True:
            a, b = self.coarser(exponent), other.coarser(exponent)
            first, last = min(a.first, b.first), max(a.first + len(a.counts), b.first + len(b.counts))
            if last - first <= self.most:
                break
            exponent += 1
        counts = np.zeros((last - first, *a.counts.shape[1:]))
        for part in (a, b):
            counts[part.first - first :][: len(part.counts)] += part.counts
        return Histogram(exponent, first, counts, self.most)

    def coarser(self, exponent: int) -> "Histogram":
        """The same counts in bins of this exponent, if those are wider."""
        if exponent <= self.exponent:
            return self
        numbers = (self.first + np.arange(len(self.counts))) >> min(exponent - self.exponent, 63)
        starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        return Histogram(exponent, int(numbers[0]), np.add.reduceat(self.counts, starts, axis=0), self.most)

    @property
    def bins(self) -> Bins:
        """The counts as plain numbers."""
        return Bins(self.first * self.width, self.width, self.counts.astype(np.int64).tolist())


def histogram_of(values: np.ndarray, weight: np.ndarray | None = None, most: int = MOST_BINS) -> Histogram:
    """The histogram of one or more finite numbers."""
    exponent, first, bins = binned(values, most)
    return Histogram(exponent, first, np.bincount(bins, weight).astype(np.float64), most)


def binned(values: np.ndarray, most: int = MOST_BINS) -> tuple[int, int, np.ndarray]:
    """The exponent and the first number of the bins of one or more finite numbers, and the bin of each, from zero."""
    low, high = float(values.min()), float(values.max())
    exponent = _least_exponent(low, high, most)
    first = floor(ldexp(low, -exponent))
    return exponent, first, np.floor(np.ldexp(values, -exponent)).astype(np.int64) - first


def _least_exponent(low: float, high: float, most: int) -> int:
    exponent = max(_exponent((high - low) / most) - 1, _exponent(max(abs(low), abs(high))) - DIGITS)
    while floor(ldexp(high, -exponent)) - floor(ldexp(low, -exponent)) >= most:
        exponent += 1
    return exponent


def _exponent(value: float) -> int:
    """e with 2^(e - 1) <= value < 2^e; very negative for 0."""
    return frexp(value)[1] if value > 0 else -1000

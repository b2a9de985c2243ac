"""Predicted probabilities against what came true, by groups of rows: tenths of them, and finer ones at the top.

Groups of equal width would leave all rows of a rare class in the first one. A fine histogram over the logarithm of the
odds is filled in one pass, and its bins are put together to groups when all rows are known.
"""

from dataclasses import dataclass

import numpy as np

REACH, WIDTH = 20.0, 0.05  # of the histogram, in logarithms of odds
SHARES = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999])  # where groups of rows end
FEWEST = 20  # rows of a group


@dataclass(frozen=True)
class Calibration:
    """Groups of rows by predicted probability: its mean, the share that came true, and the weight of the rows."""

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray

    def of_others(self) -> "Calibration":
        """The calibration of the other one of two classes."""
        return Calibration(1.0 - self.predicted[::-1], 1.0 - self.observed[::-1], self.weight[::-1])


class CalibrationTable:
    """Sums over rows of weight, predicted probability and what came true, by a fine grid of probabilities."""

    def __init__(self) -> None:
        self._sums = np.zeros((3, round(2 * REACH / WIDTH) + 1))
        self._n_rows = 0

    def add(self, p: np.ndarray, came_true: np.ndarray, weight: np.ndarray) -> None:
        """Add the probabilities of some rows."""
        with np.errstate(divide="ignore"):
            odds = np.log(p) - np.log1p(-p)
        bins = np.rint((np.clip(odds, -REACH, REACH) + REACH) / WIDTH).astype(np.intp)
        size = self._sums.shape[1]
        self._sums += [np.bincount(bins, w, size) for w in (weight, weight * p, weight * came_true)]
        self._n_rows += len(p)

    def groups(self) -> Calibration:
        """The bins put together."""
        weight, predicted, observed = self._sums[:, self._sums[0] > 0]
        before = (np.cumsum(weight) - weight) / weight.sum()  # the share of rows below each bin
        ends = SHARES[(1.0 - SHARES) * self._n_rows >= FEWEST] if self._n_rows >= 2 * FEWEST else SHARES[4:5]
        group = np.searchsorted(ends, before, side="right")
        _, group = np.unique(group, return_inverse=True)
        weight, predicted, observed = (np.bincount(group, w) for w in (weight, predicted, observed))
        return Calibration(predicted / weight, observed / weight, weight)

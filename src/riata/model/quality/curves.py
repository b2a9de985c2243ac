"""Scores of two kinds of rows, and the curves that they give.

Up to `KEPT` different scores are kept as they are. Where there are more they are rounded to `MANTISSA` bits and equal
ones are put together, so that there are never more than a few tens of thousands whatever the number of rows.
"""

from collections.abc import Callable

import numpy as np

KEPT = 200_000
MANTISSA = 10  # bits of a rounded score: a part in two thousand


class SumsByScore:
    """Sums over the rows of every score, the lowest score first."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._rounding: Callable[[np.ndarray], np.ndarray] = np.asarray
        self._together = False  # whether there is one part, in order

    def add_sums(self, z: np.ndarray, summed: np.ndarray) -> None:
        """Add the scores of some rows, and what is summed of them, each in a row."""
        self._parts.append((z, summed))
        self._together = False
        if sum(len(z) for z, _ in self._parts) > KEPT:
            self._put_together()
            if len(self._parts[0][0]) > KEPT // 2:
                self._rounding = rounded
                self._put_together()

    def _put_together(self) -> None:
        z = self._rounding(np.concatenate([z for z, _ in self._parts]))
        summed = np.concatenate([summed for _, summed in self._parts], axis=1)
        scores, places = np.unique(z, return_inverse=True)
        self._parts = [(scores, np.array([np.bincount(places, w, len(scores)) for w in summed]))]
        self._together = True

    @property
    def sums(self) -> np.ndarray:
        """The sums of the rows of each score, a column for each."""
        if not self._together:
            self._put_together()
        return self._parts[0][1]


class ScoreTable(SumsByScore):
    """The weight of negative and of positive rows at every score, the lowest score first."""

    def add(self, z: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> None:
        """Add the scores of some rows."""
        self.add_sums(z, np.where([~positive, positive], weight, 0.0))

    @property
    def weights(self) -> np.ndarray:
        """The weights of negative rows, and of positive ones, by score."""
        return self.sums

    @property
    def both(self) -> bool:
        """Whether there are rows of both kinds: without, there are no curves."""
        return bool(self.weights.any(axis=1).all())

    def of_others(self) -> "ScoreTable":
        """The table in which negative rows are the positive ones, whose scores are the other way round."""
        found, weights = ScoreTable(), self.weights
        found._parts, found._together = [(-self._parts[0][0][::-1], weights[::-1, ::-1])], True
        return found

    @property
    def auc(self) -> float:
        """The chance that a positive row scores above a negative one, equal scores counting half."""
        negative, positive = self.weights
        below = np.cumsum(negative) - 0.5 * negative
        return float(below @ positive / (negative.sum() * positive.sum()))

    def roc(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the negative and of the positive rows above every threshold, the highest threshold first."""
        false, true = (np.concatenate([[0.0], np.cumsum(w[::-1]) / w.sum()]) for w in self.weights)
        return false, true

    def precision_recall(self) -> tuple[np.ndarray, np.ndarray]:
        """Precision and recall above every threshold, the highest threshold first."""
        false, true = (np.cumsum(w[::-1]) for w in self.weights)
        return true / (false + true), true / true[-1]

    @property
    def average_precision(self) -> float:
        """The mean precision over recall."""
        precision, recall = self.precision_recall()
        return float(np.diff(recall, prepend=0.0) @ precision)


def rounded(z: np.ndarray) -> np.ndarray:
    """z with few bits, cut towards zero: the order of different results is that of z."""
    mask = np.uint32((0xFFFFFFFF << (23 - MANTISSA)) & 0xFFFFFFFF)  # of a float32's 23
    return (z.astype(np.float32).view(np.uint32) & mask).view(np.float32).astype(np.float64)

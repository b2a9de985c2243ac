"""Whether the labels of a stream come sorted: what is learnt last then counts for more than all before."""

import numpy as np

ENOUGH = 20  # changes of the label from one row to the next that a random order would have brought
FEW = 0.05  # share of them that a sorted order stays below


class LabelOrder:
    """Counts how often a row and the one before it have different labels, in rows as they come."""

    def __init__(self) -> None:
        self._changes, self._last, self._counts = 0, -1, np.zeros(0, dtype=np.int64)

    def add(self, codes: np.ndarray) -> None:
        """See the next rows, each by the number of its label."""
        counts = np.bincount(codes, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        self._changes += int(np.count_nonzero(np.diff(codes))) + int(self._last not in (-1, codes[0]))
        self._last = int(codes[-1])

    def saved(self) -> list[int]:
        """Plain numbers, from which `restored` goes on."""
        return [self._changes, self._last, *self._counts.tolist()]

    @classmethod
    def restored(cls, saved: list[int]) -> "LabelOrder":
        order = cls()
        order._changes, order._last, *counts = saved
        order._counts = np.array(counts, dtype=np.int64)
        return order

    @property
    def is_sorted(self) -> bool:
        """Whether rows of a class come one after the other far more often than by chance."""
        n = int(self._counts.sum())
        expected = n * (1.0 - float(np.sum((self._counts / max(n, 1)) ** 2)))
        return expected >= ENOUGH and self._changes < FEW * expected

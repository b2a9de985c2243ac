"""Some rows of a dataset: the folds of a cross-validation, the halves of stability selection.

Every chunk deals its rows to the parts at random, a row always to the same part under the same seed, so that a part can
be read as often as needed and keeps nothing in memory.
"""

import numpy as np

from riata.data.dataset import Dataset
from riata.data.memory import InMemory


def deal(n_rows: int, parts: int, seed: int, chunk: int) -> np.ndarray:
    """The part of each row of a chunk, in random order and as even as can be."""
    rng = np.random.default_rng([seed, chunk])
    return rng.permutation(np.arange(n_rows) + rng.integers(parts)) % parts


class Part(Dataset):
    """The rows of one part, or of all others (`without`), read chunk by chunk."""

    def __init__(self, data: Dataset, parts: int, part: int, seed: int, without: bool = False):
        super().__init__()
        self._data, self._deal, self._part, self._without = data, (parts, seed), part, without
        share = (parts - 1) / parts if without else 1 / parts
        self.n_rows = max(1, round(data.n_rows * share))
        self.n_features, self.n_chunks = data.n_features, data.n_chunks
        self.feature_names, self.classes = data.feature_names, data.classes

    def visit(self, order=None):
        order = list(range(self.n_chunks) if order is None else order)
        for i, chunk in zip(order, self._data.visit(order), strict=True):
            rows = (deal(chunk.n_rows, *self._deal, i) == self._part) != self._without
            if rows.any():
                self.rows_read += int(rows.sum())
                yield chunk.rows(rows)


def part_of(data: Dataset, parts: int, part: int, seed: int, without: bool = False) -> Dataset:
    """One part, or all others: in memory if the data is."""
    chosen = Part(data, parts, part, seed, without)
    if not data.in_memory:
        return chosen
    (chunk,) = chosen.visit()
    return InMemory(chunk.X, chunk.y, chunk.weight, data.feature_names, data.classes)

"""The moments of one class against the rest, for all classes from one pass.

Means and squares of columns are the same whichever class is fitted. With y = +1 for the rows of class k and -1 for all
others, what has to do with the target follows from the weight W_k of the class and the sums of its columns, S_k:

    mean of y = 2 W_k / W - 1,    squares of y = 4 W_k (W - W_k) / W,    products with y = 2 (S_k - W_k mean).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.data.budget import chunk_bytes, parse_memory
from riata.data.chunk import Chunk
from riata.data.dataset import Columns, Dataset
from riata.matrices.moments import Moments

FAR = 1e4  # deviations from zero: a column farther away has lost 4 digits of 16 in its plain sums
Summed = tuple[Moments, np.ndarray, np.ndarray]  # of all rows; the weight of each class; the sums of its columns


class ClassMoments:
    """The moments of some rows whose targets are places among classes, which have these weights."""

    def __init__(self, data: Dataset, weights: np.ndarray) -> None:
        self._data, self._weights = data, weights

    @property
    def worth_sharing(self) -> bool:
        """Whether there are several classes to share a pass, whose sums are small; a class of weight 0 has no rows."""
        n_classes = len(self._weights)
        n_columns = 0 if self._data.wide else self._data.n_features
        room = chunk_bytes(parse_memory(self._data.memory))
        return n_classes > 2 and bool(self._weights.all()) and 8 * n_classes * n_columns <= room

    def of(self, position: int, target_only: bool) -> Moments:
        """The moments of one class against the rest; without columns, if only the target counts."""
        moments, by_class, sums = self._of_target if target_only else self._of_all
        total, own = moments.weight, float(by_class[position])
        far = bool(np.any(FAR * moments.scale < np.abs(moments.mean)))
        return replace(
            moments,
            cross=2.0 * (self._centred[:, position] if far else sums[:, position] - own * moments.mean),
            y_mean=2.0 * own / total - 1.0,
            y_squares=4.0 * own * (total - own) / total,
        )

    @cached_property
    def _of_all(self) -> Summed:
        return self._data.sum(_part(self._weights))

    @cached_property
    def _centred(self) -> np.ndarray:
        """The sums of the classes' columns less their means: one more pass, where the difference has no digits left."""
        moments, by_class, _ = self._of_all
        sums = self._data.sum(_centred_part(self._weights, moments.mean))
        return sums - np.outer(sums.sum(axis=1), by_class / moments.weight)  # the means themselves are rounded

    @cached_property
    def _of_target(self) -> Summed:
        return Columns(self._data, np.empty(0, dtype=np.int64)).sum(_part(self._weights))


def _part(weights: np.ndarray) -> Callable[[Chunk], Summed]:
    """What a chunk adds."""

    def part(chunk: Chunk) -> Summed:
        weight, own = _weighted(chunk, weights)
        xp = namespace(weight)
        return chunk.X.moments(chunk.y, weight), to_host(xp.sum(own, axis=0)), chunk.X.slopes(own)

    return part


def _centred_part(weights: np.ndarray, mean: np.ndarray) -> Callable[[Chunk], np.ndarray]:
    """What a chunk adds to the sums about these means."""

    def part(chunk: Chunk) -> np.ndarray:
        weight, own = _weighted(chunk, weights)
        return np.stack([chunk.X.sums(mean, own[:, k], weight)[0] for k in range(len(weights))], axis=1)

    return part


def _weighted(chunk: Chunk, weights: np.ndarray) -> tuple[Array, Array]:
    """The weight of every row, and for every class that of its own rows, 0 elsewhere."""
    xp = namespace(chunk.y)
    weight = chunk.weight * xp.take(xp.asarray(weights), xp.astype(chunk.y, xp.int64), axis=0)
    classes = xp.asarray(np.arange(len(weights), dtype=np.float64))
    return weight, xp.where(chunk.y[:, None] == classes, weight[:, None], 0.0)

"""Folds of the rows, by a hash of their position: they need no memory and do not depend on chunks.

Of every n consecutive rows, each of n folds gets one; a hash of the seed and of the number of that group says which.
So folds differ in size by at most one row, rows sorted by their target are spread evenly, and a periodic pattern in
the data does not coincide with the folds.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from riata.data.chunk import Chunk, added
from riata.data.dataset import Dataset, Run
from riata.data.parallel import in_parallel
from riata.data.remote import Remote
from riata.threads import one_blas_thread

T = TypeVar("T")
COUNTED_AT_ONCE = 1 << 20
Keep = Callable[[np.ndarray], np.ndarray]  # from positions of rows to whether they are kept


def fold_of(positions: npt.ArrayLike, n_folds: int, seed: int = 0) -> np.ndarray:
    """The fold, from 0, of the rows at these positions."""
    run, place = np.divmod(np.asarray(positions, dtype=np.uint64), np.uint64(n_folds))
    folds: np.ndarray = ((place + _hashed(run, seed)) % np.uint64(n_folds)).astype(np.int64)
    return folds


def _hashed(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A 64-bit hash of each number: the finaliser of SplitMix64 (Steele, Lea & Flood, 2014)."""
    with np.errstate(over="ignore"):
        x = (numbers + np.uint64(seed % 2**32) * np.uint64(0xD1342543DE82EF95)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes: np.ndarray = x ^ (x >> np.uint64(31))
        return hashes


def inside(fold: int, n_folds: int, seed: int = 0) -> Keep:
    """A function from positions of rows to whether they are in this fold."""
    return lambda positions: fold_of(positions, n_folds, seed) == fold


def outside(fold: int, n_folds: int, seed: int = 0) -> Keep:
    """A function from positions of rows to whether they are in another fold."""
    return lambda positions: fold_of(positions, n_folds, seed) != fold


def some_rows(data: Dataset, keep: Keep) -> Dataset:
    """The rows at the positions that `keep` accepts: a copy of data in memory, a view of other data."""
    if data.cheap_passes:
        return data.take(np.flatnonzero(keep(np.arange(data.n_rows))))
    return data.some_rows(keep) if isinstance(data, Remote) else SomeRows(data, keep)


class SomeRows(Dataset):
    """A view of the rows at the positions that `keep` accepts; a pass over it reads all rows."""

    def __init__(self, data: Dataset, keep: Keep) -> None:
        starts = range(0, data.n_rows, COUNTED_AT_ONCE)
        n_rows = sum(int(np.count_nonzero(keep(np.arange(i, min(i + COUNTED_AT_ONCE, data.n_rows))))) for i in starts)
        super().__init__(data.facts.of_view(n_rows=n_rows), data.ledger)
        self._data, self._keep = data, keep
        self.n_chunks, self.cheap_passes = data.n_chunks, data.cheap_passes

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        for start, chunk in self._placed(order):
            kept = chunk.rows(np.flatnonzero(self._keep(np.arange(start, start + chunk.n_rows))))
            if kept.n_rows:
                yield kept

    def sum(self, f: Callable[[Chunk], T]) -> T:
        with one_blas_thread():
            return added(in_parallel(f, self.visit()))

    def _placed(self, order: Iterable[int] | None) -> Run:
        if order is None:
            yield from self._data.placed()
            return
        starts = self._data.chunk_starts
        for i in order:
            yield from ((starts[i], chunk) for chunk in self._data.visit([i]))

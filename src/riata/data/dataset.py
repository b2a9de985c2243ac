"""What every solver sees of the data: three passes, and nothing else.

| pass                 | promise                                                  | for                  |
| `data.sum(f)`        | f(chunk) added over all chunks, perhaps in parallel      | gradients, objective |
| `data.visit(order)`  | chunks one after the other, in that order                | stochastic methods   |
| `data.gather(columns)` | these columns of all rows, in memory                   | working sets         |

A file format or a cluster is one class that offers `visit`; the other two follow from it and may be
overridden where there is a faster way. Rows of weight zero are never shown. Every row that is read is counted
in `rows_read`, so that the number of passes a fit reports is what it really cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from riata.data.chunk import Chunk, added, columns_of
from riata.data.moments import Moments, chunk_moments

if TYPE_CHECKING:
    from riata.data.encoding import Encoding
    from riata.data.opened import Opened
    from riata.data.opening.profile import Profile


WIDE = 1 << 20  # features of which no vector is made that can be avoided


class Dataset(ABC):
    """Rows of features with a target and a weight each, read in chunks as often as needed."""

    n_rows: int
    n_features: int
    n_chunks: int
    feature_names: Sequence[str] | None = None
    classes: np.ndarray | None = None  # labels; the target of a row is then the position of its label
    in_memory = False  # whether a pass is cheap
    once = False  # whether it can be read only once
    passes_to_make = 0.0  # passes over other data that were read for it
    memory: int | None = None  # the budget it was opened with, in bytes, which solvers keep to as well
    encoding: "Encoding | None" = None  # how the rows of a file or frame became features
    profile: "Profile | None" = None  # what the first pass over them found
    opened: "Opened | None" = None  # how to read the rows anew, where that is possible

    def __init__(self) -> None:
        self.rows_read = 0
        self._n_observed: int | None = None
        self._moments: Moments | None = None
        self._target_moments: Moments | None = None
        self._starts: np.ndarray | None = None

    @abstractmethod
    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        """Chunks in the order of these numbers; all of them, as they lie, by default."""

    @property
    def in_order(self) -> bool:
        """Whether chunks come as they lie, whatever the order asked for."""
        return False

    def close(self) -> None:  # noqa: B027 (most have nothing to wait for)
        """Stop waiting for rows that may never come."""

    def shuffled(self, rng: np.random.Generator) -> np.ndarray:
        """The order of chunks for a pass of a stochastic method: random, where the source lets one jump."""
        order = rng.permutation(self.n_chunks)
        return np.sort(order) if self.in_order else order

    def sum(self, f: Callable[[Chunk], object]):
        """f(chunk) added over chunks, always in the same order: a repeated pass gives the same bits."""
        return added(map(f, self.visit()))

    def placed(self) -> Iterator[tuple[int, Chunk]]:
        """All chunks as they lie, each with the position of its first row."""
        start = 0
        for chunk in self.visit():
            yield start, chunk
            start += chunk.n_rows

    def runs(self, f: Callable[[int, Iterator[tuple[int, Chunk]]], object]) -> list:
        """f(number, placed chunks) of every run of rows that is read in one go: here there is one, of all rows."""
        return [f(0, self.placed())]

    def sum_runs(self, f: Callable[[Iterator[tuple[int, Chunk]]], object]):
        """f(placed chunks) added over runs of rows: for sums so large that one per chunk would be too many."""
        return added(self.runs(lambda _, run: f(run)))

    def gather(self, columns):
        """Columns of X over all rows: dense if X is, CSC otherwise. The one thing that grows with the rows."""
        parts = [chunk.X[:, columns] for chunk in self.visit()]
        return sp.vstack(parts, format="csc") if sp.issparse(parts[0]) else np.vstack(parts)

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """The target and the weight of every row."""
        parts = [(chunk.y, chunk.weight) for chunk in self.visit()]
        return np.concatenate([y for y, _ in parts]), np.concatenate([w for _, w in parts])

    def take(self, rows) -> "Dataset":
        """A copy of the rows of these numbers; only data in memory can offer it."""
        raise NotImplementedError

    def held(self, chunk: Chunk) -> "Dataset":
        """Rows of this data that were put into one chunk, held where passes over them are cheap."""
        from riata.data.in_memory import InMemory

        return InMemory(*chunk)

    def map(self, f: Callable[[Chunk], Chunk]) -> "Dataset":
        """The same rows with f applied to every chunk as it is read; f must keep every row."""
        return Mapped(self, f)

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all rows."""
        return self.target_moments.weight

    @property
    def wide(self) -> bool:
        """Whether a vector over all features is to be avoided."""
        return self.n_features > WIDE

    @property
    def n_observed(self) -> int:
        """How many rows there are behind these: more, where a few stand for many."""
        return self.n_rows if self._n_observed is None else self._n_observed

    @property
    def stands_in(self) -> bool:
        """Whether these rows have no more than the statistics of others."""
        return self._n_observed is not None

    @property
    def passes(self) -> float:
        """How many times the data has been read so far."""
        return self.rows_read / max(self.n_rows, 1)

    @property
    def moments(self) -> Moments:
        """Weighted means and variances of columns and target: one pass, the first time it is asked for."""
        if self._moments is None:
            self._moments = self.sum(chunk_moments)
        return self._moments

    @property
    def target_moments(self) -> Moments:
        """The moments as far as the target is concerned, without those of columns where they are many."""
        if self._moments is not None or not self.wide:
            return self.moments
        if self._target_moments is None:
            self._target_moments = Columns(self, np.empty(0, dtype=np.int64)).moments
        return self._target_moments

    @property
    def chunk_starts(self) -> np.ndarray:
        """The position of every chunk's first row among all rows: one pass, the first time it is asked for."""
        if self._starts is None:
            rows = [sum(chunk.n_rows for chunk in self.visit([i])) for i in range(self.n_chunks)]
            self._starts = np.cumsum([0, *rows[:-1]])
        return self._starts


class Mapped(Dataset):
    """Another dataset seen through a function of its chunks: row normalisation, one class against the rest, ..."""

    def __init__(self, data: Dataset, f: Callable[[Chunk], Chunk]):
        super().__init__()
        self._data, self._f = data, f
        self.n_rows, self.n_features, self.n_chunks = data.n_rows, data.n_features, data.n_chunks
        self.feature_names, self.in_memory, self.memory = data.feature_names, data.in_memory, data.memory
        self.encoding, self.profile, self.once = data.encoding, data.profile, data.once

    @property
    def in_order(self):
        return self._data.in_order

    def visit(self, order=None):
        for chunk in self._data.visit(order):
            self.rows_read += chunk.n_rows
            yield self._f(chunk)

    def sum(self, f):
        self.rows_read += self.n_rows
        return self._data.sum(lambda chunk: f(self._f(chunk)))

    @property
    def chunk_starts(self):
        return self._data.chunk_starts


class Columns(Mapped):
    """Some columns of another dataset, by their numbers."""

    def __init__(self, data: Dataset, ids: np.ndarray):
        super().__init__(data, lambda chunk: chunk._replace(X=columns_of(chunk.X, ids)))
        self.n_features, self.feature_names, self.encoding = len(ids), None, None

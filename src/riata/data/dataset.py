"""What every solver sees of the data: three passes, and nothing else.

| pass                 | promise                                                  | for                  |
| `data.sum(f)`        | f(chunk) added over all chunks, perhaps in parallel      | gradients, objective |
| `data.visit(order)`  | chunks one after the other, in that order                | stochastic methods   |
| `data.gather(columns)` | these columns of all rows, in memory                   | working sets         |

A file format or a cluster is one class that offers `visit`; the other two follow from it and may be
overridden where there is a faster way. Rows of weight zero are never shown. What is known of the rows is in `facts`,
and every row that is read is counted in `ledger`; views share both, so that the number of passes a fit reports is what
it really cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from riata.data.chunk import Chunk, added
from riata.data.facts import Facts
from riata.data.ledger import Ledger
from riata.matrices.csr import WIDE
from riata.matrices.matrix import Matrix
from riata.matrices.moments import Moments

if TYPE_CHECKING:
    from riata.data.encoding import Encoding
    from riata.data.opened import Opened
    from riata.data.opening.profile import Profile


class Dataset(ABC):
    """Rows of features with a target and a weight each, read in chunks as often as needed."""

    n_chunks: int
    cheap_passes = False  # whether a pass is cheap

    def __init__(self, facts: Facts, ledger: Ledger | None = None) -> None:
        self.facts = facts
        self.ledger = ledger or Ledger(facts.n_rows)
        self._moments: Moments | None = None
        self._target_moments: Moments | None = None
        self._shared_moments: Callable[[bool], Moments] | None = None
        self._starts: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return self.facts.n_rows

    @property
    def n_features(self) -> int:
        return self.facts.n_features

    @property
    def feature_names(self) -> Sequence[str] | None:
        return self.facts.feature_names

    @property
    def classes(self) -> np.ndarray | None:
        """Labels; the target of a row is then the position of its label."""
        return self.facts.classes

    @property
    def encoding(self) -> "Encoding | None":
        """How the rows of a file or frame became features."""
        return self.facts.encoding

    @property
    def profile(self) -> "Profile | None":
        """What the first pass over a file or frame found."""
        return self.facts.profile

    @property
    def opened(self) -> "Opened | None":
        """How to read the rows anew, where that is possible."""
        return self.facts.opened

    @property
    def memory(self) -> int | None:
        """The budget it was opened with, in bytes, which solvers keep to as well."""
        return self.facts.memory

    @property
    def single_pass(self) -> bool:
        """Whether it can be read only once."""
        return self.facts.single_pass

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

    def gather(self, columns: np.ndarray) -> Matrix:
        """Columns of X over all rows, in memory. The one thing that grows with the rows."""
        first, *others = (chunk.X.narrowed(columns) for chunk in self.visit())
        return first.stacked(others)

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """The target and the weight of every row."""
        parts = [(chunk.y, chunk.weight) for chunk in self.visit()]
        return np.concatenate([y for y, _ in parts]), np.concatenate([w for _, w in parts])

    def take(self, rows) -> "Dataset":
        """A copy of the rows of these numbers; only data in memory can offer it."""
        raise NotImplementedError

    def apart(self) -> Self:
        """This copy of some rows with a ledger of its own: what is read of it costs the data nothing."""
        self.ledger = Ledger(self.n_rows)
        return self

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
        return self.n_rows if self.facts.n_summarised is None else self.facts.n_summarised

    @property
    def is_summary(self) -> bool:
        """Whether these rows have no more than the statistics of others."""
        return self.facts.n_summarised is not None

    @property
    def passes(self) -> float:
        """How many times the data has been read so far."""
        return self.ledger.passes

    def sharing_moments(self, find: Callable[[bool], Moments]) -> Self:
        """This view with moments that several views find in one pass; find(True) is of the target alone."""
        self._shared_moments = find
        return self

    @property
    def moments(self) -> Moments:
        """Weighted means and variances of columns and target: one pass, the first time it is asked for."""
        if self._moments is None:
            self._moments = self.sum(_moments_of) if self._shared_moments is None else self._shared_moments(False)
        return self._moments

    @property
    def target_moments(self) -> Moments:
        """The moments as far as the target is concerned, without those of columns where they are many."""
        if self._moments is not None or not self.wide:
            return self.moments
        if self._target_moments is None:
            if self._shared_moments is None:
                self._target_moments = Columns(self, np.empty(0, dtype=np.int64)).moments
            else:
                self._target_moments = self._shared_moments(True)
        return self._target_moments

    @property
    def chunk_starts(self) -> np.ndarray:
        """The position of every chunk's first row among all rows: one pass, the first time it is asked for."""
        if self._starts is None:
            rows = [sum(chunk.n_rows for chunk in self.visit([i])) for i in range(self.n_chunks)]
            self._starts = np.cumsum([0, *rows[:-1]])
        return self._starts


def _moments_of(chunk: Chunk) -> Moments:
    return chunk.X.moments(chunk.y, chunk.weight)


class Mapped(Dataset):
    """Another dataset seen through a function of its chunks: row normalisation, one class against the rest, ..."""

    def __init__(self, data: Dataset, f: Callable[[Chunk], Chunk]):
        super().__init__(data.facts.of_view(classes=None), data.ledger)
        self._data, self._f = data, f
        self.n_chunks, self.cheap_passes = data.n_chunks, data.cheap_passes

    @property
    def in_order(self):
        return self._data.in_order

    def visit(self, order=None):
        return map(self._f, self._data.visit(order))

    def sum(self, f):
        return self._data.sum(lambda chunk: f(self._f(chunk)))

    @property
    def chunk_starts(self):
        return self._data.chunk_starts


class Columns(Mapped):
    """Some columns of another dataset, by their numbers."""

    def __init__(self, data: Dataset, ids: np.ndarray):
        super().__init__(data, lambda chunk: chunk._replace(X=chunk.X.narrowed(ids)))
        self.facts = self.facts.but(n_features=len(ids), feature_names=None, encoding=None)

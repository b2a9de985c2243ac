"""The interface between data and solvers: three kinds of passes over the rows.

| pass                 | promise                                                  | for                  |
| `data.sum(f)`        | f(chunk) added over all chunks, perhaps in parallel      | gradients, objective |
| `data.visit(order)`  | chunks one after the other, in that order                | stochastic methods   |
| `data.gather(columns)` | these columns of all rows, in memory                   | working sets         |

A new kind of data implements `visit`; the other two follow from it and may be overridden where there is a faster way.
Rows of weight zero are left out. Sizes, names and origin of the rows are in `facts`, and every row that is read is
counted in `ledger`. Views share the ledger of the data they show, so that the number of passes that a fit reports is
what it really cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from riata.arrays import Array, to_host
from riata.data.budget import room_for_moments
from riata.data.chunk import Chunk, added, targets_alone
from riata.data.facts import Facts
from riata.data.ledger import Ledger
from riata.matrices.csr import WIDE
from riata.matrices.matrix import Matrix
from riata.matrices.moments import Moments

if TYPE_CHECKING:
    from riata.data.encoding import Encoding
    from riata.data.opened import Opened
    from riata.data.opening.profile import Profile


T = TypeVar("T")
Run = Iterator[tuple[int, Chunk]]  # consecutive chunks, each with the position of its first row among all rows


class Dataset(ABC):
    """Rows of features, each with a target and a weight, which are read in chunks as often as needed.

    `riata.open` makes datasets.
    """

    n_chunks: int
    cheap_passes = False  # whether a pass is cheap
    kept: np.ndarray | None = None  # which of the rows given are here, where some have no weight

    def __init__(self, facts: Facts, ledger: Ledger | None = None) -> None:
        self.facts = facts
        self.send: Callable[[np.ndarray], Array] | None = None  # takes arrays to the device that passes run on, if any
        self.ledger = ledger or Ledger(facts.n_rows)
        self._moments: Moments | None = None
        self._target_moments: Moments | None = None
        self._shared_moments: Callable[[bool], Moments] | None = None
        self._starts: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.facts.in_words()}>"

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
        """The labels, if the target is a class: the target of a row is then the position of its label."""
        return self.facts.classes

    @property
    def task(self) -> str:
        """What the target is: "regression", "classification" or "survival"."""
        if self.facts.survival:
            return "survival"
        return "regression" if self.classes is None else "classification"

    @property
    def encoding(self) -> "Encoding | None":
        """How the columns of a file or a data frame became features."""
        return self.facts.encoding

    @property
    def profile(self) -> "Profile | None":
        """What the first pass found in the columns of a file or a data frame."""
        return self.facts.profile

    @property
    def opened(self) -> "Opened | None":
        """How to read the rows again, if that is possible."""
        return self.facts.opened

    @property
    def memory(self) -> int | None:
        """The memory budget in bytes with which it was opened; solvers keep to it, too."""
        return self.facts.memory

    @property
    def single_pass(self) -> bool:
        """Whether the rows can be read only once."""
        return self.facts.single_pass

    @abstractmethod
    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        """The chunks with these numbers, in this order; by default all chunks in their own order."""

    @property
    def in_order(self) -> bool:
        """Whether chunks always come in their own order, whatever order is asked for."""
        return False

    def close(self) -> None:  # noqa: B027 (most have nothing to wait for)
        """Stop waiting for rows that may never come."""

    def shuffled(self, rng: np.random.Generator) -> np.ndarray:
        """An order of chunks for a pass of a stochastic method: random, where the source allows random access."""
        order = rng.permutation(self.n_chunks)
        return np.sort(order) if self.in_order else order

    def sum(self, f: Callable[[Chunk], T]) -> T:
        """The sum of f(chunk) over all chunks, always in the same order: a repeated pass gives the same bits."""
        return added(map(f, self.visit()))

    def placed(self) -> Run:
        """All chunks in their order, each with the position of its first row."""
        start = 0
        for chunk in self.visit():
            yield start, chunk
            start += chunk.n_rows

    def row_values(self, of: Callable[[Chunk], Array]) -> Iterator[np.ndarray]:
        """of(chunk), values of rows such as their targets, for all rows in their order: one pass."""
        return (to_host(of(chunk)) for chunk in self.visit())

    def runs(self, f: Callable[[int, Run], T]) -> list[T]:
        """f(number, run) for every run of consecutive chunks that one process reads; here there is one, of all rows."""
        return [f(0, self.placed())]

    def sum_runs(self, f: Callable[[Run], T]) -> T:
        """The sum of f(run) over all runs: for results so large that one per chunk would need too much memory."""
        return added(self.runs(lambda _, run: f(run)))

    def gather(self, columns: np.ndarray) -> Matrix:
        """Some columns of X over all rows, in memory. Apart from `targets`, only this grows with the number of rows."""
        rows = (chunk.X.narrowed(columns) for chunk in self.visit())
        return next(rows).stacked(rows)

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """The target and the weight of every row."""
        parts = [(chunk.y, chunk.weight) for chunk in self.visit()]
        return np.concatenate([y for y, _ in parts]), np.concatenate([w for _, w in parts])

    def take(self, rows: np.ndarray | Sequence[int]) -> "Dataset":
        """A copy of the rows at these positions; only data in memory offers it."""
        raise NotImplementedError

    def with_own_ledger(self) -> Self:
        """This copy of some rows, whose reading no longer counts as passes over the data it was taken from."""
        self.ledger = Ledger(self.n_rows)
        return self

    def keep_in_memory(self, chunk: Chunk) -> "Dataset":
        """A dataset of some rows of this one, in the memory (of the host or a GPU) where its passes run."""
        from riata.data.in_memory import InMemory

        return InMemory.of(chunk)

    def map(self, f: Callable[[Chunk], Chunk]) -> "Dataset":
        """A view with f applied to every chunk as it is read; f must keep the number of rows."""
        return Mapped(self, f)

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all rows."""
        return self.target_moments.weight

    @property
    def wide(self) -> bool:
        """Whether there are so many features that no vector over all of them should be made."""
        return self.n_features > WIDE or not room_for_moments(self.n_features, self.memory)

    @property
    def n_observed(self) -> int:
        """How many rows the data has; for summary rows, how many they summarise."""
        return self.n_rows if self.facts.n_summarised is None else self.facts.n_summarised

    @property
    def is_summary(self) -> bool:
        """Whether these are summary rows, which reproduce the statistics of many."""
        return self.facts.n_summarised is not None

    @property
    def passes(self) -> float:
        """The number of times the data has been read so far."""
        return self.ledger.passes

    def sharing_moments(self, find: Callable[[bool], Moments]) -> Self:
        """This view with moments that several views find in one pass; find(True) is of the target alone."""
        self._shared_moments = find
        return self

    @property
    def moments(self) -> Moments:
        """Weighted means and variances of columns and target; the first use takes a pass over the data."""
        if self._moments is None:
            self._moments = self._read_moments() if self._shared_moments is None else self._shared_moments(False)
        return self._moments

    @property
    def known_moments(self) -> Moments | None:
        """The moments, or those of the target alone, where a pass has found them."""
        return self._moments or self._target_moments

    def _read_moments(self) -> Moments:
        return self.sum(_moments_of)

    @property
    def target_moments(self) -> Moments:
        """The moments, without those of the columns where there are too many columns (`wide`)."""
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
    with np.errstate(over="ignore", invalid="ignore"):  # squares that overflow are refused in a sentence
        return chunk.X.moments(targets_alone(chunk.y), chunk.weight)


class Mapped(Dataset):
    """A view of a dataset through a function of its chunks: row normalisation, one class against the rest, ..."""

    def __init__(self, data: Dataset, f: Callable[[Chunk], Chunk]) -> None:
        super().__init__(data.facts.of_view(classes=None), data.ledger)
        self._data, self._f = data, f
        self.n_chunks, self.cheap_passes, self.send = data.n_chunks, data.cheap_passes, data.send

    @property
    def in_order(self) -> bool:
        return self._data.in_order

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        return map(self._f, self._data.visit(order))

    def sum(self, f: Callable[[Chunk], T]) -> T:
        seen = self._f  # workers are sent this function alone, without the dataset
        return self._data.sum(lambda chunk: f(seen(chunk)))

    @property
    def chunk_starts(self) -> np.ndarray:
        return self._data.chunk_starts


class Columns(Mapped):
    """A view of some columns of a dataset, by their numbers."""

    def __init__(self, data: Dataset, ids: np.ndarray) -> None:
        super().__init__(data, lambda chunk: chunk._replace(X=chunk.X.narrowed(ids)))
        self.facts = self.facts.but(n_features=len(ids), feature_names=None, encoding=None)

"""Folds of the rows: which rows a model learns from, and which it is scored on.

Every row has a code, a small number, and a plan says for each fold from which codes it learns and which it scores. In
plain cross-validation the code of a row is its fold; of blocks in time a fold learns from the codes before its own.
`riata.data.fold_rules` makes codes: by a hash of the position, by class, by group, by time, or as they are given.

By the hash, of every n consecutive rows each of n folds gets one; the hash of the seed and of the number of that run
says which. So folds differ in size by at most one row, rows sorted by their target are spread evenly, and a periodic
pattern in the data does not coincide with the folds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from riata.data.chunk import Chunk, added
from riata.data.dataset import Dataset, Run
from riata.data.mixed_bits import GOLDEN, mixed_bits
from riata.data.parallel import in_parallel
from riata.data.remote import Remote
from riata.outcome.folds_used import FoldKind, FoldsUsed
from riata.threads import one_blas_thread

T = TypeVar("T")
COUNTED_AT_ONCE = 1 << 20
Positions = Callable[[np.ndarray], np.ndarray]  # a function of the positions of rows
Keep = Positions  # to whether they are kept


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """From which codes each fold learns, and which it scores: one row per fold, one column per code."""

    learns: np.ndarray
    scores: np.ndarray
    used: FoldsUsed
    values: tuple[int, ...] | None = None  # of the codes in the column of fold numbers, where these made them

    @property
    def n_folds(self) -> int:
        return len(self.learns)

    @property
    def n_codes(self) -> int:
        return int(self.learns.shape[1])

    @classmethod
    def partition(cls, used: FoldsUsed) -> "FoldPlan":
        """Codes are folds, each of which is scored by models of all others."""
        own = np.eye(used.count, dtype=bool)
        return cls(~own, own, used)

    @classmethod
    def numbered(cls, values: Sequence[int], column: str | None) -> "FoldPlan":
        """A code for each of these fold numbers; rows of -1 are always learnt from and never scored."""
        codes = np.array(values, dtype=np.int64)
        names = codes[codes != -1]
        scores = names[:, None] == codes
        return cls(~scores, scores, FoldsUsed(FoldKind.COLUMN, len(names), column), tuple(codes.tolist()))


@dataclass(frozen=True, eq=False)
class Folds:
    """A plan, and the codes of rows by their positions."""

    plan: FoldPlan
    code_of: Positions

    @property
    def n_folds(self) -> int:
        return self.plan.n_folds

    @property
    def used(self) -> FoldsUsed:
        return self.plan.used

    def learnt(self, fold: int) -> Keep:
        """Which rows a fold learns from."""
        return _Coded(self.code_of, self.plan.learns[fold])

    def scored(self, fold: int) -> Keep:
        """Which rows it scores."""
        return _Coded(self.code_of, self.plan.scores[fold])


@dataclass(frozen=True, eq=False)
class _Coded:
    """Keeps the rows of some codes."""

    code_of: Positions
    wanted: np.ndarray

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        return self.wanted[self.code_of(positions)]


def by_position(n_folds: int, seed: int = 0) -> Folds:
    """Folds by a hash of the position alone: they need no memory and do not depend on chunks."""
    plan = FoldPlan.partition(FoldsUsed(FoldKind.POSITION, n_folds, seed=seed))
    return Folds(plan, lambda positions: fold_of(positions, n_folds, seed))


def fold_of(positions: npt.ArrayLike, n_folds: int, seed: int = 0) -> np.ndarray:
    """The fold, from 0, of the rows at these positions."""
    run, place = np.divmod(np.asarray(positions, dtype=np.uint64), np.uint64(n_folds))
    return ((place + hashed(run, seed)) % np.uint64(n_folds)).astype(np.int64)


def hashed(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A 64-bit hash of each number."""
    with np.errstate(over="ignore"):
        return mixed_bits((numbers + np.uint64(seed % 2**32) * np.uint64(0xD1342543DE82EF95)) * GOLDEN)


def some_rows(data: Dataset, keep: Keep) -> Dataset:
    """The rows at the positions that `keep` accepts: a copy of data in memory, a view of other data."""
    rows: Dataset
    if data.cheap_passes:
        rows = data.take(np.flatnonzero(keep(np.arange(data.n_rows))))
    elif isinstance(data, Remote):
        rows = data.some_rows(keep)
    else:
        rows = SomeRows(data, keep)
    if data.facts.marks is not None:
        rows.facts = rows.facts.but(marks=data.facts.marks.of_rows(keep))
    return rows


class ByPosition(Dataset):
    """A view of a dataset through a function of its chunks and the positions of their first rows."""

    def __init__(self, data: Dataset, f: Callable[[int, Chunk], Chunk], n_rows: int) -> None:
        super().__init__(data.facts.of_view(n_rows=n_rows), data.ledger)
        self._data, self._f = data, f
        self.n_chunks, self.cheap_passes = data.n_chunks, data.cheap_passes

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        for start, chunk in self._placed(order):
            seen = self._f(start, chunk)
            if seen.n_rows:
                yield seen

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


class SomeRows(ByPosition):
    """A view of the rows at the positions that `keep` accepts; a pass over it reads all rows."""

    def __init__(self, data: Dataset, keep: Keep) -> None:
        starts = range(0, data.n_rows, COUNTED_AT_ONCE)
        n_rows = sum(int(np.count_nonzero(keep(np.arange(i, min(i + COUNTED_AT_ONCE, data.n_rows))))) for i in starts)

        def kept(start: int, chunk: Chunk) -> Chunk:
            return chunk.rows(np.flatnonzero(keep(np.arange(start, start + chunk.n_rows))))

        super().__init__(data, kept, n_rows)

"""Data on a GPU: all rows in its memory where they fit, and otherwise sent there chunk by chunk in every pass."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from riata.arrays import Array, to_host
from riata.data.chunk import Chunk, add
from riata.data.dataset import Dataset, Run
from riata.data.facts import Facts
from riata.data.in_memory import InMemory
from riata.data.ledger import Ledger
from riata.data.offset import Offset
from riata.engines.cuda.transfers import Place
from riata.errors import DataError, OptionError
from riata.matrices.dense import DenseMatrix
from riata.matrices.matrix import Matrix

T = TypeVar("T")
SENT_AT_ONCE = 1 << 28  # the largest size in bytes of a block of rows that is sent, or fetched
SOLVERS_THERE = ("exact", "best-k")


def on_device(data: Dataset, place: Place) -> Dataset:
    """The data in the memory of a GPU, or a dataset that sends it there in every pass if it does not fit."""
    if isinstance(data, InMemory) and place.nbytes(data.X) <= place.room:
        _, y, weight, offset = data.chunk
        return OnDevice(place, place.rows(data.X), y, weight, offset=offset, facts=data.facts, ledger=data.ledger)
    return Streamed(data, place)


def check_device(solver: str) -> None:
    """Refuse solvers that process one row after the other."""
    if solver not in SOLVERS_THERE:
        raise OptionError(f"on a GPU there are solvers {' and '.join(SOLVERS_THERE)}, and not {solver!r}")


def check_finite(rows: Matrix) -> None:
    """Refuse entries that are missing or infinite: one pass."""
    j = rows.not_finite()
    if j is not None:
        raise DataError(
            f"column {j} of X holds a value that is missing or not finite: clean it before it goes to the GPU"
        )


class OnDevice(Dataset):
    """All rows in the memory of a device. Targets and weights may be given as arrays of the host or of a device."""

    cheap_passes = True

    def __init__(
        self,
        place: Place,
        rows: Matrix,
        y: Any,
        weight: Any = None,
        classes: np.ndarray | None = None,
        *,
        offset: Any = None,
        facts: Facts | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """`facts` are those of the data that these rows come from, if any; sizes are taken from the rows given."""
        self._place = place
        weight = np.ones(rows.shape[0]) if weight is None else weight
        keep = to_host(weight) > 0
        if not keep.all():
            rows, y, weight = rows[np.flatnonzero(keep)], to_host(y)[keep], to_host(weight)[keep]
            offset = None if offset is None else to_host(offset)[keep]
        self._chunk = Chunk(
            rows, place.vector(y), place.vector(weight), offset if offset is None else place.vector(offset)
        )
        n_rows, n_features = rows.shape
        facts = facts or Facts(n_rows, n_features, classes=classes)
        origin = None if offset is None else facts.offset or Offset()
        super().__init__(facts.but(n_rows=n_rows, n_features=n_features, offset=origin), ledger)
        self.send = place.vector
        self._rows_at_once = max(1, SENT_AT_ONCE * n_rows // max(1, rows.nbytes))
        self.n_chunks = -(-n_rows // self._rows_at_once)

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        """Rows copied to the host: for scores and statistics, which ask for the rows themselves."""
        for i in range(self.n_chunks) if order is None else order:
            start = i * self._rows_at_once
            X, *others = self._chunk.rows(slice(start, min(start + self._rows_at_once, self.n_rows))).arrays
            chunk = Chunk(X.on_host(), *map(to_host, others))
            self.ledger.count(chunk.n_rows)
            yield chunk

    def row_values(self, of: Callable[[Chunk], Array]) -> Iterator[np.ndarray]:
        self.ledger.count(self.n_rows)
        yield to_host(of(self._chunk))

    def sum(self, f: Callable[[Chunk], T]) -> T:
        self.ledger.count(self.n_rows)
        return f(self._chunk)

    def placed(self) -> Run:
        self.ledger.count(self.n_rows)
        yield 0, self._chunk

    def gather(self, columns: np.ndarray) -> Matrix:
        self.ledger.count(self.n_rows)
        return DenseMatrix(to_host(self._chunk.X.columns(columns)))

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        return to_host(self._chunk.y), to_host(self._chunk.weight)

    def take(self, rows: np.ndarray | Sequence[int]) -> "OnDevice":
        X, y, weight, *offset = (self._chunk.X[rows], *(to_host(part)[rows] for part in self._chunk.arrays[1:]))
        return self._with(Chunk(X, y, weight, *offset), self.facts.of_view())

    def map(self, f: Callable[[Chunk], Chunk]) -> Dataset:
        return self._with(f(self._chunk), self.facts.of_view(classes=None))

    def _with(self, chunk: Chunk, facts: Facts) -> "OnDevice":
        X, y, weight, offset = chunk
        return OnDevice(self._place, X, y, weight, offset=offset, facts=facts, ledger=self.ledger)


class Streamed(Dataset):
    """Chunks of another dataset, summed on a device: the next one is sent while one is summed."""

    def __init__(self, data: Dataset, place: Place) -> None:
        super().__init__(data.facts, data.ledger)
        self._data, self._place = data, place
        self.send = place.vector
        self._blocks: list[Chunk] | None = None
        if isinstance(data, InMemory):
            self._blocks = data.blocks(int(min(SENT_AT_ONCE, place.room // 8)))
            for array in data.chunk.X.parts().values():
                place.pin(array)
        self.n_chunks = data.n_chunks if self._blocks is None else len(self._blocks)

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        if self._blocks is None:
            yield from self._data.visit(order)
            return
        for i in range(self.n_chunks) if order is None else order:
            self.ledger.count(self._blocks[i].n_rows)
            yield self._blocks[i]

    def sum(self, f: Callable[[Chunk], T]) -> T:
        chunks = self._place.uploaded(self.visit())
        total = f(next(chunks))
        for chunk in chunks:
            total = add(total, f(chunk))
        return total

    def placed(self) -> Run:
        start = 0
        for chunk in self._place.uploaded(self.visit()):
            yield start, chunk
            start += chunk.n_rows

    def keep_in_memory(self, chunk: Chunk) -> Dataset:
        rows = self._place.rows(chunk.X.array)
        return OnDevice(self._place, rows, chunk.y, chunk.weight, offset=chunk.offset)

"""Data in memory: NumPy arrays and SciPy CSR matrices."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from riata.data.chunk import Chunk, added
from riata.data.dataset import Dataset
from riata.data.facts import Facts
from riata.data.ledger import Ledger
from riata.data.offset import Offset
from riata.matrices.host import as_matrix
from riata.matrices.matrix import Matrix
from riata.matrices.moments import Moments, vanishing
from riata.matrices.multiples import Multiples, positive_multiples
from riata.threads import n_cores, one_blas_thread

T = TypeVar("T")
BLOCK_BYTES = 8 << 20  # large enough to amortise a call, small enough for the cache

ROWS_OF_PRODUCTS = 2048  # enough that adding up costs little beside multiplying


class InMemory(Dataset):
    """All rows in one chunk. `sum` divides it into blocks of rows, which threads share."""

    cheap_passes = True
    n_chunks = 1
    block_bytes = BLOCK_BYTES  # of rows summed at a time by a thread

    def __init__(
        self,
        X: Any,
        y: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        classes: np.ndarray | None = None,
        *,
        offset: npt.ArrayLike | None = None,
        facts: Facts | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        """`facts` are those of the data that these rows come from, if any; sizes are taken from the rows given."""
        X = as_matrix(X)
        y = np.asarray(y, dtype=np.float64)
        weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        offset = None if offset is None else np.asarray(offset, dtype=np.float64)
        self._chunk = Chunk(X, y, weight, offset)
        if not weight.all():
            self.kept = weight > 0
            self._chunk = self._chunk.rows(self.kept)
        n_rows, n_features = self._chunk.X.shape
        facts = facts or Facts(n_rows, n_features, feature_names, classes)
        origin = None if offset is None else facts.offset or Offset()
        super().__init__(facts.but(n_rows=n_rows, n_features=n_features, offset=origin), ledger)

    @classmethod
    def of(cls, chunk: Chunk, facts: Facts | None = None, ledger: Ledger | None = None) -> "InMemory":
        """The rows of a chunk."""
        X, y, weight, offset = chunk
        return InMemory(X, y, weight, offset=offset, facts=facts, ledger=ledger)

    @property
    def X(self) -> Any:
        """The rows as they were given: a NumPy array, or a SciPy CSR matrix."""
        return self._chunk.X.array

    @property
    def chunk(self) -> Chunk:
        """All rows."""
        return self._chunk

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        for _ in [0] if order is None else order:
            self.ledger.count(self.n_rows)
            yield self._chunk

    def _read_moments(self) -> Moments:
        found = super()._read_moments()
        X, empty = self._chunk.X.array, (found.squares == 0.0) & (found.mean == 0.0)
        if self._chunk.X.sparse and empty.any():
            empty &= self.stored_in_columns > 0
        if empty.any():  # or nothing is left of its products
            numbers = np.flatnonzero(empty)
            not_zero = abs(X[:, numbers]).max(axis=0)
            vanished = np.asarray(not_zero.todense() if self._chunk.X.sparse else not_zero).ravel() > 0.0
            if vanished.any():
                raise vanishing(f"column {numbers[vanished][0]} of the features (counted from 0)")
        return found

    def sum(self, f: Callable[[Chunk], T]) -> T:
        return self._sum(f, self._blocks)

    def sum_of_products(self, f: Callable[[Chunk], T]) -> T:
        """The sum of f over blocks, where f gives much more than a row takes, so that few sums should be added."""
        return self._sum(f, self._long_blocks)

    def _sum(self, f: Callable[[Chunk], T], blocks: list[Chunk]) -> T:
        self.ledger.count(self.n_rows)
        with one_blas_thread():  # starting a second thread takes longer than a small product
            if min(len(blocks), n_cores()) == 1:
                return added(map(f, blocks))
            with ThreadPoolExecutor(n_cores()) as threads:
                return added(threads.map(f, blocks))

    @cached_property
    def _blocks(self) -> list[Chunk]:
        """Blocks of rows for threads to share."""
        X = self._chunk.X
        if X.sparse and X.nbytes > self.block_bytes:
            return self.blocks(-(-X.nbytes // n_cores()))  # few blocks: the result of each is a vector over features
        return self.blocks(self.block_bytes)

    @cached_property
    def _long_blocks(self) -> list[Chunk]:
        """Blocks of more rows, as views, for `sum_of_products`."""
        X, rows = self._chunk.X, min(ROWS_OF_PRODUCTS, -(-self.n_rows // n_cores()))
        if X.sparse or not X.array.flags.c_contiguous or rows <= self._blocks[0].n_rows:
            return self._blocks
        return self.blocks(rows * (X.nbytes // self.n_rows))

    def blocks(self, n_bytes: int) -> list[Chunk]:
        """Blocks of rows of about so many bytes: views, or copies where rows are not contiguous in memory."""
        row_bytes = max(1, self._chunk.X.nbytes // max(1, self.n_rows))
        step = max(1, n_bytes // row_bytes)
        blocks = (self._chunk.rows(slice(i, i + step)) for i in range(0, self.n_rows, step))
        return [block._replace(X=block.X.contiguous()) for block in blocks]  # passes go row by row

    @property
    def total_weight(self) -> float:
        return float(self._chunk.weight.sum())

    def gather(self, columns: np.ndarray) -> Matrix:
        self.ledger.count(self.n_rows)
        return self._chunk.X.narrowed(columns)

    def stored(self, columns: np.ndarray) -> float:
        """How many entries these columns have; zeros that are not stored are none."""
        return (
            float(self.stored_in_columns[columns].sum()) if self._chunk.X.sparse else float(self.n_rows * len(columns))
        )

    @cached_property
    def stored_in_columns(self) -> np.ndarray:
        """The entries of every column."""
        return self._chunk.X.stored_in_columns()

    @cached_property
    def multiples(self) -> Multiples | None:
        """Which columns are multiples of others; None where columns are dense."""
        return positive_multiples(self._chunk.X.as_csr()) if self._chunk.X.sparse else None

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        return self._chunk.y, self._chunk.weight

    def take(self, rows: np.ndarray | Sequence[int]) -> "InMemory":
        return InMemory.of(self._chunk.rows(rows), self.facts.of_view(), self.ledger)

    def map(self, f: Callable[[Chunk], Chunk]) -> Dataset:
        return InMemory.of(f(self._chunk), self.facts.of_view(classes=None), self.ledger)

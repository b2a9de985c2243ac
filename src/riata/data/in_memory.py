"""Data that is in memory already: NumPy arrays and SciPy CSR."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from riata.data.chunk import Chunk, added
from riata.data.dataset import Dataset
from riata.data.facts import Facts
from riata.data.ledger import Ledger
from riata.threads import n_cores, one_blas_thread

BLOCK_BYTES = 8 << 20  # rows summed at a time: large enough to amortise a call, small enough for the cache


class InMemory(Dataset):
    """All rows in one chunk. `sum` cuts it into blocks of rows and lets threads share them."""

    in_memory = True
    n_chunks = 1

    def __init__(
        self,
        X,
        y,
        weight=None,
        feature_names: Sequence[str] | None = None,
        classes=None,
        *,
        facts: Facts | None = None,
        ledger: Ledger | None = None,
    ):
        """`facts` are those of the data that these rows come from; their number is that of the rows at hand."""
        X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
        y = np.asarray(y, dtype=np.float64)
        weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        self._chunk = Chunk(X, y, weight)
        if not weight.all():
            self._chunk = self._chunk.rows(weight > 0)
        n_rows, n_features = self._chunk.X.shape
        facts = facts or Facts(n_rows, n_features, feature_names, classes)
        super().__init__(facts.but(n_rows=n_rows, n_features=n_features), ledger)

    @property
    def X(self):
        return self._chunk.X

    @property
    def chunk(self) -> Chunk:
        """All rows."""
        return self._chunk

    def visit(self, order=None):
        for _ in [0] if order is None else order:
            self.ledger.count(self.n_rows)
            yield self._chunk

    def sum(self, f: Callable[[Chunk], object]):
        self.ledger.count(self.n_rows)
        blocks = self._blocks
        with one_blas_thread():  # small products wait longer for a second thread than they take
            if min(len(blocks), n_cores()) == 1:
                return added(map(f, blocks))
            with ThreadPoolExecutor(n_cores()) as threads:
                return added(threads.map(f, blocks))

    @cached_property
    def _blocks(self) -> list[Chunk]:
        """Runs of rows for threads to share, cut once."""
        X = self._chunk.X
        if sp.issparse(X) and X.data.nbytes > BLOCK_BYTES:
            return self.blocks(-(-X.data.nbytes // n_cores()))  # each block pays for a vector of d
        return self.blocks(BLOCK_BYTES)

    def blocks(self, n_bytes: int) -> list[Chunk]:
        """Runs of rows of so many bytes, as views."""
        X = self._chunk.X
        row_bytes = max(1, (X.data.nbytes if sp.issparse(X) else X.nbytes) // max(1, self.n_rows))
        step = max(1, n_bytes // row_bytes)
        return [self._block(slice(i, min(i + step, self.n_rows))) for i in range(0, self.n_rows, step)]

    def _block(self, rows: slice) -> Chunk:
        X: Any = self._chunk.X
        if not sp.issparse(X):
            chunk = self._chunk.rows(rows)
            return chunk._replace(X=np.ascontiguousarray(chunk.X))  # passes go row by row: copied once, if at all
        span = slice(X.indptr[rows.start], X.indptr[rows.stop])
        parts = X.data[span], X.indices[span], X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
        view = sp.csr_array(parts, shape=(rows.stop - rows.start, X.shape[1]))  # slicing X would copy it
        return Chunk(view, self._chunk.y[rows], self._chunk.weight[rows])

    @property
    def total_weight(self):
        return float(self._chunk.weight.sum())

    def gather(self, columns):
        self.ledger.count(self.n_rows)
        columns_of_x: Any = self._chunk.X[:, columns]
        return columns_of_x.tocsc() if sp.issparse(self.X) else columns_of_x

    def targets(self):
        return self._chunk.y, self._chunk.weight

    def take(self, rows) -> "InMemory":
        return InMemory(*self._chunk.rows(rows), facts=self.facts, ledger=self.ledger)

    def map(self, f):
        return InMemory(*f(self._chunk), facts=self.facts.but(classes=None), ledger=self.ledger)

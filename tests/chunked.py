"""An array read a few rows at a time: what a file looks like to a solver."""

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.facts import Facts


class Chunked(Dataset):
    """Rows of X (dense or CSR) in chunks of `chunk_rows`, offering nothing but `visit`."""

    def __init__(self, X, y, chunk_rows, weight=None, classes=None):
        super().__init__(Facts(*X.shape, classes=classes))
        self._whole = Chunk(X, y, (y * 0.0 + 1.0) if weight is None else weight)
        self._chunk_rows = chunk_rows
        self.n_chunks = -(-self.n_rows // chunk_rows)

    def visit(self, order=None):
        for i in range(self.n_chunks) if order is None else order:
            chunk = self._whole.rows(slice(i * self._chunk_rows, (i + 1) * self._chunk_rows))
            self.ledger.count(chunk.n_rows)
            yield chunk

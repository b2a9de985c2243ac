"""The batches of a first pass, remembered where all of them are small: they need not be decoded a second time."""

from collections import deque
from collections.abc import Iterator, Sequence

import pyarrow as pa

ARRAY_BYTES = 2_000  # of a column of a batch beside its numbers: what Arrow and Python keep to know of it


class DecodedBatches:
    """All batches of one pass over a source, or none of them where they take more than so many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._room = most_bytes
        self._batches: deque[pa.RecordBatch] = deque()
        self.complete = False  # whether there was room for all

    def remember(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches, each of which is remembered on its way while there is room."""
        for batch in batches:
            self._room -= batch.get_total_buffer_size()  # of a slice it counts all that the slice keeps alive
            self._room -= ARRAY_BYTES * batch.num_columns
            if self._room >= 0:
                self._batches.append(batch)
            else:
                self._batches.clear()
            yield batch
        self.complete = self._room >= 0

    def take(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns of all batches, each of which is forgotten as it is handed out."""
        self.complete = False
        while self._batches:
            yield self._batches.popleft().select(list(columns))
            pa.default_memory_pool().release_unused()  # Arrow would keep them for a moment, and others grow meanwhile

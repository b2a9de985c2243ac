"""Encoded rows as an Arrow IPC file, mapped into memory: what a pass over a slow format is done only once for.

Columns: `y`, `weight` and the matrix, a fixed-size list `X` per row where it is dense, the pair of lists `X.indices`
and `X.values` where it is sparse; one record batch per chunk. Any Arrow reader can open it. What `convert` writes also
carries the encoding and the profile in the metadata of its schema.
"""

import json
import mmap
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from riata.data.chunk import Chunk
from riata.data.columns.arrow_values import values_of
from riata.data.encoding import Encoding
from riata.data.formats.source import DENSE, INDICES, TARGET, VALUES, WEIGHT
from riata.data.formats.tables import matrix_batch
from riata.data.sound import check_encoded
from riata.machine import forget_pages
from riata.scipy_later import sparse as sp

META = b"riata"


def to_batch(chunk: Chunk) -> pa.RecordBatch:
    """A chunk as a record batch, without copying its numbers."""
    matrix = matrix_batch(chunk.X.array)
    arrays = [pa.array(chunk.y), pa.array(chunk.weight), *matrix.columns]
    return pa.RecordBatch.from_arrays(arrays, names=[TARGET, WEIGHT, *matrix.schema.names])


def from_batch(batch: pa.RecordBatch, n_features: int) -> Chunk:
    """A record batch as a chunk, without copying its numbers."""
    y, weight = (values_of(batch.column(name)) for name in (TARGET, WEIGHT))
    if DENSE in batch.schema.names:
        return Chunk(values_of(batch.column(DENSE).flatten()).reshape(-1, n_features), y, weight)
    indices, values = batch.column(INDICES), batch.column(VALUES)
    numbers, positions = values_of(values.flatten()), values_of(indices.flatten())
    offsets = values_of(indices.offsets)
    indptr = (offsets - offsets[0]).astype(positions.dtype)  # SciPy wants both of one type
    X = sp.csr_array((numbers, positions, indptr), shape=(batch.num_rows, n_features))
    X.has_canonical_format = True  # as it was written: no need to look
    return Chunk(X, y, weight)


def write_chunks(handle, chunks: Iterable[Chunk], meta: dict[str, Any] | None = None):
    """Write chunks to an open file as they come, passing each on."""
    writer = None
    try:
        for chunk in chunks:
            batch = to_batch(chunk)
            if writer is None:
                schema = batch.schema.with_metadata({META: json.dumps(meta).encode()} if meta else None)
                writer = pa.ipc.new_file(pa.PythonFile(handle, "w"), schema)
            writer.write_batch(batch)
            yield chunk
    finally:
        if writer is not None:
            writer.close()
            handle.flush()


def _width(meta) -> int:
    """How many features the rows have, as their encoding says."""
    return Encoding.from_json(meta["encoding"]).n_features


class EncodedRows:
    """The chunks of such a file, in any order, at the cost of reading the bytes."""

    def __init__(self, handle, n_features: int | None = None, keep_bytes: int = 0):
        # The map keeps the file alive after the handle is closed, and after its name is gone.
        self._map = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        self._buffer = pa.py_buffer(self._map)
        self._reader = pa.ipc.open_file(self._buffer)
        self.n_chunks, self.n_bytes = self._reader.num_record_batches, len(self._map)
        self.meta = json.loads((self._reader.schema.metadata or {}).get(META, b"null"))
        self._n_features = n_features if n_features is not None else _width(self.meta)
        self._unsure = set(range(self.n_chunks)) if n_features is None else set()  # a file that others may have touched
        self._keep = self.n_bytes <= keep_bytes  # small enough to stay mapped

    def chunk(self, i: int) -> Chunk:
        batch = self._reader.get_batch(i)
        if i in self._unsure:
            check_encoded(batch, self._n_features)
            self._unsure.discard(i)
        return from_batch(batch, self._n_features)

    def release(self, chunk_number: int) -> None:
        """Give back the memory of a chunk: it counts as the process's as long as it stays mapped."""
        if not self._keep:
            self._drop(chunk_number)

    def _drop(self, i):
        if i >= self.n_chunks:
            return
        spans = [(b.address, b.address + b.size) for c in self._reader.get_batch(i).columns for b in c.buffers() if b]
        start = min(a for a, _ in spans) - self._buffer.address
        stop = max(b for _, b in spans) - self._buffer.address
        forget_pages(self._map, start, stop - start)

"""Encoded rows in an Arrow IPC file, mapped into memory, so that a slow format is decoded only once.

Columns: `y` (a fixed-size list where there are several targets), `weight`, `offset` where rows have one, and the
matrix: a fixed-size list `X` per row where it is dense, the lists `X.indices` and `X.values` where it is sparse.
There is one record batch per chunk. Any Arrow reader can open it. Files that `convert` writes also have the encoding
and the profile, in the metadata of their schema; where these are long, compressed.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from riata.data.chunk import Chunk
from riata.data.columns.arrow_values import values_of
from riata.data.columns.packed_names import for_json
from riata.data.encoded_checks import check_encoded, numbers_of, read_encoded
from riata.data.formats.held_file import HeldFile, View
from riata.data.formats.source import DENSE, INDICES, OFFSET, TARGET, VALUES, WEIGHT
from riata.data.formats.tables import dense_column, matrix_batch
from riata.matrices.moments import Moments
from riata.schema import checked
from riata.scipy_later import sparse as sp

META = b"riata"
PACKED = struct.Struct("<4sQ")  # what a compressed entry begins with: a mark, and how many bytes it was made of
MARK, MOST_PLAIN = b"zlib", 1 << 20  # bytes: every view of the file has a copy of what is in its schema


def to_batch(chunk: Chunk) -> pa.RecordBatch:
    """A chunk as a record batch, without copying its numbers."""
    matrix = matrix_batch(chunk.X.array)
    _, *others = chunk.arrays
    names = [TARGET, WEIGHT, OFFSET][: len(others)]
    arrays = [*(dense_column(one) if one.ndim == 2 else pa.array(one) for one in others), *matrix.columns]
    return pa.RecordBatch.from_arrays(arrays, names=[*names, *matrix.schema.names])


def from_batch(batch: pa.RecordBatch, n_features: int) -> Chunk:
    """A record batch as a chunk, without copying its numbers."""
    others = [numbers_of(batch.column(name)) for name in (TARGET, WEIGHT, OFFSET) if name in batch.schema.names]
    if DENSE in batch.schema.names:
        return Chunk(values_of(batch.column(DENSE).flatten()).reshape(-1, n_features), *others)
    indices, values = batch.column(INDICES), batch.column(VALUES)
    numbers, positions = values_of(values.flatten()), values_of(indices.flatten())
    offsets = values_of(indices.offsets)
    indptr = (offsets - offsets[0]).astype(positions.dtype)  # SciPy wants both of one type
    X = sp.csr_array((numbers, positions, indptr), shape=(batch.num_rows, n_features))
    X.has_canonical_format = True  # as it was written
    return Chunk(X, *others)


def write_chunks(handle: IO[bytes], chunks: Iterable[Chunk], meta: dict[str, Any] | None = None) -> Iterator[Chunk]:
    """The same chunks, each written to an open file before it is yielded."""
    writer = None
    try:
        for chunk in chunks:
            batch = to_batch(chunk)
            if writer is None:
                schema = batch.schema.with_metadata({META: _packed(meta)} if meta else None)
                writer = pa.ipc.new_file(pa.PythonFile(handle, "w"), schema)
            writer.write_batch(batch)
            yield chunk
    finally:
        if writer is not None:
            writer.close()
            handle.flush()


def _packed(meta: dict[str, Any]) -> bytes:
    """The encoding and the profile as the schema of a file has them: JSON, compressed if there is much of it."""
    plain = json.dumps(meta, default=for_json).encode()
    return plain if len(plain) <= MOST_PLAIN else PACKED.pack(MARK, len(plain)) + zlib.compress(plain, 1)


def _unpacked(entry: bytes) -> bytes:
    """The JSON in an entry of a schema; not more of it than the entry says."""
    n_bytes = _unpacked_bytes(entry)
    if not entry.startswith(MARK):
        return entry
    plain = zlib.decompressobj().decompress(memoryview(entry)[PACKED.size :], max(n_bytes, 1))
    if len(plain) != n_bytes:
        raise ValueError("its metadata is not as long as it says")
    return plain


def _unpacked_bytes(entry: bytes) -> int:
    return int(PACKED.unpack_from(entry)[1]) if entry.startswith(MARK) else len(entry)


class EncodedRows:
    """The chunks of such a file, in any order, at the cost of reading the bytes.

    A file from outside is checked, and has its encoding with it, which tells `n_features` and `n_classes`. One of at
    most `keep_bytes` stays in memory once it has been read. Where nobody keeps a file from outside from being cut
    short, its chunks are copied.
    """

    def __init__(self, file: IO[bytes] | str, n_features: int = 0, keep_bytes: int = 0) -> None:
        """An open file of riata's own, or the path of one from outside.

        A file from outside that is damaged makes Arrow or `json` raise what it raises.
        """
        self._file = HeldFile(file) if isinstance(file, str) else View.of(file)
        view = self._file.view
        self.n_chunks = view.reader.num_record_batches
        self.n_features = n_features
        self.n_classes: int | None = None  # of targets; None: they are numbers
        self._unchecked = set(range(self.n_chunks)) if isinstance(file, str) else set()
        self._unseen: set[int] = set()  # chunks that were checked, but for whether their numbers are finite
        self._summing = False
        self._keep = view.content is not None and view.content.size <= keep_bytes
        self.let_go()

    @property
    def _entry(self) -> bytes:
        return (self._file.view.reader.schema.metadata or {}).get(META, b"{}")

    @property
    def meta_bytes(self) -> int:
        """How long the encoding and the profile of a converted file are, as it says."""
        return _unpacked_bytes(self._entry)

    def meta(self) -> Any:
        """The encoding and the profile of a converted file, which may have a name for each of many features."""
        meta = json.loads(_unpacked(self._entry))
        return checked(dict[str, Any], meta, "its metadata")

    def chunk(self, i: int) -> Chunk:
        batch = read_encoded(self._file, i)
        if i in self._unchecked or (i in self._unseen and not self._summing):
            check_encoded(batch, self.n_features, self.n_classes, look=not self._summing)
            self._unchecked.discard(i)
            (self._unseen.add if self._summing else self._unseen.discard)(i)
        return from_batch(batch, self.n_features)

    def summed(self, moments: Callable[[], Moments]) -> Moments:
        """The moments of all chunks: they are finite only if every number is, which saves a look at each."""
        self._summing = True
        try:
            with np.errstate(all="ignore"):
                found = moments()
        finally:
            self._summing = False
        if not (np.isfinite(found.mean).all() and np.isfinite(found.squares).all()):
            for i in sorted(self._unseen):
                self.chunk(i)  # says what is wrong; squares of good numbers may be infinite, too
        self._unseen.clear()
        return found

    def count(self) -> int:
        """How many rows there are."""
        reader = self._file.view.reader
        n_rows: int = sum(reader.get_batch(i).num_rows for i in range(self.n_chunks))
        self.let_go()
        return n_rows

    def release(self, chunk_number: int) -> None:
        """Release the pages of a chunk, which count as memory of this process as long as they stay mapped."""
        if not self._keep and chunk_number < self.n_chunks:
            self._file.release(chunk_number)

    def let_go(self) -> None:
        """Until the next chunk is asked for, nobody waits who wants to write to a file from outside."""
        self._file.let_go()

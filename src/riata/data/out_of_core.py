"""Data that need not fit in memory: encoded a chunk at a time, from the source or from a file of encoded rows.

The first pass over a slow format writes the encoded rows to a temporary Arrow file, which later passes map into memory.
The file never has a name, so that it disappears with the process, however that ends.
"""

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa

from riata.data.budget import chunk_bytes, in_memory_bytes, in_words, left_for_rows, wide_chunk_bytes
from riata.data.chunk import Chunk, added, copied, gathered, targets_alone
from riata.data.columns.column import BadRow
from riata.data.dataset import Dataset
from riata.data.encoded_file import EncodedRows, write_chunks
from riata.data.facts import Facts
from riata.data.formats.source import Source, parts_of_batches, rebatch
from riata.data.in_memory import InMemory
from riata.data.opening.decoded_batches import DecodedBatches
from riata.data.opening.profile import Profile
from riata.data.parallel import in_parallel
from riata.data.read_ahead import ahead
from riata.data.row_events import watched
from riata.errors import DataError
from riata.machine import file_without_name
from riata.matrices.moments import Moments
from riata.threads import one_blas_thread

logger = logging.getLogger(__name__)
T = TypeVar("T")
ROW_OVERHEAD = 64  # bytes of margins, derivatives and the like that a pass needs per row


class OutOfCore(Dataset):
    """Rows of a source, encoded as they are read, within a memory budget."""

    def __init__(self, source: Source, profile: Profile, memory: int, cache: bool | str = True) -> None:
        super().__init__(facts_of(profile, profile.n_rows, memory, source.single_pass))
        self.source, self._encoding, self._budget = source, profile.encoding, memory
        per_row = max(self._encoding.row_bytes, profile.row_bytes) + ROW_OVERHEAD
        self._cache_folder = cache if isinstance(cache, str) else None
        self._columns = self._encoding.columns or source.schema.names[:1]  # without any, rows would not be counted
        # the file has no names, and no place for rows of a model without features
        self._caching = bool(cache) and not source.fast and not self._encoding.hashed and self.n_features > 0
        self._rows: EncodedRows | None = None
        self._decoded: DecodedBatches | None = None  # all batches of an earlier pass
        # a dense matrix, in which the first pass has seen only finite numbers, needs no encoding
        self._needs_no_encoding = self._encoding.is_matrix and bool(profile.columns)
        left = memory
        if not self._encoding.hashed:
            left = left_for_rows(memory, self.n_features, self._encoding.names_bytes)
        most = chunk_bytes(left)
        if self._needs_no_encoding and source.fast:
            most = max(most, wide_chunk_bytes(memory, self.n_features))
        self.chunk_rows = int(max(1, most // per_row))
        self.n_chunks = -(-profile.n_read // self.chunk_rows)

    @classmethod
    def converted(cls, rows: EncodedRows, source: Source, profile: Profile, memory: int) -> "OutOfCore":
        """The rows of a file of encoded rows, as `riata convert` writes it."""
        data = cls(source, profile, memory)
        data._rows, data.n_chunks = rows, rows.n_chunks
        return data

    def close(self) -> None:
        self.source.close()

    @property
    def in_order(self) -> bool:
        return self._rows is None and not self._caching and not self.source.random_access

    @property
    def n_bytes(self) -> float:
        """The approximate size of all encoded rows."""
        return self.n_rows * self._encoding.row_bytes

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        if self._rows is None and self._caching and order is not None:
            for _ in self._first_pass():  # random access needs the complete file
                pass
        for number, chunk in self._numbered(order):
            if chunk.n_rows:
                self.ledger.count(chunk.n_rows)
                yield chunk
            if self._rows is not None:
                self._rows.release(number)
        if self.source.single_pass:
            self.ledger.n_rows = self.ledger.rows_read  # known only now
            self.facts = self.facts.but(n_rows=self.ledger.n_rows)

    def sum(self, f: Callable[[Chunk], T]) -> T:
        self.ledger.count(self.n_rows)

        def of_next(numbered: tuple[int, Chunk]) -> T | None:
            number, chunk = numbered
            value = f(chunk) if chunk.n_rows else None
            if self._rows is not None:
                self._rows.release(number)
            return value

        def of_own(number: int) -> T | None:
            chunk = self._slice(number)
            assert chunk is not None
            return f(chunk) if chunk.n_rows else None

        if self._rows is None and self.source.fast and self.source.random_access:  # each thread reads its own chunks
            numbers = watched(range(self.n_chunks), "reading rows", lambda _: self.chunk_rows, self.n_rows)
            values = in_parallel(of_own, numbers, in_memory_bytes(self._budget))
        else:
            values = in_parallel(of_next, self._numbered(None), in_memory_bytes(self._budget))
        # a generator expression would hold on to each value while the next one is made
        there = cast("Iterator[T]", filter(lambda value: value is not None, values))
        with one_blas_thread():
            return added(there)

    def _read_moments(self) -> Moments:
        if self._rows is None:
            return super()._read_moments()
        return self._rows.summed(lambda: self.sum(_moments_of_any))

    def _numbered(self, order: Iterable[int] | None) -> Iterator[tuple[int, Chunk]]:
        """Chunks with their numbers, reported to progress bars."""
        known = self.n_rows if self.n_rows and not self.source.single_pass else self.source.about_rows()
        total = known if order is None else None
        return watched(self._read(order), "reading rows", lambda item: item[1].n_rows, total)

    def _read(self, order: Iterable[int] | None) -> Iterator[tuple[int, Chunk]]:
        """Chunks with their numbers: from the file of encoded rows where there is one, else from the source."""
        if self._rows is not None:
            try:
                for i in range(self.n_chunks) if order is None else order:
                    yield int(i), self._rows.chunk(int(i))
            finally:
                self._rows.let_go()
        elif order is None:
            chunks = self._first_pass() if self._caching else self._sequential()
            yield from enumerate(ahead(chunks))
        else:
            yield from ahead(self._in_this_order(order))

    def _in_this_order(self, order: Iterable[int]) -> Iterator[tuple[int, Chunk]]:
        """Chunks in this order from the source; in their own order, from a source without random access."""
        order = [int(i) for i in order]
        for i in order:
            chunk = self._slice(i)
            if chunk is None:
                break
            yield i, chunk
        else:
            return
        logger.info("the source is read in its own order, since the cache of encoded rows is turned off")
        chosen = set(order)
        yield from ((i, chunk) for i, chunk in enumerate(self._sequential()) if i in chosen)

    def _slice(self, i: int) -> Chunk | None:
        """Chunk i from the source; None where that offers no random access."""
        rows = self._columns, i * self.chunk_rows, (i + 1) * self.chunk_rows
        found = self.source.matrix_slice(*rows) if self._needs_no_encoding else None
        batch, matrix = found or (self.source.slice(*rows), None)
        return None if batch is None else self._encode(batch, rows[1], matrix)

    def _sequential(self) -> Iterator[Chunk]:
        """All chunks in order; chunk i has the rows from i * chunk_rows on, less those left out, and may be empty."""
        columns = self._columns
        if self._decoded is not None and self._decoded.complete:
            batches = self._decoded.take(columns)
        else:
            batches = self.source.batches(columns, self.chunk_rows)
        if not self.source.single_pass:
            batches = rebatch(batches, self.chunk_rows)
        else:  # which may be slow: its rows are used as they come, unless they become too large
            batches = parts_of_batches(batches, self.chunk_rows)
        first_row = 0
        # the next batch is decoded while this one is encoded
        for batch in ahead(batches):
            yield self._encode(batch, first_row)
            first_row += batch.num_rows

    def _encode(self, batch: pa.RecordBatch, first_row: int, matrix: np.ndarray | None = None) -> Chunk:
        try:
            return self._encoding.chunk(batch, matrix)
        except BadRow as bad:
            raise DataError(f"{self.source.where(first_row + bad.row)}: {bad.sentence}") from bad

    def _first_pass(self) -> Iterator[Chunk]:
        """All chunks in order, each written to the temporary file as it is yielded."""
        folder = self._cache_folder or tempfile.gettempdir()
        try:
            with file_without_name(folder) as handle:
                logger.info("encoded rows are kept in %s, about %s, until the end (cache=False turns this off)",
                            folder, in_words(self.n_bytes))  # fmt: skip
                yield from write_chunks(handle, self._sequential())
                if not handle.tell():
                    return  # no chunk, no file
                self._rows = EncodedRows(handle, self.n_features, in_memory_bytes(self._budget))
        except OSError as error:
            raise DataError(
                f"the encoded rows{f' (about {in_words(self.n_bytes)})' if self.n_bytes else ''} cannot be kept in "
                f"{folder}: {error.strerror or error}; name another folder for them (cache='/folder'), or turn this "
                "off (cache=False)"
            ) from error

    def load(self, decoded: DecodedBatches | None = None) -> InMemory:
        """All rows in memory, for data that fits; from what was decoded already, where that is all of it."""
        self._caching, self._decoded = False, decoded
        chunks = (chunk for _, chunk in self._numbered(None) if chunk.n_rows)
        first = next(chunks)
        whole = gathered(chain([first], chunks), self.n_rows) if first.X.sparse else copied([first, *chunks])
        return InMemory.of(whole, self.facts)


def _moments_of_any(chunk: Chunk) -> Moments:
    """The moments of numbers that may be infinite, or none."""
    with np.errstate(all="ignore"):  # in the thread that computes them
        return chunk.X.moments(targets_alone(chunk.y), chunk.weight)


def facts_of(profile: Profile, n_rows: int, memory: int, single_pass: bool = False) -> Facts:
    """The facts of a dataset whose rows are encoded as this profile says."""
    encoding = profile.encoding
    return Facts(
        n_rows,
        encoding.n_features,
        encoding.feature_names if profile.named else None,
        encoding.target.labels if encoding.target else None,
        encoding,
        profile,
        memory=memory,
        single_pass=single_pass,
        offset=encoding.offset,
        survival=encoding.target is not None and encoding.target.survival,
        trials=encoding.target is not None and encoding.target.trials is not None,
        targets=None if encoding.target is None else encoding.target.several,
    )

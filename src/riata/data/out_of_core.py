"""Data that need not fit in memory: encoded a chunk at a time, from the source or from a file of encoded rows.

The first pass over a slow format leaves the encoded rows in a temporary Arrow file, which the later passes map into
memory. The file has no name from the moment it is made: it is gone when the process is, however that ends.
"""

import logging
import tempfile
from collections.abc import Iterator

from riata.data.budget import chunk_bytes, held_bytes, in_words
from riata.data.chunk import Chunk, added, copied
from riata.data.columns.column import BadRow
from riata.data.dataset import Dataset
from riata.data.encoded_file import EncodedRows, write_chunks
from riata.data.facts import Facts
from riata.data.formats.source import Source, rebatch
from riata.data.in_memory import InMemory
from riata.data.opening.profile import Profile
from riata.data.parallel import in_parallel
from riata.data.read_ahead import ahead
from riata.data.row_events import watched
from riata.errors import DataError
from riata.machine import file_without_name
from riata.threads import one_blas_thread

logger = logging.getLogger(__name__)
ROW_OVERHEAD = 64  # bytes of margins, derivatives and the like that a pass makes per row


class OutOfCore(Dataset):
    """Rows of a source seen through an encoding, within a memory budget."""

    def __init__(self, source: Source, profile: Profile, memory: int, cache: bool | str = True):
        super().__init__(facts_of(profile, profile.n_rows, memory, source.single_pass))
        self.source, self._encoding, self._budget = source, profile.encoding, memory
        per_row = max(self._encoding.row_bytes, profile.row_bytes) + ROW_OVERHEAD
        self.chunk_rows = int(max(1, chunk_bytes(memory) // per_row))
        self.n_chunks = -(-profile.n_read // self.chunk_rows)
        self._cache_folder = cache if isinstance(cache, str) else None
        self._caching = bool(cache) and not source.fast and not self._encoding.hashed  # whose names are not kept
        self._rows: EncodedRows | None = None
        # a matrix whose first look saw finite numbers only
        self._as_it_lies = self._encoding.is_matrix and bool(profile.columns)

    @classmethod
    def converted(cls, rows: EncodedRows, source: Source, profile: Profile, memory: int) -> "OutOfCore":
        """The rows of a file that holds them encoded already."""
        data = cls(source, profile, memory)
        data._rows, data.n_chunks = rows, rows.n_chunks
        return data

    def close(self):
        self.source.close()

    @property
    def in_order(self):
        return self._rows is None and not self._caching and not self.source.jumps

    @property
    def n_bytes(self) -> float:
        """Of all encoded rows, about."""
        return self.n_rows * self._encoding.row_bytes

    def visit(self, order=None):
        if self._rows is None and self._caching and order is not None:
            for _ in self._first_pass():  # an order needs the whole file
                pass
        for number, chunk in self._numbered(order):
            if chunk.n_rows:
                self.ledger.count(chunk.n_rows)
                yield chunk
            if self._rows is not None:
                self._rows.release(number)
        if self.source.single_pass:
            self.ledger.n_rows = self.ledger.rows_read  # nobody knew before
            self.facts = self.facts.but(n_rows=self.ledger.n_rows)

    def sum(self, f):
        self.ledger.count(self.n_rows)

        def of_next(numbered):
            number, chunk = numbered
            value = f(chunk) if chunk.n_rows else None
            if self._rows is not None:
                self._rows.release(number)
            return value

        def of_own(number):
            chunk = self._slice(number)
            assert chunk is not None
            return f(chunk) if chunk.n_rows else None

        if self._rows is None and self.source.fast and self.source.jumps:  # each thread reads its own chunks
            numbers = watched(range(self.n_chunks), "reading rows", lambda _: self.chunk_rows, self.n_rows)
            values = in_parallel(of_own, numbers, held_bytes(self._budget))
        else:
            values = in_parallel(of_next, self._numbered(None), held_bytes(self._budget))
        with one_blas_thread():
            return added(filter(_is_there, values))

    def _numbered(self, order) -> Iterator[tuple[int, Chunk]]:
        """Chunks with their numbers, from the cheapest place that has them."""
        total = self.n_rows if order is None and self.n_rows else None
        return watched(self._places(order), "reading rows", lambda item: item[1].n_rows, total)

    def _places(self, order) -> Iterator[tuple[int, Chunk]]:
        if self._rows is not None:
            for i in range(self.n_chunks) if order is None else order:
                yield int(i), self._rows.chunk(int(i))
        elif order is None:
            yield from enumerate(ahead(self._first_pass() if self._caching else self._sequential()))
        else:
            yield from ahead(self._jumping(order))

    def _jumping(self, order):
        """Chunks in an order, straight from the source: those it cannot jump to, as they lie."""
        order = [int(i) for i in order]
        for i in order:
            chunk = self._slice(i)
            if chunk is None:
                break
            yield i, chunk
        else:
            return
        logger.info("the source is read as it lies, since the cache of encoded rows is turned off")
        chosen = set(order)
        yield from ((i, chunk) for i, chunk in enumerate(self._sequential()) if i in chosen)

    def _slice(self, i: int) -> Chunk | None:
        """Chunk i straight from the source; None where it cannot jump there."""
        rows = self._encoding.columns, i * self.chunk_rows, (i + 1) * self.chunk_rows
        found = self.source.matrix_apart(*rows) if self._as_it_lies else None
        batch, matrix = found or (self.source.slice(*rows), None)
        return None if batch is None else self._encode(batch, rows[1], matrix)

    def _sequential(self) -> Iterator[Chunk]:
        """All chunks as they lie, an empty one where no row counts: chunk i is made of rows i * chunk_rows and on."""
        batches = self.source.batches(self._encoding.columns, self.chunk_rows)
        if (
            not self.source.single_pass
        ):  # the rows of a stream that is not kept may be few and far between: as they come
            batches = rebatch(batches, self.chunk_rows)
        first_row = 0
        for batch in ahead(batches):  # decoding beside encoding
            yield self._encode(batch, first_row)
            first_row += batch.num_rows

    def _encode(self, batch, first_row, matrix=None) -> Chunk:
        try:
            return self._encoding.chunk(batch, matrix)
        except BadRow as bad:
            raise DataError(f"{self.source.where(first_row + bad.row)}: {bad.sentence}") from bad

    def _first_pass(self) -> Iterator[Chunk]:
        """All chunks as they lie, written to a temporary file on the way."""
        folder = self._cache_folder or tempfile.gettempdir()
        try:
            with file_without_name(folder) as handle:
                logger.info("encoded rows are kept in %s, about %s, until the end (cache=False turns this off)",
                            folder, in_words(self.n_bytes))  # fmt: skip
                yield from write_chunks(handle, self._sequential())
                if not handle.tell():
                    return  # no chunk, no file
                self._rows = EncodedRows(handle, self.n_features, held_bytes(self._budget))
        except OSError as error:
            raise DataError(
                f"the encoded rows (about {in_words(self.n_bytes)}) cannot be kept in {folder}: {error}; name another "
                "folder for them (cache='/folder'), or turn this off (cache=False)"
            ) from error

    def load(self) -> InMemory:
        """All rows in memory, for data that fits."""
        self._caching = False
        chunks = [chunk for _, chunk in self._numbered(None) if chunk.n_rows]
        return InMemory(*copied(chunks), facts=self.facts)


def facts_of(profile: Profile, n_rows: int, memory: int, single_pass: bool = False) -> Facts:
    """What a profile tells of the rows that are encoded by it."""
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
    )


def _is_there(value) -> bool:
    return value is not None

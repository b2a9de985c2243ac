"""Rows that can be read only once: a generator of chunks, an Arrow reader, standard input.

Either they are written to a temporary Arrow IPC file while they are read (`StoredStream`), so that every solver can
read them again, or they are not (`UnstoredStream`), for methods that need one pass.
"""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import gettempdir
from typing import IO, Any

import numpy as np
import pyarrow as pa

from riata.data.csr import canonical
from riata.data.formats.source import OF_CELLS, OFFSET, TARGET, WEIGHT, Source
from riata.data.formats.tables import Table, column_table, flat_batch, flat_schema, matrix_batch, to_table
from riata.errors import DataError
from riata.machine import file_without_name
from riata.scipy_later import is_sparse


class Stream(Source):
    """Record batches from an iterator, once."""

    single_pass = True

    def __init__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], bare: bool = False) -> None:
        self.schema, self.bare = flat_schema(schema), bare
        self._batches = batches

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            for start in range(0, batch.num_rows, rows):
                yield flat_batch(batch.slice(start, rows), columns)


def _take_over(source: Source, stream: Source) -> None:
    """Know of rows what the stream that they come from knows."""
    for name in ("bare", "any_base", "width", "feature_names", *OF_CELLS):
        setattr(source, name, getattr(stream, name))


class _FirstRows(Table):
    """The first rows of a stream."""

    partial = True

    def __init__(self, rows: pa.RecordBatch, stream: Source) -> None:
        super().__init__(pa.Table.from_batches([rows]))
        self._stream = stream
        _take_over(self, stream)

    def whole_range(self, column: str) -> tuple[int, int] | None:
        return self._stream.whole_range(column)

    def where(self, row: int) -> str:
        return self._stream.where(row)

    def place(self) -> str:
        return self._stream.place()


class UnstoredStream(Source):
    """A stream that is not stored: its first batch can be inspected (`first`), and all of it read once."""

    single_pass = True

    def __init__(self, stream: Source, rows: int, columns: Sequence[str]) -> None:
        self._stream = stream
        self.schema = pa.schema([stream.schema.field(name) for name in columns])
        self._batches: Iterator[pa.RecordBatch] | None = stream.batches(columns, rows)
        head = next(self._batches, None)
        if head is None:
            place = stream.place()
            ended = "the stream ended before its first row: there is nothing to learn from"
            raise DataError(f"there are no rows to learn from{place}" if place else ended)
        self._head, self.first = head, _FirstRows(head, stream)
        _take_over(self, stream)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        if self._batches is None:
            raise DataError("a stream can be read only once, and this one has been; open it with cache=True")
        batches, self._batches = _with_head([self._head], self._batches), None
        del self._head, self.first  # or they would take memory, as much as many later batches, until the end
        for batch in batches:
            self.skipped, self.skipped_at = self._stream.skipped, self._stream.skipped_at
            yield batch.select(list(columns))
            del batch

    def about_rows(self) -> int | None:
        return self._stream.about_rows()

    def where(self, row: int) -> str:
        return self._stream.where(row)

    def place(self) -> str:
        return self._stream.place()

    def close(self) -> None:
        self._stream.close()


class StoredStream(Source):
    """A stream that is written to a temporary file while it is read for the first time."""

    def __init__(self, stream: Source, folder: str | None = None) -> None:
        self._stream, self._folder = stream, folder
        self._wanted: list[str] = []  # columns that later passes may read
        self._file: IO[bytes] | None = None
        self.schema = stream.schema
        _take_over(self, stream)

    def judge_by(self, columns: Sequence[str]) -> None:
        self._stream.judge_by(columns)
        self._wanted = self.own(columns)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        if self._file is None:
            yield from self._first(columns, rows)
            return
        self._file.seek(0)
        with pa.ipc.open_stream(pa.PythonFile(self._file, "r")) as reader:
            for batch in reader:
                yield batch.select(list(columns))

    def whole_range(self, column: str) -> tuple[int, int] | None:
        return self._stream.whole_range(column)

    def _first(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The first pass, which writes the file."""
        stored = list(dict.fromkeys([*columns, *self._wanted]))
        schema = pa.schema([self.schema.field(name) for name in stored])
        with self._keeping():
            kept = file_without_name(self._folder)  # closed with this source
            weakref.finalize(self, _close, kept)
            writer = pa.ipc.new_stream(pa.PythonFile(kept, "w"), schema)
        for batch in self._stream.batches(stored, rows):
            with self._keeping():
                writer.write_batch(batch.cast(schema))
            self.skipped, self.skipped_at = self._stream.skipped, self._stream.skipped_at
            yield batch.select(list(columns))
        with self._keeping():
            writer.close()
            kept.flush()
        self._file = kept

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Say why rows cannot be written to the temporary file."""
        try:
            yield
        except OSError as error:
            raise DataError(
                f"the rows of the stream cannot be kept in {self._folder or gettempdir()}: {error.strerror or error}; "
                "name another folder for them (cache='/folder'), or do not keep them (cache=False)"
            ) from error


def _with_head(head: list[pa.RecordBatch], later: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batch in a list, which it leaves, and all others; `itertools.chain` would hold on to it until the end."""
    yield head.pop()
    yield from later


def _close(file: IO[bytes]) -> None:
    """Close a temporary file; what of it cannot be written is of no use any more."""
    with suppress(OSError):
        file.close()


def from_chunks(chunks: Iterable[Any]) -> Stream:
    """A stream of tables, frames, or tuples (X, y), (X, y, weight) and (X, y, weight, offset)."""
    chunks = iter(chunks)
    try:
        first = next(chunks)
    except StopIteration:
        raise DataError("the stream ended before its first chunk: there is nothing to learn from") from None
    head = batches_of(first)
    if not head:
        raise DataError("the first chunk of the stream has no rows")

    bare = isinstance(first, tuple | np.ndarray)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from head
        for chunk in chunks:
            for batch in batches_of(chunk):
                if bare and batch.schema.names != head[0].schema.names:
                    raise DataError("some chunks of the stream have a target or weights, and some have not")
                yield batch

    return Stream(head[0].schema, batches(), bare)


def batches_of(chunk: Any) -> list[pa.RecordBatch]:
    """The rows of a table, a frame, a matrix or a tuple of arrays."""
    if isinstance(chunk, tuple):
        X, *rest = chunk
        X = canonical(X) if is_sparse(X) else X
        arrays = dict(zip((TARGET, WEIGHT, OFFSET), rest, strict=False))
        return [
            _beside(matrix_batch(X), {name: column_table(a, name)[name] for name, a in arrays.items() if a is not None})
        ]
    table = to_table(chunk)
    if table is not None:
        batches: list[pa.RecordBatch] = table.combine_chunks().to_batches()
        return batches
    return [matrix_batch(canonical(chunk) if is_sparse(chunk) else _matrix(chunk))]


def _matrix(chunk: Any) -> np.ndarray:
    """A chunk as a matrix; a list of rows would be taken for a generator of chunks, each of which is a row."""
    try:
        X = np.asarray(chunk)
    except ValueError:  # of rows that are not of one length
        X = np.zeros(0)
    if X.ndim != 2:
        raise DataError(
            f"what comes one after the other must be chunks of rows (tables, matrices or tuples (X, y)), not of type "
            f"{type(chunk).__name__}; rows in a list are opened as an array, and columns in a dict as a frame"
        )
    return X


def _beside(batch: pa.RecordBatch, columns: dict[str, pa.ChunkedArray]) -> pa.RecordBatch:
    """The batch with more columns."""
    for name, column in columns.items():
        if len(column) != batch.num_rows:
            raise DataError(f"a chunk has {batch.num_rows} rows but {len(column)} values of {name}")
        batch = batch.append_column(name, column.combine_chunks())
    return batch

"""A source gives rows as Arrow record batches: named columns of any type, in an order that never changes.

A matrix is one column: a fixed-size list per row where it is dense, a pair of list columns (indices and values) where
it is sparse. So arrays, files and streams differ only in how their batches come about, and one encoding serves all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from riata.errors import DataError

DENSE = "X"  # the name of a matrix without a name
INDICES, VALUES = "X.indices", "X.values"
TARGET, WEIGHT = "y", "weight"


class Source(ABC):
    """Rows to be read from first to last, as often as asked unless `single_pass`."""

    schema: pa.Schema
    n_rows: int | None = None  # where it is known without reading
    n_bytes: int | None = None  # of the rows as they are stored, where known
    single_pass = False  # whether the rows are gone when they have been read
    bare = False  # whether this is an array, in which NaN is an error and not a missing value
    fast = False  # whether a pass costs no more than reading the bytes
    skipped = 0  # bad rows left out in the last pass, where that was allowed
    any_base = False  # whether sparse indices may count from zero or from one
    width: int | None = None  # how many features a sparse matrix has, where known
    feature_names: Sequence[str] = ()  # of a matrix, where known

    @abstractmethod
    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """These columns of all rows, not much more than `rows` at a time."""

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch | None:
        """Some rows, at their own cost, for a source that can jump."""
        return None

    def matrix_apart(self, columns: Sequence[str], start: int, stop: int) -> tuple[pa.RecordBatch, np.ndarray] | None:
        """Some rows, their matrix not as a column but as it lies, for a source that would have to copy it."""
        return None

    @property
    def jumps(self) -> bool:
        """Whether some rows can be had without those before them."""
        return type(self).slice is not Source.slice

    def close(self) -> None:  # noqa: B027 (most have nothing to wait for)
        """Stop waiting for rows that may never come."""

    def fingerprint(self) -> object | None:
        """A value that changes when the rows may have changed; None where nobody can know."""
        return None

    def where(self, row: int) -> str:
        """How a message names a row."""
        return f"row {row + 1}"


def rebatch(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows, exactly `rows` at a time; the last batch may be shorter."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, rows - n_held)
            batch = batch.slice(part.num_rows)
            held.append(part)
            n_held += part.num_rows
            if n_held == rows:
                yield _joined(held)
                held, n_held = [], 0
    if held:
        yield _joined(held)


def _joined(batches):
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


class Beside(Source):
    """The rows of a source with columns from other sources beside them, row by row."""

    def __init__(self, source: Source, others: Sequence[Source]):
        self._source, self.sources = source, (source, *others)
        self.schema = source.schema
        for other in others:
            for field in other.schema:
                self.schema = self.schema.append(field)
        for name in ("n_rows", "n_bytes", "single_pass", "bare", "any_base", "width", "feature_names"):
            setattr(self, name, getattr(source, name))
        self.fast = source.fast and all(other.fast for other in others)
        for other in others:
            _same_rows(source.n_rows, other.n_rows)

    def batches(self, columns, rows):
        readers = [rebatch(s.batches(names, rows), rows) for s, names in self._shares(columns)]
        for parts in _together(readers):
            _same_rows(*(part.num_rows for part in parts))
            self.skipped = self._source.skipped
            yield _side_by_side(parts)

    def slice(self, columns, start, stop):
        parts = [s.slice(names, start, stop) for s, names in self._shares(columns)]
        return None if any(part is None for part in parts) else _side_by_side(parts)

    @property
    def jumps(self):
        return all(source.jumps for source in self.sources)

    def _shares(self, columns):
        """The sources that hold these columns, each with its own."""
        shares = [(s, [c for c in columns if c in s.schema.names]) for s in self.sources]
        return [(s, names) for s, names in shares if names]

    def fingerprint(self):
        marks = [s.fingerprint() for s in self.sources]
        return None if None in marks else marks

    def where(self, row):
        return self._source.where(row)


class OneColumn(Source):
    """The one column of a source, under another name."""

    def __init__(self, source: Source, name: str):
        if len(source.schema.names) != 1:
            raise DataError(f"the {name} needs one column of its own, and there are {', '.join(source.schema.names)}")
        self.inner = source
        self.schema = pa.schema([pa.field(name, source.schema.types[0])])
        self.n_rows, self.n_bytes, self.single_pass, self.fast = (
            source.n_rows,
            source.n_bytes,
            source.single_pass,
            source.fast,
        )

    def batches(self, columns, rows):
        for batch in self.inner.batches(self.inner.schema.names, rows):
            yield batch.rename_columns(self.schema.names)

    def slice(self, columns, start, stop):
        batch = self.inner.slice(self.inner.schema.names, start, stop)
        return None if batch is None else batch.rename_columns(self.schema.names)

    @property
    def jumps(self):
        return self.inner.jumps

    def fingerprint(self):
        return self.inner.fingerprint()


def _together(readers):
    """Batches of all readers, until all end; None stands for a reader that ended before the others."""
    empty = object()
    while True:
        parts = [next(reader, empty) for reader in readers]
        if all(part is empty for part in parts):
            return
        if any(part is empty for part in parts):
            raise DataError("the target or the weights do not have as many rows as the data")
        yield parts


def _side_by_side(parts):
    arrays = [array for part in parts for array in part.columns]
    names = [name for part in parts for name in part.schema.names]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _same_rows(*counts):
    if len({count for count in counts if count is not None}) > 1:
        raise DataError(f"there are {counts[0]} rows of features but {counts[1]} targets (or weights)")

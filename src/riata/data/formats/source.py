"""A source yields rows as Arrow record batches: named columns of any type, in an order that never changes.

A matrix is one column of fixed-size lists where it is dense, and a pair of list columns (indices and values) where it
is sparse. So arrays, files and streams all become batches, and there is one way to encode them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.cells.cell_format import CellFormat
from riata.errors import DataError

DENSE = "X"  # the name of the column of a dense matrix
INDICES, VALUES = "X.indices", "X.values"
TARGET, WEIGHT, OFFSET = "y", "weight", "offset"
NOTHING: Mapping[str, Any] = {}
OF_CELLS = ("cells", "refused", "strays", "notes")  # attributes about cells of text


class Source(ABC):
    """Rows that can be read from first to last, repeatedly unless `single_pass`."""

    schema: pa.Schema
    n_rows: int | None = None  # where known without reading the rows
    n_bytes: int | None = None  # the size of the rows as they are stored, where known
    single_pass = False  # whether the rows can be read only once
    unordered = False  # whether the rows may come in another order in each pass
    bare = False  # whether this is an array, in which NaN is an error and not a missing value
    fast = False  # whether a pass costs no more than reading the bytes
    partial = False  # whether these are only the first rows of a stream, and later ones may be different
    skipped = 0  # how many bad rows the last pass left out, where that is allowed
    skipped_at: Sequence[str] = ()  # where the first of these are
    any_base = False  # whether sparse indices may count from zero or from one
    width: int | None = None  # how many features a sparse matrix has, where known
    feature_names: Sequence[str] = ()  # of the columns of a matrix, where known
    cells: Mapping[str, CellFormat] = NOTHING  # how cells of text are written, in some columns
    refused: Mapping[str, str] = NOTHING  # why some columns cannot be read as they are
    strays: Mapping[str, str] = NOTHING  # about columns of numbers with a few words among them
    notes: Sequence[str] = ()  # what was assumed of how the rows are written

    @abstractmethod
    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """These columns of all rows, in batches of not much more than `rows`."""

    def own(self, columns: Iterable[str]) -> list[str]:
        """Those of some columns that this source has."""
        there = set(self.schema.names)  # made once: there may be thousands
        return [name for name in columns if name in there]

    def judge_by(self, columns: Sequence[str]) -> None:  # noqa: B027 (most have no bad rows)
        """Let these columns decide which rows are bad, in every pass, whatever columns are read in it.

        Otherwise a pass over fewer columns would leave fewer rows out. Before this is called, all columns decide.
        """

    def leave_out_unlearnable(self, weight: str | None) -> None:  # noqa: B027 (most are refused with a sentence)
        """Leave out, in every pass, rows with an infinite number, or with a `weight` that is none.

        Those columns decide that decide which rows are bad (`judge_by`).
        """

    def as_codes(self) -> None:  # noqa: B027 (most have none)
        """Leave strings as codes (dictionary-encoded) where they are stored so; the schema does not tell."""

    def read_beside_others(self) -> None:  # noqa: B027 (most read in one thread anyway)
        """Read in one thread where all other cores are busy with the rows before."""

    def whole_range(self, column: str) -> tuple[int, int] | None:
        """The least and the largest number of a column that is read as floats, if it is whole numbers: reads all rows.

        None where they are not, or are of a type that tells. `DigitsLost` says that it can no longer be told.
        """
        return None

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch | None:
        """The rows from `start` up to `stop`, without reading others; None without `random_access`."""
        return None

    def matrix_slice(self, columns: Sequence[str], start: int, stop: int) -> tuple[pa.RecordBatch, np.ndarray] | None:
        """Like `slice`, with the matrix returned as an array, by a source that would have to copy it into a column."""
        return None

    @property
    def random_access(self) -> bool:
        """Whether it offers random access: rows can be read without those before them."""
        return type(self).slice is not Source.slice

    def close(self) -> None:  # noqa: B027 (most have nothing to wait for)
        """Stop waiting for rows that may never come."""

    def fingerprint(self) -> object | None:
        """A value that changes when the rows may have changed; None where that cannot be known."""
        return None

    def where(self, row: int) -> str:
        """The position of a row, for messages."""
        return f"row {row + 1}"

    def place(self) -> str:
        """Where the rows are, as part of a sentence; nothing where they have no name."""
        return ""

    def about_rows(self) -> int | None:
        """About how many rows there are, for the time that is left; None where that cannot be told."""
        return self.n_rows

    def note_on_skipped(self) -> list[str]:
        """A note on the bad rows that the last pass left out, if there were any."""
        return skipped_note(self.skipped, self.skipped_at)


def skipped_note(count: int, places: Sequence[str] = ()) -> list[str]:
    """A note on so many bad rows, if there are any, of which some are at these places."""
    if not count:
        return []
    more = ["and more"] if len(places) < count else []
    where = f" ({'; '.join([*places, *more])})" if places else ""
    return [f"{count} row{'' if count == 1 else 's'} could not be read: left out{where}"]


def rebatch(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows, exactly `rows` at a time; the last batch may be shorter."""
    parts: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, rows - n_rows)
            batch = batch.slice(part.num_rows)
            parts.append(part)
            n_rows += part.num_rows
            if n_rows == rows:
                yield _joined(parts)
                parts, n_rows = [], 0
    if parts:
        yield _joined(parts)


def parts_of_batches(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """The same rows, at most so many at a time, none of which wait for others; parts of a batch are about equal."""
    for batch in batches:
        n_parts = -(-batch.num_rows // most)
        cuts = [i * batch.num_rows // n_parts for i in range(n_parts)]
        yield from (batch.slice(a, b - a) for a, b in pairwise([*cuts, batch.num_rows]))


def joined_batches(batches: Iterable[pa.RecordBatch], n: int) -> Iterator[pa.RecordBatch]:
    """The same rows, n batches together."""
    waiting = iter(batches)
    while several := list(islice(waiting, n)):
        yield _joined(several)
        del several


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


class WithColumns(Source):
    """The rows of a source, joined row by row with columns of other sources (targets, weights)."""

    def __init__(self, source: Source, others: Sequence[Source]) -> None:
        self._source, self.sources = source, (source, *others)
        self.schema = source.schema
        for other in others:
            for field in other.schema:
                self.schema = self.schema.append(field)
        for name in ("n_rows", "n_bytes", "single_pass", "bare", "any_base", "width", "feature_names", *OF_CELLS):
            setattr(self, name, getattr(source, name))
        self.fast = source.fast and all(other.fast for other in others)
        self.unordered = any(one.unordered for one in self.sources)
        for other in others:
            _same_rows(source.n_rows, other.n_rows)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        readers = [rebatch(s.batches(names, rows), rows) for s, names in self._shares(columns)]
        for parts in _together(readers):
            _same_rows(*(part.num_rows for part in parts))
            if any(source.skipped for source in self.sources):
                raise DataError(
                    "some rows cannot be read, and those that belong to them in another file or array are not known: "
                    "put all columns into one file, or correct the rows"
                )
            yield _side_by_side(parts)

    def about_rows(self) -> int | None:
        return self._source.about_rows()

    def whole_range(self, column: str) -> tuple[int, int] | None:
        return next(source for source, _ in self._shares([column])).whole_range(column)

    def judge_by(self, columns: Sequence[str]) -> None:
        for source in self.sources:
            source.judge_by(source.own(columns))

    def leave_out_unlearnable(self, weight: str | None) -> None:
        for source in self.sources:
            source.leave_out_unlearnable(weight if weight in source.schema.names else None)

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch | None:
        parts = [s.slice(names, start, stop) for s, names in self._shares(columns)]
        return None if any(part is None for part in parts) else _side_by_side(parts)

    @property
    def random_access(self) -> bool:
        return all(source.random_access for source in self.sources)

    def _shares(self, columns: Sequence[str]) -> list[tuple[Source, list[str]]]:
        """The sources that have these columns, each with those it has."""
        shares = [(s, s.own(columns)) for s in self.sources]
        return [(s, names) for s, names in shares if names]

    def fingerprint(self) -> object | None:
        marks = [s.fingerprint() for s in self.sources]
        return None if None in marks else marks

    def where(self, row: int) -> str:
        return self._source.where(row)

    def place(self) -> str:
        return self._source.place()


class OneColumn(Source):
    """The one column of a source, under another name."""

    def __init__(self, source: Source, name: str) -> None:
        if len(source.schema.names) != 1:
            raise DataError(f"the {name} needs one column of its own, and there are {', '.join(source.schema.names)}")
        self.inner = source
        self.schema = pa.schema([pa.field(name, source.schema.types[0])])
        for kept in ("n_rows", "n_bytes", "single_pass", "unordered", "fast"):
            setattr(self, kept, getattr(source, kept))

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in self.inner.batches(self.inner.schema.names, rows):
            yield batch.rename_columns(self.schema.names)

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch | None:
        batch = self.inner.slice(self.inner.schema.names, start, stop)
        return None if batch is None else batch.rename_columns(self.schema.names)

    @property
    def random_access(self) -> bool:
        return self.inner.random_access

    def fingerprint(self) -> object | None:
        return self.inner.fingerprint()


def _together(readers: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[list[pa.RecordBatch]]:
    """The next batch of every reader, until all end together."""
    empty = object()
    while True:
        parts = [next(reader, empty) for reader in readers]
        if all(part is empty for part in parts):
            return
        if any(part is empty for part in parts):
            raise DataError("the target or the weights do not have as many rows as the data")
        yield parts


def _side_by_side(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    arrays = [array for part in parts for array in part.columns]
    names = [name for part in parts for name in part.schema.names]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _same_rows(*counts: int | None) -> None:
    if len({count for count in counts if count is not None}) > 1:
        raise DataError(f"there are {counts[0]} rows of features but {counts[1]} targets (or weights)")

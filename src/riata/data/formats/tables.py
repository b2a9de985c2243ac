"""Tables in memory: PyArrow, pandas, polars; and arrays as columns of an Arrow table."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of
from riata.data.formats.frame_columns import as_column, pandas_table, polars_table
from riata.data.formats.source import DENSE, INDICES, VALUES, Source
from riata.errors import DataError
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp


class Table(Source):
    """Rows of an Arrow table."""

    fast = False  # a pass encodes the rows again

    def __init__(self, table: pa.Table, bare: bool = False) -> None:
        self._table = table
        self.schema = table.schema.remove_metadata()
        self.n_rows, self.n_bytes, self.bare = table.num_rows, table.nbytes, bare

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(list(columns)).to_batches(max_chunksize=rows)

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch | None:
        part = self._table.select(list(columns)).slice(start, stop - start).combine_chunks()
        return part.to_batches()[0] if part.num_rows else None


class Scanned(Source):
    """Rows of a `pyarrow.dataset.Dataset`, which may have any files and filters."""

    def __init__(self, dataset: Any) -> None:
        self._dataset, self.schema = dataset, flat_schema(dataset.schema.remove_metadata())

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        stored = [field.name for field in owners(self._dataset.schema, columns)]
        batches = self._dataset.to_batches(columns=stored, batch_size=rows, batch_readahead=1, fragment_readahead=1)
        try:
            for batch in batches:
                batch.validate(full=True)  # Arrow does not check offsets, which a damaged file may have wrong
                yield flat_batch(batch, columns)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"the data set is damaged or cut short ({error})") from error


def is_table(frame: Any) -> bool:
    """Whether `to_table` makes a table of it."""
    return isinstance(frame, pa.Table | pa.RecordBatch) or _library(frame) in ("pandas", "polars")


def _library(frame: Any) -> str:
    return type(frame).__module__.partition(".")[0]


def to_table(frame: Any) -> pa.Table | None:
    """A data frame or series as an Arrow table, without a copy where possible; None for anything else."""
    if isinstance(frame, pa.Table):
        return flat(frame)
    if isinstance(frame, pa.RecordBatch):
        return flat(pa.Table.from_batches([frame]))
    if _library(frame) == "pandas":
        frame = frame.to_frame() if frame.ndim == 1 else frame
        return flat(pandas_table(frame.rename(columns=str)))
    if _library(frame) == "polars":
        frame = frame.collect() if hasattr(frame, "collect") else frame
        return flat(polars_table(frame.to_frame() if hasattr(frame, "to_frame") else frame))
    return None


def flat(table: pa.Table) -> pa.Table:
    """The table with the fields of structs as columns of their own, under dotted names, each name once."""
    while any(map(pa.types.is_struct, table.schema.types)):
        table = table.flatten()
    return checked_names(table)


def flat_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of such a table; Arrow's own `empty_table` imports pandas."""
    return flat(pa.Table.from_batches([], schema)).schema


def flat_batch(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """These columns of a batch, of which those with dotted names may be fields of structs."""
    if any(map(pa.types.is_struct, batch.schema.types)):
        table = flat(pa.Table.from_batches([batch])).select(list(columns)).combine_chunks()
        schema, arrays = table.schema, [column.combine_chunks() for column in table.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)
    return batch.select(list(columns))


def owners(schema: pa.Schema, columns: Sequence[str]) -> list[pa.Field]:
    """The fields of a nested schema to which these columns with dotted names belong."""
    beginnings = {".".join(parts[:n]) for parts in (c.split(".") for c in columns) for n in range(1, len(parts) + 1)}
    return [field for field in schema if field.name in beginnings]


def checked_names(table: pa.Table) -> pa.Table:
    """The table, if each of its columns has a name of its own."""
    check_unique(table.schema.names)
    return table


def check_unique(names: Sequence[str]) -> None:
    """Refuse a name that several columns have."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"there is more than one column called {twice!r}; give each a name of its own")


def native(values: np.ndarray) -> np.ndarray:
    """The values in a type that Arrow has: of native byte order, and of at most eight bytes."""
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def dense_column(X: np.ndarray) -> pa.Array:
    """A column of fixed-size lists, one for every row of a matrix, without a copy."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"an array of {X.dtype} holds no numbers; give a data frame or a file for mixed columns")
    if X.dtype == np.bool_:
        X = X.view(np.uint8)
    return pa.FixedSizeListArray.from_arrays(arrow_of(np.ascontiguousarray(X).ravel()), X.shape[1])


def list_column(offsets: np.ndarray, values: np.ndarray) -> pa.Array:
    """A column of the lists values[offsets[i]:offsets[i + 1]], without a copy."""
    return pa.LargeListArray.from_arrays(arrow_of(np.asarray(offsets, dtype=np.int64)), arrow_of(values))


def matrix_batch(X: Any) -> pa.RecordBatch:
    """Rows of a dense or sparse matrix as columns of a record batch."""
    if is_sparse(X):
        X = sp.csr_array(X)
        offsets = X.indptr - X.indptr[0]
        span = slice(X.indptr[0], X.indptr[-1])
        arrays = [list_column(offsets, X.indices[span]), list_column(offsets, X.data[span])]
        return pa.RecordBatch.from_arrays(arrays, names=[INDICES, VALUES])
    X = native(np.asarray(X))
    if X.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns, not {X.ndim}")
    return pa.RecordBatch.from_arrays([dense_column(X)], names=[DENSE])


def column_table(values: Any, name: str) -> pa.Table:
    """A table of one column from an array, a series or a list."""
    table = to_table(values)
    if table is not None:
        return table.select([0]).rename_columns([name])
    array = native(np.asarray(values))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"the {name} must be one column, not an array of shape {array.shape}")
    return pa.table({name: arrow_of(array) if array.dtype.kind in "biufSUMm" else as_column(array)})

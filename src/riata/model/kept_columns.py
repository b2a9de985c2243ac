"""Columns of the rows that are predicted, such as identifiers, to be written beside the predictions as they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from riata.data.budget import parse_memory
from riata.data.encoding import Encoding
from riata.data.formats.csv_options import csv_options
from riata.data.formats.source import DENSE, Source
from riata.data.opening.asked import text_columns
from riata.data.opening.open import is_data_set
from riata.data.opening.sources import Reading, open_source
from riata.errors import DataError, OptionError
from riata.near_misses import did_you_mean

ROWS = 1 << 14  # read at once


def kept_columns(
    source: Any,
    names: Sequence[str],
    encoding: Mapping[str, Any] | None,
    *,
    memory: int | str | None = None,
    on_error: str = "raise",
    csv: Mapping[str, Any] | None = None,
    **_others: Any,
) -> Iterator[pa.RecordBatch]:
    """These columns of a source, read once more beside the predictions, by the options that opened it.

    Text files give them as they are written: an identifier keeps its zeros. Where bad rows are left out, they are read
    as the model reads them, so that the same rows are bad.
    """
    if is_data_set(source):
        raise OptionError(f"{source} has features and labels alone: there is no column {names[0]!r} to keep")
    known = None if encoding is None else Encoding.from_json(dict(encoding))
    skip_bad = on_error == "skip"
    as_text = (() if known is None else text_columns(known)) if skip_bad else tuple(names)
    cells = {} if known is None else known.cells
    if not skip_bad:
        cells = {name: cell for name, cell in cells.items() if name not in names}
    reading = Reading(parse_memory(memory), as_text, skip_bad, csv=csv_options(csv), cells=cells)
    rows = open_source(source, reading)
    check_keepable(rows, names)
    wanted = list(dict.fromkeys(names))
    return _at_least_one(rows.batches(wanted, ROWS), pa.schema([rows.schema.field(name) for name in wanted]))


def _at_least_one(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The batches, or, where a file has no rows, one that has the columns alone."""
    batch = None
    for batch in batches:
        yield batch
    if batch is None:
        yield pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def check_keepable(rows: Source, names: Sequence[str]) -> None:
    """Refuse names that no column has, and rows that cannot be read beside their predictions."""
    there = [name for name in rows.schema.names if not (rows.bare and name == DENSE)]
    for name in names:
        if not there:
            raise OptionError(f"the data is an array without names: it has no column {name!r} to keep")
        if name not in there:
            raise OptionError(f"the data has no column {name!r} to keep{did_you_mean(name, there)}")
    if rows.single_pass or rows.unordered:
        raise OptionError("columns are kept by reading them once more, which this source does not allow: use a file")


def beside(kept: Iterable[pa.RecordBatch], tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The tables, with the columns kept of the same rows before their own."""
    batches = iter(kept)
    rest: pa.Table | None = None  # rows kept, whose predictions are still to come
    for table in tables:
        while (batch := None if _enough(rest, table.num_rows) else next(batches, None)) is not None:
            read = pa.Table.from_batches([batch])
            rest = read if rest is None else pa.concat_tables([rest, read])
        if rest is None or rest.num_rows < table.num_rows:
            raise DataError("there are fewer rows to keep columns of than predictions: the data has changed")
        clash = set(rest.column_names) & set(table.column_names)
        if clash:
            raise OptionError(f"the predictions have a column {min(clash)!r} of their own: rename the one to be kept")
        parts = (rest.slice(0, table.num_rows), table)
        rest = rest.slice(table.num_rows)
        yield pa.table({name: part.column(name) for part in parts for name in part.column_names})
    if (rest is not None and rest.num_rows) or any(batch.num_rows for batch in batches):
        raise DataError("there are more rows to keep columns of than predictions: the data has changed")


def _enough(rest: pa.Table | None, n_rows: int) -> bool:
    return rest is not None and rest.num_rows >= n_rows

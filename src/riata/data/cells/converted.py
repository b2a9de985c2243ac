"""Columns of strings in a batch, turned into the values that they stand for."""

from collections.abc import Mapping
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.cell_format import CellFormat
from riata.data.columns.arrow_values import filled, values_of
from riata.errors import DataError

NONE = np.empty(0, dtype=np.int64)


class BadCell(DataError):
    """A cell that is not written as its column is, at a row of a batch."""

    def __init__(self, row: int, column: str, value: str, form: CellFormat) -> None:
        super().__init__(f"column {column!r} holds {value!r}")
        self.row, self.column, self.value, self.form = row, column, value, form


def converted(
    batch: pa.RecordBatch, formats: Mapping[str, CellFormat], skip_bad: bool = False
) -> tuple[pa.RecordBatch, np.ndarray]:
    """The batch with values in place of strings, and which rows were left out because they cannot be read.

    Without `skip_bad` such a row is an error.
    """
    formats = {name: formats[name] for name in batch.schema.names if name in formats}
    if not formats:
        return batch, NONE
    good = {name: form.valid(batch.column(name)) for name, form in formats.items()}
    wrong = {name: valid for name, valid in good.items() if pc.all(valid).as_py() is False}
    left_out = NONE
    if wrong and not skip_bad:
        raise _first_bad(batch, wrong, formats)
    if wrong:
        readable = reduce(pc.and_, (filled(valid, True) for valid in wrong.values()))
        batch, left_out = batch.filter(readable), np.flatnonzero(~values_of(readable))
    arrays = [
        formats[name].parse(array) if name in formats else array
        for name, array in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names), left_out


def _first_bad(batch: pa.RecordBatch, wrong: Mapping[str, pa.Array], formats: Mapping[str, CellFormat]) -> BadCell:
    """The bad cell of the first row that has one."""
    rows = {name: int(values_of(filled(valid, True)).argmin()) for name, valid in wrong.items()}
    name = min(rows, key=lambda name: rows[name])
    return BadCell(rows[name], name, batch.column(name)[rows[name]].as_py(), formats[name])

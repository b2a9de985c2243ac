"""Predictions as a table: a column for the answer, and one per class for its probability."""

import codecs
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.formats.filesource import is_text
from riata.data.remote import Remote
from riata.errors import OptionError
from riata.files import replacing
from riata.losses import probabilities
from riata.model.decisions import finite_means
from riata.model.model import Model
from riata.visible_text import visible

FORMULA = "^([=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])"  # how one may begin, also in the wide letters of some systems


def predictions(model: Model, data: Dataset) -> Iterator[pa.Table]:
    """Columns by name, a row for every row of the data, a table for every chunk: one pass."""
    return _tables(model, (z for z, _ in model.visit(data)))


def _tables(model: Model, margins: Iterable[np.ndarray]) -> Iterator[pa.Table]:
    """A table for every chunk's margins; without any chunk, one table with the columns and no rows."""
    z = None
    for z in margins:
        yield pa.table(_columns(model, z))
    if z is None:
        n_margins = len(model.intercept)
        yield pa.table(_columns(model, np.empty(0) if n_margins == 1 else np.empty((0, n_margins))))


def _columns(model: Model, z: np.ndarray) -> dict[str, np.ndarray]:
    if model.targets is not None or model.levels:
        mean = model.link_function.mean
        return {f"prediction_{name}": finite_means(mean, z[:, k]) for k, name in enumerate(model.outputs)}
    if model.classes is None:
        return {"prediction": finite_means(model.link_function.mean, z)}
    columns = {"prediction": np.asarray(model.classes)[model.decide(z)]}
    if model.link_function.probabilities:
        p = probabilities(model.link_function, z)
        columns |= {f"probability_{label}": p[:, i] for i, label in enumerate(model.classes)}
    return columns


class Shown(io.BytesIO):
    """Bytes of text for a terminal, which does not obey what is in them."""

    def __init__(self) -> None:
        super().__init__()
        self._letters = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: Any) -> int:
        content = bytes(data)
        sys.stdout.write(visible(self._letters.decode(content)))
        return len(content)


def write_parts(model: Model, data: Remote, folder: Path, for_spreadsheets: bool = False) -> list[str]:
    """Predictions of rows on a cluster: a file in the folder for every part, written by its worker."""
    _check_suffix(folder)
    if folder.exists() and any(folder.iterdir()):
        raise OptionError(f"{folder} is not empty, and predictions of parts would mix with what it holds")
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    margins = model.margins_of(data)

    def write(number: int, run: Iterator[tuple[int, Chunk]]) -> str:
        path = folder / f"part-{number:05d}{folder.suffix}"
        write_predictions(_tables(model, (margins(chunk) for _, chunk in run)), path, for_spreadsheets)
        return path.name

    return data.runs(write)


def write_predictions(tables: Iterable[pa.Table], out: Path | None, for_spreadsheets: bool = False) -> None:
    """Write predictions to a CSV or Parquet file, complete or not at all; where `out` is None, print them as CSV.

    A file `for_spreadsheets` has no label that one of these programs would take for a formula and compute.
    """
    import pyarrow.csv
    import pyarrow.parquet

    if for_spreadsheets:
        tables = map(without_formulas, tables)
    if out is None:
        _write(tables, Shown() if sys.stdout.isatty() else sys.stdout.buffer, pyarrow.csv.CSVWriter)
        return
    writers = {".csv": pyarrow.csv.CSVWriter, ".parquet": pyarrow.parquet.ParquetWriter}
    _check_suffix(out)
    with replacing(out) as file:
        _write(tables, file, writers[out.suffix])


def without_formulas(table: pa.Table) -> pa.Table:
    """The table with an apostrophe, which spreadsheets do not show, before every text that would be a formula there."""
    for place, field in enumerate(table.schema):
        if is_text(field.type):
            column = table.column(place).cast(pa.large_string())  # of any kind, such as codes
            safe = pc.replace_substring_regex(column, FORMULA, r"'\1")
            table = table.set_column(place, field.name, safe)
    return table.rename_columns([re.sub(FORMULA, r"'\1", name) for name in table.schema.names])


def _check_suffix(out: Path) -> None:
    if out.suffix not in (".csv", ".parquet"):
        raise OptionError(f"predictions are written as .csv or .parquet, not {out.suffix or 'a file without ending'}")


def _write(tables: Iterable[pa.Table], file: BinaryIO, kind: Callable[[BinaryIO, pa.Schema], Any]) -> None:
    """Write tables to a file by a writer of PyArrow's of this kind."""
    writer = None
    try:
        for table in tables:
            writer = writer or kind(file, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()

"""From what the user points at to a source of Arrow batches, with target and weights as columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from riata.data.budget import block_bytes, chunk_bytes, in_memory_bytes
from riata.data.cells.cell_format import CellFormat
from riata.data.column_names import listed, no_column
from riata.data.formats.avro import Avro
from riata.data.formats.csv import Csv
from riata.data.formats.csv_options import CsvOptions
from riata.data.formats.duckdb import SCHEME, Query, Relation, is_relation
from riata.data.formats.excel import Excel
from riata.data.formats.files import File, find_files, guess_format, sniff
from riata.data.formats.ipc import Ipc
from riata.data.formats.json import Json
from riata.data.formats.kinds import TEXTS
from riata.data.formats.live_files import Followed, StandardInput
from riata.data.formats.named_lines import Libffm, VowpalWabbit
from riata.data.formats.npy import Npy, Npz
from riata.data.formats.orc import Orc
from riata.data.formats.parquet import Parquet
from riata.data.formats.parsed_lines import ParsedLines
from riata.data.formats.source import INDICES, NOTHING, OFFSET, TARGET, VALUES, WEIGHT, OneColumn, Source, WithColumns
from riata.data.formats.streams import Stream, from_chunks
from riata.data.formats.svmlight import Svmlight
from riata.data.formats.tables import Scanned, Table, column_table, matrix_batch, to_table
from riata.data.opened import is_arrow_dataset
from riata.data.target_names import named_targets, names_of_targets
from riata.errors import DataError, MissingFileError, OptionError
from riata.near_misses import nearest

LINES: dict[str, type[ParsedLines]] = {"svmlight": Svmlight, "vowpal wabbit": VowpalWabbit, "libffm": Libffm}


class Reading(NamedTuple):
    """How files are to be read."""

    memory: int
    as_text: tuple[str, ...] = ()  # columns of text files whose values are not to be parsed as numbers
    skip_bad: bool = False
    filesystem: Any = None
    n_features: int | None = None  # how many features the data has, where known
    follow: bool = False  # whether to wait for more at the end of a file
    csv: CsvOptions = CsvOptions()  # what was said about text files
    cells: Mapping[str, CellFormat] = NOTHING  # the formats of a model's columns
    labels: tuple[str, ...] = ()  # columns of classes


def open_source(source: Any, reading: Reading, target: Any = None) -> Source:
    """The rows of anything that can be opened; `target` may be the number of a column of an .npy file."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        if isinstance(source, str) and source.startswith(SCHEME):
            return Query(source)
        return _stdin(reading) if str(source) == "-" else _files(str(source), reading, target)
    if is_relation(source):
        return Relation(source)
    if isinstance(source, np.memmap):
        return Table(pa.Table.from_batches([matrix_batch(source)]), bare=True)
    if is_arrow_dataset(source):
        return Scanned(source)
    if (table := to_table(source)) is not None:
        return Table(table)
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return Stream(reader.schema, iter(reader))
    if isinstance(source, Iterable):
        return from_chunks(source)
    raise DataError(
        f"riata cannot open a {type(source).__name__}; it takes paths, arrays, frames and generators of chunks"
    )


def _files(path: str, reading: Reading, target: Any) -> Source:
    book = re.fullmatch(r"(.*\.xls[xm])#(.+)", path)  # a sheet of a workbook
    files = find_files(path if book is None else book[1], reading.filesystem)
    return source_of_files(files, reading, target, None if book is None else book[2])


def source_of_files(files: list[File], reading: Reading, target: Any = None, sheet: str | None = None) -> Source:
    """The rows of files of one format; of workbooks, those of a sheet."""
    kind = guess_format(files, reading.csv.separator)
    if reading.follow:
        if kind not in TEXTS or len(files) > 1 or files[0].compression:
            raise OptionError(
                "a folder or a pattern can be followed, in which files appear, and a single file of CSV, JSON lines, "
                "svmlight, Vowpal Wabbit or libffm, not compressed, that grows"
            )
        files = [Followed(**vars(files[0]))]
    if kind == "npy":
        return Npy(files, int(target) if str(target).lstrip("-").isdigit() else None, reading.n_features)
    if kind in TEXTS:
        rows = _text(files, kind, reading)
        rows.single_pass = reading.follow
        return rows
    if kind == "excel":
        return Excel(
            files, sheet, as_text=reading.as_text, skip_bad=reading.skip_bad, asked=reading.csv,
            known=reading.cells, labels=reading.labels,
        )  # fmt: skip
    if kind in ("npz", "parquet"):
        return (Npz if kind == "npz" else Parquet)(files, in_memory_bytes(reading.memory))
    if kind == "ipc":
        return Ipc(files, chunk_bytes(reading.memory))
    kinds: dict[str, Any] = {"orc": Orc, "avro": Avro}
    return kinds[kind](files)


def _stdin(reading: Reading) -> Source:
    """Standard input: text of some format, as its first bytes tell."""
    file = StandardInput()
    kind = sniff(file.head(), file.path, reading.csv.separator)
    if kind not in TEXTS:
        raise DataError(
            "standard input must be text: CSV, JSON, svmlight, Vowpal Wabbit or libffm; give other formats as files"
        )
    rows = _text([file], kind, reading)
    rows.single_pass = True
    return rows


def _text(files: Sequence[File], kind: str, reading: Reading) -> Source:
    block = block_bytes(reading.memory)
    if kind == "csv":
        return Csv(
            files, block_bytes=block, as_text=reading.as_text, skip_bad=reading.skip_bad, options=reading.csv,
            known=reading.cells, labels=reading.labels, memory=reading.memory,
        )  # fmt: skip
    if kind == "json":
        return Json(files, block_bytes=block, as_text=reading.as_text, skip_bad=reading.skip_bad)
    return LINES[kind](files, block_bytes=block, skip_bad=reading.skip_bad)


def with_roles(
    rows: Source, given_roles: Mapping[str, Any], reading: Reading, need_target: bool = True
) -> tuple[Source, dict[str, Any]]:
    """The rows, joined with what of these is an array or a file of its own; the names of the columns by their roles.

    Of several targets, the first is the target, and the others are a tuple under "more_targets".
    """
    beside, roles = _ColumnsBeside(rows, reading), dict[str, Any]()
    for role, given in given_roles.items():
        if role == "target" and (several := beside.several_targets(given)) is not None:
            roles |= {"target": several[0], "more_targets": several[1:]}
        else:
            roles[role] = beside.name_of(given, role, need_target)
    roles |= _roles_by_name(rows, roles, need_target)
    if roles["target"] is None and need_target:
        if not (names := [name for name in rows.schema.names if name not in (INDICES, VALUES)]):
            raise DataError("say what to predict: a file of one value per row, target='FILE.npy'")
        raise DataError(f"say which column to predict, target='COLUMN'; there are {listed(names)}")
    return (WithColumns(rows, beside.columns) if beside.columns else rows), roles


def _roles_by_name(rows: Source, roles: Mapping[str, Any], need_target: bool) -> dict[str, str]:
    """The roles that nobody was named for, of columns that have them by their names: those of bare rows."""
    found, names = {}, rows.schema.names
    brings_more = isinstance(rows, Stream) and rows.bare  # tuples (X, y, weight, offset)
    if roles["target"] is None and TARGET in names and (rows.bare or not need_target):
        found["target"] = TARGET
    has_importance = isinstance(rows, VowpalWabbit) and rows.bare
    if roles["weight"] is None and WEIGHT in names and (brings_more or has_importance):
        found["weight"] = WEIGHT
    if roles.get("offset", roles.get("exposure")) is None and OFFSET in names and brings_more:
        found["offset"] = OFFSET
    return found


class _ColumnsBeside:
    """Finds the columns of roles among those of the rows, and collects those that are given beside them."""

    def __init__(self, rows: Source, reading: Reading) -> None:
        self._rows, self._reading, self._names = rows, reading, rows.schema.names
        self.columns: list[OneColumn] = []

    def several_targets(self, given: Any) -> tuple[str, ...] | None:
        """The names of several targets; None where one is given, or none."""
        if _names_a_column(given, self._rows):
            return None
        several = named_targets(given, self._names)
        if several is None and (called := names_of_targets(given)) is not None:
            targets = _columns_beside(given, called, self._names)
            self.columns += targets
            return tuple(name for one in targets for name in one.schema.names)
        return several

    def name_of(self, given: Any, role: str, need_target: bool) -> str | None:
        """The name of the column that has a role; None where there is none."""
        rows, name = self._rows, {"target": TARGET, "weight": WEIGHT}.get(role, role)
        given = str(given) if _names_a_column(given, rows) else given
        if given is None or (isinstance(given, str) and given in self._names):
            return given
        if isinstance(given, str) and role == "target" and not need_target:
            return None  # it is optional, and not there
        if isinstance(rows, Npy) and role == "target" and TARGET in self._names:
            return TARGET  # a column by its number
        if isinstance(rows, Stream) and rows.bare and name in self._names:
            raise DataError(f"the chunks bring their own {role}: give no other beside them")
        while name in self._names:  # the rows have a column of that name
            name = f"_{name}"
        self.columns.append(OneColumn(role_values(given, role, self._reading, rows), name))
        return name


def _columns_beside(given: Any, called: Sequence[str], taken: Sequence[str]) -> list[OneColumn]:
    """The columns of an array or a frame of several targets, under names that no column of the rows has."""
    table = to_table(given)
    columns = [np.asarray(given)[:, k] for k in range(len(called))] if table is None else table.columns
    found = []
    for name, values in zip(called, columns, strict=True):
        while name in taken:
            name = f"_{name}"
        found.append(OneColumn(Table(column_table(values, name)), name))
    return found


def _names_a_column(given: Any, rows: Source) -> bool:
    """Whether this is the name of a column of a pandas frame that is no string: a number, or a tuple of several."""
    return isinstance(given, int | np.integer | tuple) and not rows.bare and str(given) in rows.schema.names


def role_values(given: Any, role: str, reading: Reading, rows: Source | None = None) -> Source:
    """A target or weight that is not one of the columns of the rows, if these have any: an array, or a file."""
    if is_relation(given):
        return Relation(given)
    if not isinstance(given, str | Path):
        return Table(column_table(given, role))
    try:
        return open_source(given, reading)
    except MissingFileError:
        if rows is None:
            raise DataError(
                f"there is no file {given!r} for the {role}, and an array has no names of columns: give one value for "
                "each row, or a file of them"
            ) from None
        sentence = no_column(str(given), rows.schema.names, f"{rows.place()}, nor a file of that name")
        raise DataError(sentence + _other_cells(str(given), rows)) from None


def _other_cells(name: str, rows: Source) -> str:
    """What to say of a text file in which a column is not found, where its cells may be others than was thought."""
    names = rows.schema.names
    if not isinstance(rows, Csv):
        return ""
    if len(names) == 1 and " " in names[0].strip():
        return "; if spaces are between cells, say so (csv={'separator': 'space'})"
    found = names[:1] == ["x0"] or nearest(name, names) is not None
    return "" if found else "; if the first line is a row and has no names, say so (csv={'header': 'no'})"

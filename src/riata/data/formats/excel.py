"""Excel workbooks, row by row, through openpyxl, which alone of the readers does not load a whole sheet.

A sheet is one table: its first row with anything in it has the names, and empty rows are no rows. Types follow from the
first rows; a column that holds numbers and text in them is read as text. Text, and columns without a name of their own,
are taken as those of CSV files are.
"""

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import islice
from typing import Any

import pyarrow as pa

from riata.data.cells.cell_format import CellFormat
from riata.data.cells.column_look import ColumnLook
from riata.data.cells.converted import BadCell, converted
from riata.data.cells.meaning import Meaning, decide, note_of
from riata.data.cells.missing import MISSING_WORDS
from riata.data.cells.numbers import NumberFormat
from riata.data.column_names import listed
from riata.data.formats.csv_options import CsvOptions
from riata.data.formats.damage import reason_of
from riata.data.formats.files import File
from riata.data.formats.filesource import ROWS_AT_ONCE, FileSource, one_schema, with_type
from riata.data.formats.header_names import named_columns
from riata.data.whole_numbers import DigitsLost, written_range
from riata.errors import DataError, MissingPackageError

FIRST_ROWS = 1000  # that tell the types of columns
# subclasses before their bases: a bool is an int, a datetime a date
KINDS: list[tuple[type | tuple[type, ...], pa.DataType]] = [
    (bool, pa.bool_()),
    ((int, float), pa.float64()),
    (datetime.datetime, pa.timestamp("us")),
    (datetime.date, pa.timestamp("us")),
    (datetime.timedelta, pa.duration("us")),
    (datetime.time, pa.time64("us")),
]
WORDS = {pa.float64(): "numbers", pa.bool_(): "true or false", pa.timestamp("us"): "dates"}
Row = tuple[int, Sequence[Any]]  # its number in the sheet, and its cells


class Excel(FileSource):
    """Rows of a sheet of every workbook: of the first one, unless a name is given."""

    damage = (Exception,)  # of the zip file, of its XML, or of what openpyxl expects in it

    def __init__(
        self,
        files: Sequence[File],
        sheet: str | None = None,
        *,
        as_text: Collection[str] = (),
        skip_bad: bool = False,
        asked: CsvOptions | None = None,
        known: Mapping[str, CellFormat] | None = None,
        labels: Collection[str] = (),
    ) -> None:
        """`known` are the formats of a model's columns; `labels` the columns whose yes and no are names of classes."""
        super().__init__(files)
        self._sheet, self._as_text, self._skip_bad = sheet, as_text, skip_bad
        asked = asked or CsvOptions()
        self._skip, self._has_header, self._asked = asked.skip or 0, asked.header is not False, asked.cells
        self._names: dict[str, dict[int, str]] = {}  # of the columns, by their places, in every workbook
        self._others: list[str] = []  # sheets of the last workbook that are not read
        self.notes: list[str] = []
        self._missing = {*MISSING_WORDS, *self._asked.missing}
        heads = [self._head(file) for file in files]
        schemas = [pa.schema([(name, self._kind(name, cells)) for name, cells in head.items()]) for head in heads]
        found = self._look(heads, schemas, known or {}, labels)
        self.cells, self.refused, self.strays = found.formats, found.refused, found.strays
        self.notes = [*self._about_sheets(), *note_of(found.notes()), *self.notes, *found.strays.values()]
        self.schema = one_schema(files, [self._as_read(schema) for schema in schemas])

    def fingerprint(self) -> list[object]:
        return [*super().fingerprint(), self._sheet, self._skip, self._has_header, repr(self._asked)]

    def place(self) -> str:
        others = f" (it has sheets {listed(self._others)}, too)" if self._others else ""
        return super().place() + others

    def _about_sheets(self) -> list[str]:
        """A note on sheets that are not read, where none was named."""
        if not self._others or self._sheet is not None:
            return []
        another = f"'{self.files[-1].path}#{self._others[0]}'"
        return [f"the first sheet is read, and not {listed(self._others, 5)} ({another} would be)"]

    def explain(self, file: File, error: Exception, columns: Sequence[str]) -> str:
        return f"{file.path} is damaged or no workbook that can be read ({reason_of(error)}); save it again"

    def _head(self, file: File) -> dict[str, list[Any]]:
        """The cells of the first rows, by columns."""
        with self.door(file), self._rows(file) as (header, rows):
            some = list(islice(rows, FIRST_ROWS))
        names = self._names[file.path] = self._named(file, header, some)
        return {name: [self._value(cells, j) for _, cells in some] for j, name in names.items()}

    def _named(self, file: File, header: Row, rows: Sequence[Row]) -> dict[int, str]:
        """The names of columns by their places. What has neither a name nor a value in the first rows is none."""
        number, cells = header
        filled = {j for _, row in rows for j, cell in enumerate(row) if cell is not None}
        named = {j: str(cell).strip() for j, cell in enumerate(cells) if cell is not None}
        if not self._has_header:
            return {j: f"x{j}" for j in sorted(filled)}
        if max(filled, default=0) > max(named, default=0):
            at = next(number for number, row in rows if len(row) > max(filled) and row[max(filled)] is not None)
            raise DataError(
                f"{file.path}: row {number} has {len(named)} name{'s' * (len(named) > 1)} for {len(filled)} columns: "
                f"if the header is row {at} say how many rows to skip (csv={{'skip': {at - 1}}}), if there is none say "
                "that (csv={'header': 'no'})"
            )
        places = sorted(filled | named.keys())
        texts = [[_as_text(row[j] if j < len(row) else None) or "" for j in places] for _, row in rows]
        names, left_out, notes = named_columns([named.get(j, "") for j in places], texts)
        self.notes += [note for note in notes if note not in self.notes]
        return {j: name for j, name in zip(places, names, strict=True) if name not in left_out}

    def _kind(self, name: str, cells: Sequence[Any]) -> pa.DataType:
        if name in self._as_text:
            return pa.string()
        kinds = {kind_of(cell) for cell in cells if cell is not None}
        return kinds.pop() if len(kinds) == 1 else pa.string() if kinds else pa.float64()

    def _look(
        self,
        heads: Sequence[Mapping[str, Sequence[Any]]],
        schemas: Sequence[pa.Schema],
        known: Mapping[str, CellFormat],
        labels: Collection[str],
    ) -> Meaning:
        """What columns of text mean, by the rules for text files."""
        texts = {field.name for schema in schemas for field in schema if pa.types.is_string(field.type)}
        looks = {
            name: ColumnLook(name, self._asked, known.get(name))
            for name in schemas[0].names
            if name in texts.difference(self._as_text)
        }
        for head in heads:
            for name in looks.keys() & head.keys():
                looks[name].add(pa.array(map(_as_text, head[name]), pa.string()))
        meaning = decide(looks)
        for name in labels:
            if name in meaning.formats and meaning.formats[name].kind == "boolean":
                del meaning.formats[name]
        return meaning

    def _as_read(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([(f.name, self.cells[f.name].type if f.name in self.cells else f.type) for f in schema])

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        fields = [self.schema.field(name) for name in (self.with_judged(columns) if self._skip_bad else columns)]
        written = pa.schema([(f.name, pa.string() if f.name in self.cells else f.type) for f in fields])
        with self._rows(file) as (_, all_rows):
            places = {name: j for j, name in self._names[file.path].items()}
            good = self._checked(file, all_rows, [(places[field.name], field) for field in written])
            while some := list(islice(good, rows)):
                cells = [[row[j] for _, row in some] for j in range(len(written))]
                arrays = [pa.array(column, field.type) for column, field in zip(cells, written, strict=True)]
                batch = pa.RecordBatch.from_arrays(arrays, schema=written)
                try:
                    batch, left_out = converted(batch, self.cells, self._skip_bad)
                except BadCell as bad:
                    raise DataError(_sentence(file, some[bad.row][0], bad.column, bad.value, bad.form.said())) from bad
                for row in left_out.tolist():
                    self.note_bad(file, f"row {some[row][0]}")
                self.skipped += len(left_out)
                yield batch.select(list(columns))

    def whole_range(self, column: str) -> tuple[int, int] | None:
        if column not in self.cells:
            raise DigitsLost  # programs write numbers into workbooks as floats
        if not isinstance(form := self.cells[column], NumberFormat):
            return None
        as_text = copy(self)
        as_text.schema, as_text.cells = with_type(self.schema, column, pa.string()), {}
        return written_range(form.plain(batch.column(0)) for batch in as_text.batches([column], ROWS_AT_ONCE))

    def _checked(self, file: File, rows: Iterator[Row], wanted: Sequence[tuple[int, pa.Field]]) -> Iterator[Row]:
        """The values of these columns, row by row; a row with a value of another type is refused, or skipped."""
        for number, cells in rows:
            values = [self._value(cells, j) for j, _ in wanted]
            wrong = [
                (field, value) for (_, field), value in zip(wanted, values, strict=True) if not _fits(value, field.type)
            ]
            if wrong and self._skip_bad:
                self.skipped += 1
                self.note_bad(file, f"row {number}")
            elif wrong:
                field, value = wrong[0]
                raise DataError(_sentence(file, number, field.name, value, WORDS.get(field.type, str(field.type))))
            else:
                texts = [pa.types.is_string(field.type) for _, field in wanted]
                yield number, [_as_text(v) if text else v for v, text in zip(values, texts, strict=True)]

    def _value(self, cells: Sequence[Any], j: int) -> Any:
        """The value of a cell; None where it is missing."""
        value = cells[j] if j < len(cells) else None
        return None if isinstance(value, str) and value.strip() in self._missing else value

    @contextmanager
    def _rows(self, file: File) -> Iterator[tuple[Row, Iterator[Row]]]:
        """The row of names, and all rows below it that are not empty."""
        with file.seekable() as handle:
            book = _workbook(handle)
            try:
                rows = self._numbered(book, file)
                header = next(rows, None) if self._has_header else (0, ())
                if header is None:
                    raise DataError(
                        f"{file.path} has an empty sheet; a first row with the names of the columns is needed"
                    )
                yield header, rows
            finally:
                book.close()

    def _numbered(self, book: Any, file: File) -> Iterator[Row]:
        """All rows that are not empty, with their numbers."""
        sheets = [sheet.title for sheet in book.worksheets]
        if self._sheet is not None and self._sheet not in sheets:
            raise DataError(f"{file.path} has no sheet {self._sheet!r}; it has {', '.join(map(repr, sheets))}")
        if not sheets:
            raise DataError(f"{file.path} has no sheet with cells")
        read = self._sheet or sheets[0]
        self._others, sheet = [one for one in sheets if one != read], book[read]
        sheet.reset_dimensions()  # some programs write wrong ones
        for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            if number > self._skip and any(cell is not None for cell in cells):
                yield number, cells


def _workbook(handle: Any) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingPackageError("Excel workbooks need openpyxl: pip install 'riata[excel]'") from None
    return openpyxl.load_workbook(handle, read_only=True, data_only=True)


def _sentence(file: File, row: int, column: str, value: Any, expected: str) -> str:
    return (
        f"{file.path}, row {row}: column {column!r} holds {value!r}, where the first rows have {expected}; correct it, "
        "declare the column categorical, or skip such rows (on_error='skip')"
    )


def kind_of(value: Any) -> pa.DataType:
    """The type in which a cell's value is read."""
    return next((kind for types, kind in KINDS if isinstance(value, types)), pa.string())


def _fits(value: Any, kind: pa.DataType) -> bool:
    return value is None or pa.types.is_string(kind) or kind_of(value) == kind


def _as_text(value: Any) -> str | None:
    """A cell as text: whole numbers without a fraction, as Excel shows them."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else str(value)

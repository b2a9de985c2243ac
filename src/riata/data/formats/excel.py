"""Excel workbooks, row by row, through openpyxl, which alone of the readers does not load a whole sheet.

A sheet is one table: its first row with anything in it has the names, and empty rows are no rows. Types follow from the
first rows; a column that holds numbers and text in them is read as text.
"""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa

from riata.data.cells.missing import MISSING_WORDS
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
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
WORDS = {pa.float64(): "a number", pa.bool_(): "true or false", pa.string(): "text"}
Row = tuple[int, Sequence[Any]]  # its number in the sheet, and its cells


class Excel(FileSource):
    """Rows of a sheet of every workbook: of the first one, unless a name is given."""

    def __init__(
        self, files: Sequence[File], sheet: str | None = None, *, as_text: Sequence[str] = (), skip_bad: bool = False
    ) -> None:
        super().__init__(files)
        self._sheet, self._as_text, self._skip_bad = sheet, as_text, skip_bad
        self.schema = one_schema(files, [self._infer(file) for file in files])

    def fingerprint(self) -> list[object]:
        return [*super().fingerprint(), self._sheet]

    def _infer(self, file: File) -> pa.Schema:
        with self._rows(file) as (names, rows):
            some = [cells for _, cells in islice(rows, FIRST_ROWS)]
        columns = {name: [_value(cells, j) for cells in some] for j, name in names.items()}
        return pa.schema([(name, self._kind(name, cells)) for name, cells in columns.items()])

    def _kind(self, name: str, cells: Sequence[Any]) -> pa.DataType:
        if name in self._as_text:
            return pa.string()
        kinds = {kind_of(cell) for cell in cells if cell is not None}
        return kinds.pop() if len(kinds) == 1 else pa.string() if kinds else pa.float64()

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        with self._rows(file) as (names, all_rows):
            places = {name: j for j, name in names.items()}
            good = self._checked(file, all_rows, [(places[field.name], field) for field in schema])
            while some := list(islice(good, rows)):
                cells = [[row[j] for row in some] for j in range(len(schema))]
                arrays = [pa.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _checked(self, file: File, rows: Iterator[Row], wanted: Sequence[tuple[int, pa.Field]]) -> Iterator[list[Any]]:
        """The values of these columns, row by row; a row with a value of another type is refused, or skipped."""
        for number, cells in rows:
            values = [_value(cells, j) for j, _ in wanted]
            wrong = [
                (field, value) for (_, field), value in zip(wanted, values, strict=True) if not _fits(value, field.type)
            ]
            if wrong and self._skip_bad:
                self.skipped += 1
            elif wrong:
                field, value = wrong[0]
                raise DataError(
                    f"{file.path}, row {number}: column {field.name!r} holds {value!r}, and "
                    f"{WORDS.get(field.type, field.type)} in the first rows; correct it, declare the column "
                    "categorical, or skip such rows (on_error='skip')"
                )
            else:
                yield [
                    _as_text(v) if pa.types.is_string(f.type) else v for v, (_, f) in zip(values, wanted, strict=True)
                ]

    @contextmanager
    def _rows(self, file: File) -> Iterator[tuple[dict[int, str], Iterator[Row]]]:
        """The names of columns by their places, and all rows below them that are not empty."""
        with file.seekable() as handle:
            book = _workbook(handle, file)
            try:
                rows = self._numbered(book, file)
                header = next(rows, None)
                if header is None:
                    raise DataError(
                        f"{file.path} has an empty sheet; a first row with the names of the columns is needed"
                    )
                yield _names(header[1], file), rows
            finally:
                book.close()

    def _numbered(self, book: Any, file: File) -> Iterator[Row]:
        """All rows that are not empty, with their numbers."""
        sheets = [sheet.title for sheet in book.worksheets]
        if self._sheet is not None and self._sheet not in sheets:
            raise DataError(f"{file.path} has no sheet {self._sheet!r}; it has {', '.join(map(repr, sheets))}")
        if not sheets:
            raise DataError(f"{file.path} has no sheet with cells")
        sheet = book[self._sheet or sheets[0]]
        sheet.reset_dimensions()  # some programs write wrong ones
        for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            if any(cell is not None for cell in cells):
                yield number, cells


def _workbook(handle: Any, file: File) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingPackageError("Excel workbooks need openpyxl: pip install 'riata[excel]'") from None
    try:
        return openpyxl.load_workbook(handle, read_only=True, data_only=True)
    except Exception as error:  # of the zip file, of its XML, or of what openpyxl expects in it
        raise DataError(f"{file.path} is damaged or no workbook that can be read ({error}); save it again") from error


def _names(header: Sequence[Any], file: File) -> dict[int, str]:
    """The names of columns by their places; a column without a name is none."""
    names = {j: str(name).strip() for j, name in enumerate(header) if name is not None}
    if len(set(names.values())) < len(names):
        twice = next(name for name in names.values() if [*names.values()].count(name) > 1)
        raise DataError(f"{file.path} has more than one column called {twice!r}; give each a name of its own")
    return names


def _value(cells: Sequence[Any], j: int) -> Any:
    """The value of a cell; None where it is missing."""
    value = cells[j] if j < len(cells) else None
    return None if isinstance(value, str) and value.strip() in MISSING_WORDS else value


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

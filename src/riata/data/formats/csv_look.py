"""A first look at text files: how each is written, which types Arrow finds in it, and what the cells of all mean."""

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
import pyarrow.csv as pacsv

from riata.data.budget import LOOK_COLUMN, check_text_columns, in_words
from riata.data.cells.cell_format import CellFormat
from riata.data.cells.column_look import ColumnLook, days_of, epoch_of, may_be_epoch
from riata.data.cells.meaning import Meaning, ambiguous, decide
from riata.data.formats.csv_arrow import MANY_COLUMNS, ArrowOptions
from riata.data.formats.csv_comments import WithoutComments
from riata.data.formats.csv_options import CsvOptions
from riata.data.formats.dialect import Dialect, dialect_of
from riata.data.formats.files import File
from riata.data.formats.text_encoding import utf8_of
from riata.errors import DataError

LONGEST_ROW, SHORT_ROW = 4, 1 << 20  # blocks, and bytes that a row may have in any case


class CsvLook:
    """What the first blocks of files tell. The head of one file at a time is kept in memory."""

    def __init__(
        self,
        block_bytes: int,
        asked: CsvOptions,
        as_text: Collection[str],
        arrow: ArrowOptions,
        memory: int | None = None,
    ) -> None:
        self._block_bytes, self._asked, self._as_text, self._arrow = block_bytes, asked, as_text, arrow
        self._memory = memory
        self._kept: tuple[str, int, bytes] = ("", 0, b"")
        self.dialects: dict[str, Dialect] = {}

    def types(self, file: File) -> pa.Schema:
        """The types of the columns of a file, as Arrow finds them in its first block."""
        self.dialects[file.path] = self._dialect(file)
        if self._memory is not None:
            check_text_columns(len(self.dialects[file.path].names), LOOK_COLUMN, self._memory, "a look at")
        return pa.schema([pa.field(field.name, self._kind(field)) for field in self._rows(file).schema])

    def meaning(
        self,
        files: Sequence[File],
        schemas: Sequence[pa.Schema],
        known: Mapping[str, CellFormat],
        labels: Collection[str],
        skip_strays: bool,
    ) -> Meaning:
        """What the columns mean; `labels` are columns in which yes and no name classes.

        With `skip_strays` rows with words among numbers are to be left out as bad ones: they tell nothing.
        """
        asked = self._asked.cells
        kinds: dict[str, set[pa.DataType]] = {name: set() for name in schemas[0].names}
        for field in (field for schema in schemas for field in schema if field.name in kinds):
            kinds[field.name].add(field.type)
        open_columns = {name: types for name, types in kinds.items() if name not in self._as_text}
        of_dates = "%" in (asked.dates or "")  # such as 2020-31-12, and who writes so has a reason
        words = [
            name
            for name, types in open_columns.items()
            if any(_may_be_written_otherwise(kind) or (of_dates and pa.types.is_temporal(kind)) for kind in types)
        ]
        looks = {name: ColumnLook(name, asked, known.get(name)) for name in words}
        self._add_heads(files, looks)
        points = [name for name, types in open_columns.items() if types == {pa.float64()}]
        if points and (ambiguous({n: k for n, k in looks.items() if pa.string() in kinds[n]}) or known):
            more = {name: ColumnLook(name, asked, known.get(name)) for name in points}
            self._add_heads(files, more)
            looks |= {
                name: look for name, look in more.items() if look.formats or (look.formats is None and look.known)
            }
        for look in looks.values() if skip_strays else ():
            if not look.formats and look.looks_like is not None:
                look.formats = look.almost
        meaning = decide(looks, self.dialects[files[0].path].separator)
        meaning.codes += [  # such as 0x1f, which Arrow takes for a whole number
            name for name, look in looks.items() if pa.string() not in kinds[name] and look.formats == []
        ]
        for name in labels:
            if name in meaning.formats and meaning.formats[name].kind == "boolean":
                del meaning.formats[name]
        whole = [n for n, types in open_columns.items() if types == {pa.int64()} and n not in meaning.codes]
        self._add_epochs(files[0], meaning, whole, known)
        return meaning

    def _dialect(self, file: File) -> Dialect:
        head = self._bytes(file, self._block_bytes)
        if len(head) >= self._block_bytes and not (b"\n" in head or b"\r" in head):
            raise DataError(
                f"the first line of {file.path} is longer than {in_words(len(head))}, a 64th of the memory and 4 MB at "
                "most: give it more memory, or write so many columns as Parquet"
            )
        found = dialect_of(head, self._asked, file.suffix, whole=len(head) < self._block_bytes)
        if not found.names:
            raise DataError(f"{file.path} is empty; a header line with the names of the columns is needed")
        if found.width > len(found.names):
            raise DataError(
                f"{file.path}: most rows have {found.width} cells, and line {found.header_lines} has "
                f"{len(found.names)} names: if the header is line {found.before_header + 1} say how many lines to skip "
                f"(csv={{'skip': {found.before_header}}}), if there is none say that (csv={{'header': 'no'}})"
            )
        return found

    def _bytes(self, file: File, n_bytes: int) -> bytes:
        """The first bytes of a file, which are read once as long as no other file is asked for."""
        if self._kept[:2] != (file.path, n_bytes):
            self._kept = (file.path, n_bytes, file.head(n_bytes))
        return self._kept[2]

    def _rows(self, file: File, columns: Sequence[str] = (), kinds: dict[str, pa.DataType] | None = None) -> pa.Table:
        """The rows of the first block, without its last line, which may be incomplete; of more, if it has no row."""
        dialect, n_bytes = self.dialects[file.path], self._block_bytes
        empty = pa.table({name: pa.nulls(0) for name in columns or dialect.columns})
        while True:
            head = self._bytes(file, n_bytes)
            whole, text = len(head) < n_bytes, utf8_of(head, dialect.encoding)
            rows = text[dialect.start :] if whole else text[dialect.start : text.rfind(b"\n") + 1]
            if dialect.comment:
                rows = WithoutComments(None, dialect.comment, dialect.quote).without(rows)
            found = empty
            if rows and not rows.isspace():
                found = self._parsed(rows, dialect, list(columns or dialect.columns), kinds)
            if whole or found.num_rows or n_bytes >= longest_row(self._block_bytes):
                return found
            n_bytes *= 4

    def _parsed(
        self, rows: bytes, dialect: Dialect, columns: list[str], kinds: dict[str, pa.DataType] | None
    ) -> pa.Table:
        """These rows; of very many columns some at a time, because of what Arrow keeps for each while it reads."""
        parts = []
        for start in range(0, len(columns), MANY_COLUMNS):
            some = columns[start : start + MANY_COLUMNS]
            options = self._arrow.of(dialect, len(rows) + 1, some, kinds, _skip)
            with pacsv.open_csv(pa.BufferReader(rows), **options) as reader:
                parts.append(reader.read_all())
        fields = [field for part in parts for field in part.schema]
        return pa.table([column for part in parts for column in part.columns], schema=pa.schema(fields))

    def _kind(self, field: pa.Field) -> pa.DataType:
        if field.name in self._as_text:
            return pa.string()
        return pa.float64() if pa.types.is_null(field.type) else field.type

    def _add_heads(self, files: Sequence[File], looks: dict[str, ColumnLook]) -> None:
        """Look at the values of the first blocks, as they are written."""
        for file in files if looks else ():
            columns = [name for name in looks if name in self.dialects[file.path].names]
            head = self._rows(file, columns, dict.fromkeys(columns, pa.string()))
            for name in columns:
                looks[name].add(head[name].combine_chunks())

    def _add_epochs(self, file: File, meaning: Meaning, columns: list[str], known: Mapping[str, CellFormat]) -> None:
        """Find columns of seconds since 1970, and of days such as 20130131, among those of whole numbers."""
        columns = [name for name in columns if may_be_epoch(name, self._asked.cells, known)]
        if not columns:
            return
        head = self._rows(file, columns)
        for name in columns:
            numbers = head[name].combine_chunks()
            if name in known:
                meaning.formats[name] = known[name]
            elif found := epoch_of(numbers, certain=self._asked.epoch is not None) or days_of(numbers):
                meaning.formats[name] = found


def longest_row(block_bytes: int) -> int:
    """How long a row may be, in bytes: a quote that is opened and not closed makes one of all that follows."""
    return max(LONGEST_ROW * block_bytes, SHORT_ROW)


def _may_be_written_otherwise(kind: pa.DataType) -> bool:
    """Whether values that Arrow takes for this type may be something else: text, or codes that look like numbers."""
    return bool(pa.types.is_string(kind) or pa.types.is_integer(kind))


def _skip(row: pacsv.InvalidRow) -> str:
    return "skip"

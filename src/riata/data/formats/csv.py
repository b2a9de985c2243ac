"""CSV and TSV, plain or compressed, through Arrow's reader.

The syntax of each file is told by its first rows (`dialect.py`), and so is what its cells mean (`riata.data.cells`).
Arrow parses what it can: types are inferred from the first block, whole numbers are read as float64, so that a 2.5 may
follow a million of them, and a column that is empty in the first block is read as numbers, unless it is declared
categorical or text. Cells that are written in another way are read as strings and converted batch by batch.
A large file whose text is plain is read faster where Arrow would have one thread alone (`plain_text.py`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy

import pyarrow as pa
import pyarrow.csv as pacsv

from riata.data.budget import BLOCKS_TOGETHER, in_words, parsed_bytes
from riata.data.cells.cell_format import CellFormat
from riata.data.cells.converted import BadCell, converted
from riata.data.cells.meaning import note_of
from riata.data.cells.missing import MISSING_WORDS
from riata.data.cells.numbers import PLAIN, NumberFormat
from riata.data.formats.csv_arrow import MANY_COLUMNS, VALUE, ArrowOptions
from riata.data.formats.csv_comments import WithoutComments
from riata.data.formats.csv_cuts import Unquoted, is_local
from riata.data.formats.csv_look import CsvLook, longest_row
from riata.data.formats.csv_options import CsvOptions
from riata.data.formats.dialect import TAB_ENDINGS, Dialect
from riata.data.formats.files import File
from riata.data.formats.filesource import MOST_PLACES, ROWS_AT_ONCE, FileSource, one_schema, with_type
from riata.data.formats.live_files import Followed, StandardInput
from riata.data.formats.source import joined_batches
from riata.data.formats.text_encoding import as_utf8, one_byte, plain_utf8
from riata.data.whole_numbers import DigitsLost, written_range
from riata.errors import DataError
from riata.machine import return_freed_memory

PLAIN_FROM = 4 << 20  # bytes of a file: loading the loop that reads plain text takes time


class Csv(FileSource):
    """Rows of text files, with a header line or without."""

    of_lines = True

    def __init__(
        self,
        files: Sequence[File],
        *,
        block_bytes: int,
        as_text: Collection[str] = (),
        skip_bad: bool = False,
        options: CsvOptions | None = None,
        known: Mapping[str, CellFormat] | None = None,
        labels: Collection[str] = (),
        memory: int | None = None,
    ) -> None:
        """`known` are the formats of a model's columns; `labels` the columns whose yes and no are names of classes."""
        super().__init__(files)
        self._block_bytes, self._as_text, self._skip_bad = block_bytes, as_text, skip_bad
        self.asked = options or CsvOptions()
        self._arrow = ArrowOptions(self.asked.decimal or ".", [*MISSING_WORDS, *self.asked.missing])
        look = CsvLook(block_bytes, self.asked, as_text, self._arrow, memory)
        self._dialects = look.dialects
        schemas = [self._types(look, file) for file in files]
        self._meaning = look.meaning(files, schemas, known or {}, labels, skip_strays=skip_bad)
        self._formats = self._left_to_us(schemas)
        self.cells = self._meaning.formats
        self.refused, self.strays = self._meaning.refused, self._meaning.strays
        self.schema = one_schema(files, [self._as_read(schema) for schema in schemas])
        self.notes = self._notes(schemas)
        self._beside_others = False
        if len(self.schema.names) > MANY_COLUMNS:
            return_freed_memory()

    def read_beside_others(self) -> None:
        self._beside_others = True

    def dialect(self, file: File) -> Dialect:
        """How a file is written."""
        return self._dialects[file.path]

    def can_be_cut(self, file: File) -> bool:
        """Whether a part of the file can be read without what comes before."""
        encoding = self.dialect(file).encoding
        return file.compression is None and (plain_utf8(encoding) or one_byte(encoding))

    def _types(self, look: CsvLook, file: File) -> pa.Schema:
        with self.door(file):
            return look.types(file)

    def _left_to_us(self, schemas: Sequence[pa.Schema]) -> dict[str, CellFormat]:
        """The formats that Arrow's reader cannot be left to: it has one decimal mark, and knows nothing else."""
        formats = self._meaning.formats
        numbers = [one for one in formats.values() if isinstance(one, NumberFormat)]
        points = any(field.type == pa.float64() and field.name not in formats for s in schemas for field in s)
        if numbers and all(one == NumberFormat(",") for one in numbers) and not points:
            self._arrow.decimal = ","
        strings = {field.name for s in schemas for field in s if field.type == pa.string()}
        ours = {}
        for name, one in list(formats.items()):
            if one == PLAIN and name not in strings:
                del formats[name]
            elif one != NumberFormat(self._arrow.decimal):
                ours[name] = one
        return ours

    def _as_read(self, schema: pa.Schema) -> pa.Schema:
        """The types of the columns of a file in the batches that are read."""

        def kind(field: pa.Field) -> pa.DataType:
            if field.name in self._meaning.codes:
                return pa.string()
            if field.name in self._meaning.formats:
                return self._meaning.formats[field.name].type
            return pa.float64() if pa.types.is_integer(field.type) else field.type

        return pa.schema([pa.field(field.name, kind(field)) for field in schema])

    def _notes(self, schemas: Sequence[pa.Schema]) -> list[str]:
        """One note about how the first file is written, and one about each thing that is odd."""
        dialect = self.dialect(self.files[0])
        syntax = [] if plain_utf8(dialect.encoding) else [f"{dialect.encoding} letters"]
        if dialect.separator == "\t" and self.files[0].suffix not in TAB_ENDINGS:
            syntax.append("tabs between cells")
        elif dialect.separator not in ",\t":
            syntax.append(f"{dialect.separator!r} between cells")
        if dialect.comment:
            syntax.append(f"comments after {dialect.comment!r}")
        fractions = {field.name for schema in schemas for field in schema if not pa.types.is_integer(field.type)}
        whole = [n for n, one in self.cells.items() if one == NumberFormat(",") and n not in fractions]
        how = [*syntax, *self._meaning.notes(but=whole)]
        return [*note_of(how), *dialect.notes, *self.strays.values()]

    def fingerprint(self) -> list[object]:
        return [*super().fingerprint(), repr(self.asked)]

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        wanted = list(columns)
        if self._skip_bad:
            columns = [n for n in self.with_judged(columns) if n in wanted or self._can_be_bad(n)]
        kinds = {name: self.schema.field(name).type for name in columns}
        formats = {name: one for name, one in self._formats.items() if name in columns}
        if self._skip_bad:
            plain = [name for name, kind in kinds.items() if pa.types.is_floating(kind) and name not in formats]
            formats |= dict.fromkeys(plain, NumberFormat(self._arrow.decimal))
        kinds |= dict.fromkeys(formats, pa.string())
        n_read, n_unfit, n_counted, block = 0, 0, 0, parsed_bytes(self._block_bytes)
        live, words = isinstance(file, StandardInput | Followed), None
        for found in self._plain_rows(file, kinds, formats):
            if found is None:  # Arrow begins again, behind the rows that were read
                break
            n_read += found.num_rows
            yield found.select(wanted)
            del found
        else:
            return
        if not live:
            words = self._arrow.first_words(len(columns))
        while True:
            ragged: list[int] = []  # the numbers of rows, from 1, that were left out for their number of cells
            try:
                for batch in self._parsed(file, columns, kinds, n_read, block, ragged, words):
                    n_rows = batch.num_rows
                    batch = self._arrow.without_words(batch, words)
                    batch, left_out = converted(batch, formats, self._skip_bad)
                    self._note_bad_rows(file, (_beside(ragged, n_read + row + 1) for row in left_out[:MOST_PLACES]))
                    n_read, n_unfit = n_read + n_rows, n_unfit + len(left_out)
                    self.skipped += n_unfit + len(ragged) - n_counted
                    n_counted = n_unfit + len(ragged)
                    yield batch.select(wanted)
                self._note_bad_rows(file, ragged[:MOST_PLACES])
                self.skipped += n_unfit + len(ragged) - n_counted
                return
            except BadCell as bad:
                raise DataError(self._about_cell(file, bad, n_read)) from bad
            except pa.ArrowInvalid as error:
                if "Empty CSV" in str(error):  # there is no row
                    return
                if (word := self._arrow.word_met(error, words)) is not None:
                    words = [*(words or ()), word]
                    continue
                if "straddling" not in str(error) or block >= longest_row(self._block_bytes) or live:
                    raise
                block *= 4  # a row is longer than a block: begin again with larger ones, after the rows that were read

    def _plain_rows(
        self, file: File, kinds: Mapping[str, pa.DataType], formats: Mapping[str, CellFormat]
    ) -> Iterator[pa.RecordBatch | None]:
        """The rows that a compiled loop reads; None, at last, where it leaves any to Arrow."""
        here = file.span is None and not isinstance(file, StandardInput | Followed) and file.size >= PLAIN_FROM
        as_it_is = not formats and not self._skip_bad and self._arrow.decimal == "."
        if not (self._beside_others and here and as_it_is and may_be_plain(self.dialect(file), kinds)):
            yield None
            return
        from riata.data.formats.plain_text import PlainText  # imports numba, which a small fit does without

        with file.stream() as stream:
            yield from PlainText(self._block_bytes, self._arrow.null_words).batches(stream, self.dialect(file), kinds)

    def whole_range(self, column: str) -> tuple[int, int] | None:
        form = self._formats.get(column, PLAIN)
        if not isinstance(form, NumberFormat):
            return None
        if self.live:
            raise DigitsLost
        as_text = copy(self)
        as_text.schema = with_type(self.schema, column, pa.string())
        as_text._formats = {name: one for name, one in self._formats.items() if name != column}
        strings = (batch.column(0) for batch in as_text.batches([column], ROWS_AT_ONCE))
        return written_range(map(form.plain, strings))

    def _note_bad_rows(self, file: File, numbers: Iterable[int]) -> None:
        """Remember where rows of these numbers, from 1, are; not of a part of a file, before which rows are unknown."""
        for number in numbers if file.span is None else ():
            self.note_bad(file, f"row {number}")

    def _can_be_bad(self, column: str) -> bool:
        return column in self._formats or pa.types.is_floating(self.schema.field(column).type)

    def _parsed(
        self,
        file: File,
        columns: Sequence[str],
        kinds: dict[str, pa.DataType],
        n_skip: int,
        block: int,
        ragged: list[int],
        words: Sequence[str] | None,
    ) -> Iterator[pa.RecordBatch]:
        """The rows after the first `n_skip`, as Arrow parses them."""
        last = None
        # with threads Arrow does not number the rows that it leaves out, and has a task for every column of a block
        threads = not self._skip_bad and len(columns) <= MANY_COLUMNS
        with self._reader(file, columns, kinds, block, ragged, threads, words) as reader:
            as_they_come = isinstance(file, StandardInput | Followed) or block > parsed_bytes(self._block_bytes)
            together = 1 if as_they_come else BLOCKS_TOGETHER
            for batch in joined_batches(reader, together):
                last = batch if batch.num_rows else last
                n_here = min(n_skip, batch.num_rows)
                n_skip -= n_here
                yield batch.slice(n_here)
        if last is not None:
            self._check_end(file, last)

    def _check_end(self, file: File, batch: pa.RecordBatch) -> None:
        """Refuse a last row that swallowed lines, because a quote was opened and never closed."""
        cells = [column[-1].as_py() for column in batch.columns if pa.types.is_string(column.type)]
        long_cells = [cell for cell in cells if cell and "\n" in cell]
        if not long_cells or isinstance(file, StandardInput | Followed) or file.compression or file.span is not None:
            return
        with file.seekable() as handle:
            handle.seek(max(0, file.size - 64))
            end = handle.read().decode(self.dialect(file).encoding, errors="ignore")
        swallowed = next((cell for cell in long_cells if cell.endswith(end[-8:])), None)
        if swallowed is not None:  # a cell that is closed is followed by a quote, or by other cells
            raise DataError(
                f"{file.path}: a quote is opened before {swallowed[:30]!r} and never closed; close it, or read quotes "
                "as letters (csv={'quote': 'none'})"
            )

    def _reader(
        self,
        file: File,
        columns: Sequence[str],
        kinds: dict[str, pa.DataType],
        block: int,
        ragged: list[int],
        threads: bool = True,
        words: Sequence[str] | None = None,
    ) -> pacsv.CSVStreamingReader:
        dialect = self.dialect(file)
        stream = file.stream()
        if file.span is not None and file.span != (dialect.raw_start, file.size) and not is_local(file):
            stream = Unquoted(stream, dialect.quote, file.path)
        stream = as_utf8(stream, dialect.encoding)
        n_header = dialect.start if file.span is None else 0  # a span has rows only
        while n_header > 0 and (header := stream.read(n_header)):
            n_header -= len(header)
        if dialect.comment:
            stream = WithoutComments(stream, dialect.comment, dialect.quote)
        bad_row = self._bad_row(ragged)
        return pacsv.open_csv(stream, **self._arrow.of(dialect, block, columns, kinds, bad_row, threads, words))

    def rows_before(self, file: File) -> int:
        return max(file.lines_before() - self.dialect(file).header_lines, 0)

    def _bad_row(self, ragged: list[int]) -> Callable[[pacsv.InvalidRow], str]:
        """What to do with a row of too many or too few cells; `ragged` gets the numbers of those left out."""

        def handle(row: pacsv.InvalidRow) -> str:
            if not self._skip_bad:
                return "error"
            ragged.append(row.number)
            return "skip"

        return handle

    def _line(self, file: File, row: int) -> int:
        """About which line of a file a row is, counted from one, of those read."""
        return (self.dialect(file).header_lines if file.span is None else file.lines_before()) + row

    def nth(self, file: File, row: int) -> str:
        return f"line {self._line(file, row + 1)}"

    def _about_cell(self, file: File, bad: BadCell, n_before: int) -> str:
        return (
            f"{file.path}, line {self._line(file, n_before + bad.row + 1)}: column {bad.column!r} holds {bad.value!r}, "
            f"where the first rows have {bad.form.said()}; {_advice(bad.value)}"
        )

    def explain(self, file: File, error: Exception, columns: Sequence[str]) -> str:
        """A sentence with the line and the column of the error, which reading again on one thread finds."""
        if isinstance(error, UnicodeError):
            return (
                f"{file.path} is not {self.dialect(file).encoding} text ({error}); name its encoding "
                "(csv={'encoding': 'latin-1'})"
            )
        if not isinstance(error, pa.ArrowInvalid):
            return super().explain(file, error, columns)
        reason = str(error)
        if columns and "Row #" not in reason and "straddling" not in reason and not isinstance(file, StandardInput):
            try:
                kinds = {n: pa.string() if n in self._formats else self.schema.field(n).type for n in columns}
                with self._reader(file, columns, kinds, self._block_bytes, [], threads=False) as reader:
                    for _ in reader:
                        pass
            except pa.ArrowException as located:
                reason = str(located)
        row = re.search(r"Row #(\d+)", reason)
        place = f"{file.path}, line {self._line(file, int(row[1]))}" if row else file.path
        if "invalid UTF8" in reason:
            return (
                f"{place}: there are letters that are not UTF-8, as the first ones are; name the encoding of the file "
                "(csv={'encoding': 'latin-1'})"
            )
        if value := VALUE.search(reason):
            name = columns[int(value[1])]
            return (
                f"{place}: column {name!r} holds {value[3]!r}, which is not of the type of the first rows "
                f"({value[2]}); {_advice(value[3])}"
            )
        if fields := re.search(r"Expected (\d+) columns, got (\d+)", reason):
            return (
                f"{place}: {fields[2]} fields where the header has {fields[1]}; correct the line, "
                "or skip such rows (on_error='skip')"
            )
        if "straddling" in reason:
            return (
                f"{file.path} has a row of more than {in_words(longest_row(self._block_bytes))}: is there a quote that "
                "is not closed? (csv={'quote': 'none'} reads quotes as letters; a row may take a 16th of the memory, "
                "up to 16 MB)"
            )
        return f"{place} cannot be read as CSV ({reason.strip()})"


def _beside(ragged: Sequence[int], row: int) -> int:
    """The number of a row among all, if it is the one of this number among those that are not in this sorted list."""
    for left_out in list(ragged):
        row += left_out <= row
    return row


def _advice(value: str) -> str:
    return (
        f"correct it, let it count as missing (csv={{'missing': [{value!r}]}}), declare "
        "the column categorical, or skip such rows (on_error='skip')"
    )


def may_be_plain(dialect: Dialect, kinds: Mapping[str, pa.DataType]) -> bool:
    """Whether a file of this dialect, and columns of these kinds, may be plain text (`plain_text.py`)."""
    known = all(kind in (pa.string(), pa.float64()) for kind in kinds.values())
    few = len(kinds) <= MANY_COLUMNS
    simple = plain_utf8(dialect.encoding) and not dialect.comment
    letters = len(dialect.separator) == 1 and (dialect.separator + dialect.quote).isascii()
    return known and few and simple and letters and len(dialect.names) > 1

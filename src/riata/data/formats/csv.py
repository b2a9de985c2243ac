"""CSV and TSV, plain or compressed, through Arrow's reader.

Types are inferred from the first block. Whole numbers are read as float64, so that a 2.5 may follow a million of them.
A column that is empty in the first block is read as numbers, unless it is declared categorical or text.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.data.formats.live_files import StandardInput

NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"]
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


class Csv(FileSource):
    """Rows of text files with a header line."""

    def __init__(
        self,
        files: Sequence[File],
        *,
        block_bytes: int,
        as_text: Collection[str] = (),
        skip_bad: bool = False,
    ) -> None:
        super().__init__(files)
        self._block_bytes, self._as_text, self._skip_bad = block_bytes, as_text, skip_bad
        self._delimiter = "\t" if files[0].suffix in (".tsv", ".tab") else delimiter(files[0].head())
        self.schema = one_schema(files, [self._infer(file) for file in files])

    def _infer(self, file: File) -> pa.Schema:
        """The types of the first block, without its last line, which may be incomplete."""
        with self.door(file):
            head = file.head(self._block_bytes)
            if len(head) == self._block_bytes:
                head = head[: head.rfind(b"\n") + 1]
            with pacsv.open_csv(pa.BufferReader(head), **self._options(len(head) + 1, bad_row=_skip)) as reader:
                return pa.schema([pa.field(field.name, self._kind(field)) for field in reader.schema])

    def _kind(self, field: pa.Field) -> pa.DataType:
        if field.name in self._as_text:
            return pa.string()
        number = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
        return pa.float64() if number else field.type

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        kinds = {name: self.schema.field(name).type for name in columns}
        numbers = [name for name in columns if pa.types.is_floating(kinds[name])] if self._skip_bad else []
        with self._reader(file, columns, kinds | dict.fromkeys(numbers, pa.string())) as reader:
            for batch in reader:
                yield self._numbers_only(batch, numbers)

    def _reader(
        self, file: File, columns: Sequence[str], kinds: dict[str, pa.DataType], threads: bool = True
    ) -> pacsv.CSVStreamingReader:
        options = self._options(self._block_bytes, columns, kinds, self._bad_row, threads)
        if file.span is not None and file.span[0] > 0:  # this span has no header line
            options["read_options"].column_names = self._header(replace(file, span=None))
        return pacsv.open_csv(file.stream(), **options)

    def _header(self, file: File) -> list[str]:
        line = file.head(self._block_bytes).split(b"\n", 1)[0] + b"\n"
        with pacsv.open_csv(pa.BufferReader(line), **self._options(len(line) + 1)) as reader:
            names: list[str] = reader.schema.names
            return names

    def rows_before(self, file: File) -> int:
        return max(file.lines_before() - 1, 0)

    def _options(
        self,
        block_bytes: int,
        columns: Sequence[str] = (),
        kinds: dict[str, pa.DataType] | None = None,
        bad_row: Callable[[Any], str] | None = None,
        threads: bool = True,
    ) -> dict[str, Any]:
        return {
            "read_options": pacsv.ReadOptions(block_size=block_bytes, use_threads=threads),
            "parse_options": pacsv.ParseOptions(delimiter=self._delimiter, invalid_row_handler=bad_row),
            "convert_options": pacsv.ConvertOptions(
                column_types=kinds, include_columns=list(columns), null_values=NULLS, strings_can_be_null=True
            ),
        }

    def _bad_row(self, row: pacsv.InvalidRow) -> str:
        if not self._skip_bad:
            return "error"
        self.skipped += 1
        return "skip"

    def _numbers_only(self, batch: pa.RecordBatch, numbers: Collection[str]) -> pa.RecordBatch:
        """The rows whose values in the columns `numbers` can be parsed; the others are counted as skipped."""
        if not numbers:
            return batch
        good = None
        for name in numbers:
            column = batch.column(name)
            ok = pc.fill_null(pc.match_substring_regex(column, NUMBER), True)
            good = ok if good is None else pc.and_(good, ok)
        kept = batch.filter(good)
        self.skipped += batch.num_rows - kept.num_rows
        arrays = [
            pc.utf8_trim_whitespace(array).cast(pa.float64()) if name in numbers else array
            for name, array in zip(kept.schema.names, kept.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, names=kept.schema.names)

    def explain(self, file: File, error: Exception, columns: Sequence[str]) -> str:
        """A sentence with the line and the column of the error, which reading again on one thread finds."""
        if not isinstance(error, pa.ArrowInvalid):
            return super().explain(file, error, columns)
        reason = str(error)
        if columns and "Row #" not in reason and not isinstance(file, StandardInput):
            try:
                kinds = {name: self.schema.field(name).type for name in columns}
                with self._reader(file, columns, kinds, threads=False) as reader:
                    for _ in reader:
                        pass
            except pa.ArrowException as located:
                reason = str(located)
        row = re.search(r"Row #(\d+)", reason)
        place = f"{file.path}, line {file.lines_before() + int(row[1])}" if row else file.path
        if value := re.search(r"In CSV column #(\d+).*conversion error to (\S+): invalid value '(.*)'", reason, re.S):
            name = columns[int(value[1])]
            return (
                f"{place}: column {name!r} holds {value[3]!r}, which is not of the type of the first rows "
                f"({value[2]}); correct it, declare the column categorical, or skip such rows (on_error='skip')"
            )
        if fields := re.search(r"Expected (\d+) columns, got (\d+)", reason):
            return (
                f"{place}: {fields[2]} fields where the header has {fields[1]}; correct the line, "
                "or skip such rows (on_error='skip')"
            )
        if "Empty CSV" in reason:
            return f"{file.path} is empty; a header line with the names of the columns is needed"
        return f"{place} cannot be read as CSV ({reason.strip()})"


def _skip(row: pacsv.InvalidRow) -> str:
    return "skip"


def delimiter(head: bytes) -> str:
    """The most frequent of the usual separators in the first line."""
    line = head.split(b"\n", 1)[0].decode(errors="replace")
    return max(",\t;|", key=line.count)

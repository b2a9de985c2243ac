"""JSON lines and JSON arrays of records, plain or compressed, through Arrow's parser, a block of records at a time.

Fields of nested objects are columns with dotted names. Columns and their types are those of the first block of every
file: numbers are float64, a column that is null in all of it is read as numbers unless it is declared otherwise, and a
field that a record lacks is missing.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import ROWS_AT_ONCE, FileSource
from riata.data.formats.json_array import LONGEST_RECORD, lines_of_array
from riata.data.formats.kinds import BOM
from riata.data.formats.parsed_lines import whole_lines
from riata.data.formats.tables import flat, flat_schema, owners
from riata.data.whole_numbers import DigitsLost, whole_range
from riata.errors import DataError

TYPES = {"object": "an object", "array": "a list", "boolean": "true or false", "number": "a number", "string": "text"}


class Json(FileSource):
    """Rows of files of JSON, a record each."""

    of_lines = True

    def __init__(
        self, files: Sequence[File], *, block_bytes: int, as_text: Collection[str] = (), skip_bad: bool = False
    ) -> None:
        super().__init__(files)
        self._block_bytes, self._as_text, self._skip_bad = block_bytes, as_text, skip_bad
        self._arrays = {file.path: is_array(file.head()) for file in files}
        with self.door(files[0]):
            found = self._infer(files[0])
        for file in files[1:]:
            with self.door(file):
                more = self._infer(file)
            try:
                found = pa.unify_schemas([found, more], promote_options="permissive")
            except pa.ArrowException as error:
                raise DataError(f"{file.path} has a column of another type than {files[0].path} ({error})") from error
        with self.door(files[0]):  # names may be of bytes that are no text
            self._nested = pa.schema([pa.field(field.name, self._read_as(field.type, field.name)) for field in found])
            self.schema = flat_schema(self._nested)

    def can_be_cut(self, file: File) -> bool:
        """Whether parts of a file can be read without what is before them."""
        return file.compression is None and not self._arrays[file.path]

    def _infer(self, file: File) -> pa.Schema:
        """The columns of the first block; what can be used of it, should bad rows be skipped."""
        n_bytes = self._block_bytes
        while True:
            head = file.head(n_bytes)
            whole = len(head) < n_bytes
            if not (whole or self._arrays[file.path]):
                head = head[: head.rfind(b"\n") + 1]  # the last line may be incomplete
            try:
                block = next(self._blocks(file, pa.BufferReader(head)), None)
            except DataError:
                if whole:
                    raise
                block = None
            parts = [] if block is None else list(self._parsed(file, block, 0, None))
            if parts:
                return pa.unify_schemas([part.schema for part in parts], promote_options="permissive")
            if whole:
                raise DataError(f"{file.path} holds no records")
            n_bytes *= 2  # not one record is complete
            if n_bytes > LONGEST_RECORD * self._block_bytes:
                raise DataError(f"the first record of {file.path} does not end, or needs more memory")

    def _read_as(self, kind: pa.DataType, name: str) -> pa.DataType:
        """The type in which values are read, for one that Arrow has guessed from the first of them."""
        if pa.types.is_struct(kind):
            return pa.struct([(field.name, self._read_as(field.type, f"{name}.{field.name}")) for field in kind])
        if pa.types.is_list(kind):
            return pa.list_(self._read_as(kind.value_type, name))
        if pa.types.is_timestamp(kind) or (pa.types.is_null(kind) and name in self._as_text):
            return pa.string()  # it is the first pass that recognises dates
        if pa.types.is_integer(kind) and name in self._as_text:
            return kind  # levels are called 7, not 7.0
        number = pa.types.is_integer(kind) or pa.types.is_null(kind)
        return pa.float64() if number else kind

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        wanted = pa.schema(owners(self._nested, self.with_judged(columns) if self._skip_bad else columns))
        first = file.lines_before()
        with file.stream() as stream:
            for block in self._blocks(file, stream):
                for table in self._parsed(file, block, first, wanted):
                    found = flat(table).select(list(columns)).combine_chunks()
                    yield from map(validated, found.to_batches(max_chunksize=rows))
                first += int(np.count_nonzero(block == ord("\n")))

    def whole_range(self, column: str) -> tuple[int, int] | None:
        if self.live or not pa.types.is_floating(self.schema.field(column).type):  # of lists, too
            raise DigitsLost
        for kind in (pa.int64(), pa.uint64()):
            typed = copy(self)
            typed._nested = pa.schema([_with_type(field, field.name, column, kind) for field in self._nested])
            typed.schema = flat_schema(typed._nested)
            try:
                found = [whole_range(batch.column(0)) for batch in typed.batches([column], ROWS_AT_ONCE)]
            except DataError:
                continue  # not all are whole numbers of this type
            ends = [end for ends in found for end in ends or () if end is not None]
            return (min(ends), max(ends)) if ends else None
        return None

    def rows_before(self, file: File) -> int:
        return file.lines_before()

    def _blocks(self, file: File, stream: Any) -> Iterator[np.ndarray]:
        if self._arrays[file.path]:
            return lines_of_array(stream, self._block_bytes, file.path)
        return whole_lines(stream, self._block_bytes)

    def _parsed(self, file: File, block: np.ndarray, first: int, schema: pa.Schema | None) -> Iterator[pa.Table]:
        """The records of a block whose first line is line `first` of the file, counted from 0, without bad ones."""
        while True:
            try:
                if block.tobytes().strip():
                    yield _parse(block, schema)
                return
            except pa.ArrowInvalid as error:
                at = re.search(r"in row (\d+)", str(error))
                start, stop = _nth_line(block, int(at[1]) if at else 0)
                line = first + int(np.count_nonzero(block[:start] == ord("\n")))
                if not self._skip_bad:
                    raise DataError(self._sentence(file, line, block[start:stop].tobytes(), str(error))) from error
                if schema is not None:
                    self.skipped += 1
                    self.note_bad(file, f"{self._unit(file)} {line + 1}")
                if start:
                    yield _parse(block[:start], schema)
                block, first = block[stop:], line + 1

    def _unit(self, file: File) -> str:
        return "row" if self._arrays[file.path] else "line"

    def _sentence(self, file: File, line: int, content: bytes, reason: str) -> str:
        """What is wrong with this line; Arrow, which reads on after it, may have met the error in the next one."""
        place = f"{file.path}, {self._unit(file)} {line + 1}"
        advice = "correct it, or skip such rows (on_error='skip')"
        if (fault := _fault(content)) is not None and line > 0:
            return f"{place}: this is no JSON ({fault}); {advice}"
        if kinds := re.search(r"Column\(/?(.*?)\) changed from (\w+) to (\w+)", reason):
            if not kinds[1]:
                return f"{place}: there is no record such as {{...}} here; {advice}"
            name = kinds[1].replace("/", ".")
            return (
                f"{place}: column {name!r} is {_in_words(kinds[3])}, and {_in_words(kinds[2])} in other rows; {advice}"
            )
        if twice := re.search(r"Column\(/(.*?)\) was specified twice", reason):
            return f"{place}: {twice[1]!r} is there twice; {advice}"
        return f"{file.path} cannot be read as JSON: a record such as {{...}} on every line, or an array of them, can"


def _with_type(field: pa.Field, name: str, column: str, kind: pa.DataType) -> pa.Field:
    """The field, in which the column of a dotted name is of another type."""
    if name == column:
        return field.with_type(kind)
    if not pa.types.is_struct(field.type):
        return field
    return field.with_type(pa.struct([_with_type(one, f"{name}.{one.name}", column, kind) for one in field.type]))


def _fault(line: bytes) -> str | None:
    """Why a line is no JSON; None if it is."""
    try:
        json.loads(line)
    except ValueError as error:
        return str(error)
    return None


def is_array(head: bytes) -> bool:
    """Whether JSON text is an array, and not lines."""
    return head.removeprefix(BOM).lstrip()[:1] == b"["


def _in_words(kind: str) -> str:
    return TYPES.get(kind, kind)


def _parse(block: np.ndarray, schema: pa.Schema | None) -> pa.Table:
    """Records as a table: of these columns, or of all of them."""
    options = pajson.ParseOptions(
        explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore"
    )
    whole = pajson.ReadOptions(block_size=len(block) + 1)
    return pajson.read_json(pa.BufferReader(pa.py_buffer(block)), read_options=whole, parse_options=options)


def _nth_line(block: np.ndarray, n: int) -> tuple[int, int]:
    """Where line n of a block starts and where the next one does, lines of blanks not counted."""
    start = 0
    lines = block.tobytes().splitlines(keepends=True)
    for line in lines:
        if line.strip():
            if n == 0:
                return start, start + len(line)
            n -= 1
        start += len(line)
    return start - len(lines[-1]), start

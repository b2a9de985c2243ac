"""The base of all sources that read files: their order, positions for messages, and noticing that a file changed."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from riata.data.formats.damage import DAMAGE, reason_of
from riata.data.formats.files import File
from riata.data.formats.live_files import Followed, StandardInput
from riata.data.formats.source import Source
from riata.data.formats.unlearnable import Unlearnable, without_rows
from riata.errors import DataError, RiataError

ENOUGH_LINES = 5  # that tell how long lines are
ROWS_AT_ONCE = 1 << 16  # of one column alone
MOST_PLACES = 10  # of bad rows that a note names


class FileSource(Source):
    """Rows of several files, one file after the other."""

    damage: tuple[type[Exception], ...] = DAMAGE  # what the library that reads them raises over damaged files
    of_lines = False  # whether files are text of about a row a line

    def __init__(self, files: Sequence[File]) -> None:
        self.files = list(files)
        self.n_bytes = sum(file.size for file in files)
        self._judged_by: Sequence[str] | None = None  # the columns that decide which rows are bad; None for all
        self._unlearnable: Unlearnable | None = None  # what rows must not have, where such rows are left out
        self._ends: list[int] = []  # for each file read so far, how many rows there are up to its end

    @abstractmethod
    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of one file."""

    def judge_by(self, columns: Sequence[str]) -> None:
        self._judged_by = self.own(columns)

    def leave_out_unlearnable(self, weight: str | None) -> None:
        if not self.random_access:  # by which rows are known by their numbers
            self._unlearnable = Unlearnable(weight)

    def with_judged(self, columns: Sequence[str]) -> list[str]:
        """These columns, and after them all others that decide which rows are bad."""
        return list(dict.fromkeys([*columns, *(self.schema.names if self._judged_by is None else self._judged_by)]))

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        self.skipped, self.skipped_at, self._ends, total = 0, [], [], 0
        read = columns if self._unlearnable is None else self._unlearnable.with_own(self, columns)
        for file in self.files:
            _check_unchanged(file)
            n_before, n_read = self.skipped, 0  # in this file
            with self.door(file, columns):
                for batch in self.read(file, read, rows):
                    if self._unlearnable is not None:
                        bad = self._unlearnable.rows(batch)
                        if self.skipped == n_before and file.span is None:  # else it is not known where rows are
                            for row in bad[:MOST_PLACES].tolist():
                                self.note_bad(file, self.nth(file, n_read + row))
                        n_read, n_before = n_read + batch.num_rows, n_before + len(bad)
                        self.skipped += len(bad)
                        batch = without_rows(batch, bad).select(list(columns))
                    total += batch.num_rows
                    yield batch
            _check_unchanged(file)  # there may be no other pass
            self._ends.append(total)

    def about_rows(self) -> int | None:
        """How many rows there are; of text, as many as lines of the length of the first ones, if it is all there."""
        if self.n_rows is not None or not self.of_lines or self.single_pass or any(f.compression for f in self.files):
            return self.n_rows
        head = self.files[0].head()
        lines = head.count(b"\n")
        return round((self.n_bytes or 0) * lines / len(head)) if lines >= ENOUGH_LINES else None

    @property
    def live(self) -> bool:
        """Whether rows are still to come, or cannot be read again."""
        return self.single_pass or any(isinstance(file, StandardInput | Followed) for file in self.files)

    def note_bad(self, file: File, place: str) -> None:
        """Remember where a bad row is that is left out: of the first ones."""
        place = f"{file.path}, {place}"
        if len(self.skipped_at) < MOST_PLACES and place not in self.skipped_at:  # a pass may begin again
            self.skipped_at = [*self.skipped_at, place]

    @contextmanager
    def door(self, file: File, columns: Sequence[str] = ()) -> Iterator[None]:
        """Whatever a library raises here over the bytes of a file becomes a sentence that names the file."""
        try:
            yield
        except DataError as error:
            if file.path in str(error):
                raise
            raise DataError(f"{file.path}: {error}") from error
        except RiataError:
            raise
        except self.damage as error:
            _check_unchanged(file)  # what looks like damage may be a file that was written to meanwhile
            raise DataError(self.explain(file, error, columns)) from error

    def explain(self, file: File, error: Exception, columns: Sequence[str]) -> str:
        """One sentence about why a file cannot be read."""
        if file.compression and (broken := file.broken_text()):
            return broken
        return f"{file.path} is damaged or cut short ({reason_of(error)}); write or fetch it again, or leave it out"

    def rows_before(self, file: File) -> int:
        """How many rows of a file come before the span that is read: for messages only."""
        return 0

    def close(self) -> None:
        for file in self.files:
            file.close()

    def fingerprint(self) -> list[object]:
        return [file.fingerprint() for file in self.files]

    def place(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f" in {self.files[0].path}{more}" if self.files else ""

    def where(self, row: int) -> str:
        before = 0
        for file, end in zip(self.files, self._ends, strict=False):
            if row < end:
                return f"{file.path}, {self.nth(file, row - before)}"
            before = end
        file = self.files[min(len(self._ends), len(self.files) - 1)]
        return f"{file.path}, {self.nth(file, row - before)}"

    def nth(self, file: File, row: int) -> str:
        """The place of a row of those read in a file, for messages."""
        return f"row {self.rows_before(file) + row + 1}"


def _check_unchanged(file: File) -> None:
    if file.changed():
        raise DataError(f"{file.path} changed while it was being read; start again when nobody writes to it")


def with_type(schema: pa.Schema, column: str, kind: pa.DataType) -> pa.Schema:
    """The same columns, one of them of another type."""
    return pa.schema([one.with_type(kind) if one.name == column else one for one in schema])


def one_schema(files: Sequence[File], schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The common schema of all files: the columns of the first one, in types that can represent those of all files."""
    first = schemas[0]
    fields = {field.name: field for field in first}
    for file, schema in zip(files, schemas, strict=True):
        there = set(schema.names)  # looked at once: tables may have thousands of columns
        if len(there) < len(schema.names):
            twice = next(name for name in schema.names if schema.names.count(name) > 1)
            raise DataError(f"{file.path} has more than one column called {twice!r}; give each a name of its own")
        if missing := [name for name in first.names if name not in there]:
            raise DataError(
                f"{file.path} lacks the column {missing[0]!r} that {files[0].path} has: add it, or leave the file out"
            )
        for field in schema:
            if field.name not in fields:
                continue
            known = fields[field.name]
            if field.type != known.type:
                fields[field.name] = _wider(known, field, files[0], file)
    return pa.schema(list(fields.values()))


def _wider(known: pa.Field, field: pa.Field, first: File, file: File) -> pa.Field:
    """A field that can represent both; an error says why there is none."""
    kinds = [_kind(known.type), _kind(field.type)]
    if kinds[0] != kinds[1] and "null" not in kinds:
        raise DataError(
            f"column {field.name!r} is {known.type} in {first.path} but {field.type} in {file.path}; "
            f"write them alike, or drop the column"
        )
    if kinds[0] == "number" and kinds[1] == "number":
        return pa.field(field.name, pa.float64())
    return field if kinds[0] == "null" else known


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_null(kind):
        return "null"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if is_text(kind):
        return "text"
    return str(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether values are strings, plain or dictionary-encoded."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))

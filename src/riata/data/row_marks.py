"""Marks of rows: columns that say which rows belong together, beside features, target and weight.

| role   | its number for a row                               |
| groups | a 64-bit hash of the group, such as a customer     |
| time   | days since 1970 for dates, numbers as they are     |
| folds  | a fold number                                      |
| strata | a hash of the stratum, of times to events          |
| entry  | when a row came under observation, of such times   |

The first three are for folds. They are read when they are needed, not before, and only the columns that are.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of, values_of
from riata.data.columns.column import BadRow, as_floats, as_strings
from riata.data.columns.dates import as_instants, days_of
from riata.data.encoding import Encoding
from riata.data.formats.filesource import is_text
from riata.data.formats.source import Source
from riata.data.formats.tables import column_table
from riata.data.row_numbers import AT_ONCE, RowNumbers
from riata.errors import DataError

GROUPS, TIME, FOLDS, STRATA, ENTRY = ROLES = ("groups", "time", "folds", "strata", "entry")
OF_FOLDS = (GROUPS, TIME, FOLDS)
TYPES = {GROUPS: np.uint64, TIME: np.float64, FOLDS: np.int64, STRATA: np.uint64, ENTRY: np.float64}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})(\.[0-9]{1,20})?")
ROWS = 1 << 16  # read at once


@dataclass(frozen=True)
class Mark:
    """The numbers of one role for all rows."""

    numbers: RowNumbers
    column: str
    dates: bool = False  # whether they are days


class Marks(ABC):
    """The marks of some rows, by their roles."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = dict(columns)  # by their roles

    @cached_property
    def _all(self) -> dict[str, Mark]:
        return self._read()

    @abstractmethod
    def _read(self) -> dict[str, Mark]:
        """All of them: one reading."""

    def __contains__(self, role: str) -> bool:
        return role in self.columns

    def __getitem__(self, role: str) -> Mark:
        return self._all[role]

    def of_rows(self, keep: Callable[[np.ndarray], np.ndarray]) -> "Marks":
        """The marks of the rows at the positions that `keep` accepts."""
        return _OfRows(self, keep)


class _OfRows(Marks):
    def __init__(self, whole: Marks, keep: Callable[[np.ndarray], np.ndarray]) -> None:
        super().__init__(whole.columns)
        self._whole, self._keep = whole, keep

    def _read(self) -> dict[str, Mark]:
        return {role: self._some(self._whole[role]) for role in self.columns}

    def _some(self, mark: Mark) -> Mark:
        starts = range(0, len(mark.numbers), AT_ONCE)
        runs = zip(starts, mark.numbers.runs(), strict=True)
        kept = (run[self._keep(np.arange(start, start + len(run)))] for start, run in runs)
        return Mark(RowNumbers(mark.numbers.dtype, kept), mark.column, mark.dates)


class MarksGiven(Marks):
    """Marks from arrays: one value for each row; `kept` says which rows are used, where some are not."""

    def __init__(self, given: Mapping[str, Any], n_rows: int, kept: np.ndarray | None = None) -> None:
        super().__init__({role: role for role in given})
        self._marks: dict[str, Mark] = {}
        for role, values in given.items():
            table = column_table(values, role)
            if table.num_rows != n_rows:
                raise DataError(f"there are {n_rows} rows of data but {table.num_rows} values of {role}")
            column = table.column(0).combine_chunks()
            if kept is not None:
                column = column.filter(arrow_of(kept))
            try:
                numbers = RowNumbers(TYPES[role], [numbers_of(role, column, role)])
            except BadRow as bad:
                row = bad.row if kept is None else int(np.flatnonzero(kept)[bad.row])
                raise DataError(f"row {row + 1}: {bad.sentence}") from None
            self._marks[role] = Mark(numbers, role, role == TIME and are_dates(column.type))

    def _read(self) -> dict[str, Mark]:
        return self._marks


class MarksOfSource(Marks):
    """Marks in columns of a source, of the rows that an encoding keeps."""

    def __init__(self, source: Source, encoding: Encoding, columns: Mapping[str, str], n_rows: int) -> None:
        super().__init__(columns)
        self._source, self._encoding, self._n_rows = source, encoding, n_rows

    def _read(self) -> dict[str, Mark]:
        if self._source.single_pass or self._source.unordered:
            why = "stream can be read only once" if self._source.single_pass else "query may give another order then"
            names = " and ".join(map(repr, self.columns.values()))
            raise DataError(
                f"folds by {names} need a second reading, and this {why}: keep it while it is read (cache=True)"
            )
        numbers = {role: RowNumbers(TYPES[role]) for role in self.columns}
        for found in marks_in(self._source, self._encoding, self.columns):
            for role, values in found.items():
                numbers[role].append(values)
        return marks_of(numbers, self._source.schema, self.columns, self._n_rows)


def marks_of(
    numbers: Mapping[str, RowNumbers], schema: pa.Schema, columns: Mapping[str, str], n_rows: int
) -> dict[str, Mark]:
    """The marks in these columns, once their numbers are known; there must be one for each of the rows."""
    for role, values in numbers.items():
        if len(values) != n_rows:
            raise DataError(
                f"{columns[role]!r} has {len(values)} values where {n_rows} rows were read before: the data changes "
                "from reading to reading; start again when nobody writes to it"
            )
    kinds = {role: schema.field(name).type for role, name in columns.items()}
    return {role: Mark(numbers[role], name, role == TIME and are_dates(kinds[role])) for role, name in columns.items()}


def marks_in(source: Source, encoding: Encoding, columns: Mapping[str, str]) -> Iterator[dict[str, np.ndarray]]:
    """The numbers of all roles for the rows that an encoding keeps, a batch at a time."""
    beside = [*(encoding.target.columns if encoding.target else ()), encoding.weight]
    names = list(dict.fromkeys([*columns.values(), *(name for name in beside if name is not None)]))
    first_row = 0
    for batch in source.batches(names, ROWS):
        kept, row = np.empty(0, dtype=np.int64), 0
        try:
            kept = np.flatnonzero(encoding.roles(batch)[2])
            rows = batch.take(arrow_of(kept))
            yield {role: numbers_of(role, rows.column(name), name) for role, name in columns.items()}
        except BadRow as bad:
            row = int(kept[bad.row]) if len(kept) else bad.row
            raise DataError(f"{source.where(first_row + row)}: {bad.sentence}") from None
        first_row += batch.num_rows


def are_dates(kind: pa.DataType) -> bool:
    """Whether a column of this type holds dates, if it holds times."""
    return is_text(kind) or (pa.types.is_temporal(kind) and not pa.types.is_duration(kind))


def numbers_of(role: str, column: pa.Array, name: str) -> np.ndarray:
    """The numbers of a role that the values of a column give."""
    if column.null_count or (pa.types.is_floating(column.type) and np.isnan(values_of(column)).any()):
        missing = values_of(column.is_null(nan_is_null=True))
        who = "folds" if role in OF_FOLDS else "risk sets"
        raise BadRow(int(np.argmax(missing)), f"{name!r} has no value there, and {who} need one in every row")
    if role in (GROUPS, STRATA):
        return hashes_of(column)
    if role == TIME and are_dates(column.type):
        return days_of(as_instants(column, name))
    if role == FOLDS and is_text(column.type):
        raise BadRow(0, f"{name!r} holds {column[0].as_py()!r}, where fold numbers are wanted: whole numbers")
    values = as_floats(column, name)
    wrong = ~np.isfinite(values) if role in (TIME, ENTRY) else values != np.rint(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "a time" if role in (TIME, ENTRY) else "a fold number, which is whole"
        raise BadRow(row, f"{name!r} holds {values[row]:g}, which is not {what}")
    return values.astype(TYPES[role])


def strata_of(given: Any, n_rows: int) -> np.ndarray:
    """The numbers of strata that are given as one label for each of so many rows."""
    return MarksGiven({STRATA: given}, n_rows)[STRATA].numbers.all()


def hashes_of(column: pa.Array) -> np.ndarray:
    """A 64-bit hash of every value, the same on every machine; numbers are equal whatever type they are in, text too.

    So a group keeps its fold where the column of one day holds numbers, and that of another the same as text.
    """
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return values_of(column.cast(pa.uint8()) if pa.types.is_boolean(kind) else column).astype(np.uint64)
    if pa.types.is_floating(kind):
        return _hashes_of_floats(values_of(column).astype(np.float64))
    coded = as_strings(column).dictionary_encode()
    hashes = np.array([_hash_of_text(level) for level in coded.dictionary.to_pylist()], dtype=np.uint64)
    return hashes[values_of(coded.indices)]


def _hashes_of_floats(values: np.ndarray) -> np.ndarray:
    whole = (values == np.rint(values)) & (np.abs(values) < 2**53)
    return np.where(whole, np.where(whole, values, 0).astype(np.int64).astype(np.uint64), values.view(np.uint64))


def _hash_of_text(text: str) -> int:
    """The hash of a text: of the number, where it is one as numbers are usually written, so that 007 is not 7."""
    number = NUMBER.fullmatch(text)
    if number and number[1]:
        return int(_hashes_of_floats(np.array([float(text)]))[0])
    if number and -(2**63) <= int(text) < 2**64:
        return int(text) % 2**64
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

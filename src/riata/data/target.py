"""The target of a row: a number or several, the position of its label among the classes, or the time of an event."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import arrow_of, string_array, values_of
from riata.data.columns.column import BadRow, as_floats, as_strings, shown
from riata.data.survival import as_events, check_times
from riata.data.trials import shares_of
from riata.errors import DataError
from riata.schema import SchemaError, build

MOST_CLASSES = 1000
RULE = "a target must be numbers or classes"
TASKS = ("auto", "classification", "regression", "survival")


@dataclass(frozen=True)
class Target:
    """The columns that are predicted, and what they hold."""

    column: str
    classes: Sequence[Any] | None = None  # the labels in order; None of numbers
    survival: bool = False  # whether it is the time of an event: negative where there was none (`riata.data.survival`)
    event: str | None = None  # the column that says whether there was one, where times have no sign
    others: tuple[str, ...] = ()  # further targets, which are numbers, too
    trials: str | None = None  # the column of the trials of each row, where the target is successes
    happened: str | None = None  # the value of `event` that says so, where it is not 1

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that are predicted."""
        return (self.column, *self.others)

    @property
    def several(self) -> tuple[str, ...] | None:
        """The names of several targets; None where there is one."""
        return self.numbers if self.others else None

    @property
    def columns(self) -> list[str]:
        """The columns that it is made of."""
        return [*self.numbers, *(name for name in (self.event, self.trials) if name is not None)]

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The column of a batch, which `encode` takes; of several targets, one of lists."""
        if self.others:
            return lists_of(batch, self.numbers)
        return target_column(batch, self.column, self.event, self.trials, self.happened)

    def encode(self, column: pa.Array) -> np.ndarray:
        """Numbers as they are, labels as positions among the classes, NaN for missing values.

        Of several targets there is a row of numbers, or of NaN where one of them is missing.
        """
        if self.others:
            return values_of(column.flatten()).reshape(len(column), len(self.numbers))
        if self.classes is None:
            return as_floats(column, self.column, RULE)
        if isinstance(self.classes[0], str):
            strings = as_strings(column)
            found = pc.index_in(strings, value_set=string_array(self.classes, strings.type))
            codes = values_of(found.cast(pa.float64()))
            self._check(codes, values_of(column.is_null()), column)
            return codes
        if pa.types.is_integer(column.type) and all(map(is_whole, self.classes)):
            codes = _positions(column, self.classes)
            self._check(codes, values_of(column.is_null()), column)
            return codes
        values, labels = as_floats(column, self.column, RULE), np.asarray(self.classes, dtype=np.float64)
        order = np.argsort(labels)  # labels of a stream are in the order in which they came
        codes = order[np.searchsorted(labels, values, sorter=order).clip(max=len(labels) - 1)]
        codes = np.where(labels[codes] == values, codes, np.nan)
        self._check(codes, np.isnan(values), column)
        return codes

    def _check(self, codes: np.ndarray, missing: np.ndarray, column: pa.Array) -> None:
        """Refuse labels that are none of the classes."""
        unknown = np.isnan(codes) & ~missing
        if unknown.any():
            row = int(np.argmax(unknown))
            said = f"the label {shown(column[row].as_py())} in {self.column!r} is none of the model's classes"
            raise BadRow(row, f"{said}: correct it, or leave such rows out")

    @property
    def labels(self) -> np.ndarray | None:
        return None if self.classes is None else np.asarray(self.classes)

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        known = (
            "column",
            "classes",
            *(("survival", "event") if self.survival else ()),
            *(("happened",) if self.happened is not None else ()),
            *(("trials",) if self.trials is not None else ()),
            *(("others",) if self.others else ()),
        )
        return {name: plain[name] for name in known}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Target":
        own: _Plain = build(_Plain, plain, "the target")
        if own.classes is not None and (fault := classes_fault(own.classes)) is not None:
            raise SchemaError(fault)
        if own.others and (own.survival or own.classes is not None or own.column in own.others):
            raise SchemaError("its several targets are no numbers, or the same twice")
        classes = None if own.classes is None else tuple(own.classes)
        if own.trials is not None and (own.survival or classes is not None or own.others):
            raise SchemaError("its trials are not of successes, which are numbers")
        return cls(own.column, classes, own.survival, own.event, tuple(own.others), own.trials, own.happened)


@dataclass(frozen=True)
class _Plain:
    """A target as JSON has it."""

    column: str
    classes: list[str] | list[bool] | list[float] | None
    survival: bool = False
    event: str | None = None
    others: list[str] = field(default_factory=list)
    trials: str | None = None
    happened: str | None = None


def lists_of(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.Array:
    """The numbers of several columns as lists, one for each row; all of them are missing (NaN) where one is."""
    numbers = np.column_stack([as_floats(batch.column(name), name) for name in columns])
    numbers[np.isnan(numbers).any(axis=1)] = np.nan
    return pa.FixedSizeListArray.from_arrays(arrow_of(numbers.ravel()), len(columns))


def has_target(y: np.ndarray) -> np.ndarray:
    """Which rows have a target: of several, all of them."""
    return ~np.isnan(y if y.ndim == 1 else y[:, 0])


def target_column(
    batch: pa.RecordBatch, column: str, event: str | None, trials: str | None = None, happened: str | None = None
) -> pa.Array:
    """The target of some rows: a column, or the times in it with the signs that a column of events gives them.

    An event happened where that column is 1, or has the value `happened`. Of successes, their share among the trials in
    another column.
    """
    if trials is not None:
        return arrow_of(shares_of(*(as_floats(batch.column(name), name) for name in (column, trials))))
    if event is None:
        return batch.column(column)
    time, events = as_floats(batch.column(column), column), as_events(batch.column(event), event, happened)
    check_times(time, events)
    return arrow_of(np.where(np.isnan(events), np.nan, np.where(events == 1.0, time, -time)))  # NaN: no target


def classes_fault(classes: Sequence[Any]) -> str | None:
    """What is wrong with the classes of a file, if anything."""
    if any(_has_nul(label) or (isinstance(label, int) and not is_whole(label)) for label in classes):
        return "a class has a NUL character, or is a whole number of more than 64 bits"
    return "its classes are none, or the same twice" if len(set(classes)) < max(len(classes), 1) else None


def is_whole(label: object) -> bool:
    """Whether a label is a whole number, of any type, that 64 bits can hold."""
    return isinstance(label, int | float) and -(2**63) <= label < 2**64 and float(label).is_integer()


def _has_nul(label: object) -> bool:
    """Whether NumPy and Arrow would take another label for this one: arrays of text end at a NUL character."""
    return isinstance(label, str) and "\0" in label


def _positions(column: pa.Array, labels: Sequence[Any]) -> np.ndarray:
    """The position of every integer among the labels, NaN where it is none: compared as integers, exact beyond 2^53."""
    kind = pa.uint64() if pa.types.is_unsigned_integer(column.type) else pa.int64()
    limits = np.iinfo(kind.to_pandas_dtype())
    known = [int(label) if limits.min <= label <= limits.max else None for label in labels]
    found = pc.index_in(column.cast(kind), value_set=_whole(known, kind), skip_nulls=True)
    return values_of(found.cast(pa.float64()))


def _whole(known: Sequence[int | None], kind: pa.DataType) -> pa.Array:
    """Whole numbers as Arrow has them; Arrow's own `array` imports pandas, and is for those beyond its type."""
    if None in known:
        return pa.array(known, kind)
    return arrow_of(np.array(known, kind.to_pandas_dtype()))


class GrowingTarget(Target):
    """The target of a stream, whose classes are a list that grows: a new label takes the next position."""

    def encode(self, column: pa.Array) -> np.ndarray:
        known: Any = self.classes
        text = isinstance(known[0], str)
        integers = pa.types.is_integer(column.type) and all(map(is_whole, known))
        values = column if integers else as_strings(column) if text else None
        if values is None:
            values = pa.array(as_floats(column, self.column, RULE), from_pandas=True)
        for label in values.unique().drop_null().to_pylist():
            if label not in known:
                known.append(int(label) if not text and is_whole(label) else label)
        check_labels(known, self.column)
        if integers:
            return _positions(column, known)
        found = pc.index_in(values, value_set=pa.array(known, values.type))
        return values_of(found.cast(pa.float64()))


def check_labels(labels: Collection[Any], column: str) -> None:
    """Refuse labels that cannot be told apart, and so many that they are identifiers or measurements, not classes."""
    if any(map(_has_nul, labels)):
        raise DataError(f"a label of the target {column!r} has a NUL character: write it in other letters")
    if len(labels) > MOST_CLASSES:
        raise DataError(f"the target {column!r} has more than {MOST_CLASSES} values: too many for classes")

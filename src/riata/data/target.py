"""The target of a row: a number, the position of its label among the classes, or the time of an event."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.numbers import PLAIN
from riata.data.columns.arrow_values import arrow_of, filled, string_array, values_of
from riata.data.columns.column import BadRow, as_floats, as_strings, shown
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.numbers import NumberLearner
from riata.data.formats.filesource import is_text
from riata.data.survival import as_events, check_times
from riata.errors import DataError
from riata.schema import SchemaError, build

MOST_CLASSES = 1000
TASKS = ("auto", "classification", "regression", "survival")


@dataclass(frozen=True)
class Target:
    """Which column, and its labels in order where they are classes; of times, which column says if there was an event.

    Times without a column of events are negative where there was none (`riata.data.survival`).
    """

    column: str
    classes: Sequence[Any] | None = None
    survival: bool = False
    event: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that it is made of."""
        return [self.column] if self.event is None else [self.column, self.event]

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The column of a batch, which `encode` takes."""
        return target_column(batch, self.column, self.event)

    def encode(self, column: pa.Array) -> np.ndarray:
        """Numbers as they are, labels as positions among the classes, NaN for missing values."""
        if self.classes is None:
            return as_floats(column, self.column)
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
        values, labels = as_floats(column, self.column), np.asarray(self.classes, dtype=np.float64)
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
        return plain if self.survival else {name: plain[name] for name in ("column", "classes")}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Target":
        own: _Plain = build(_Plain, plain, "the target")
        if own.classes is not None and (fault := classes_fault(own.classes)) is not None:
            raise SchemaError(fault)
        return cls(own.column, None if own.classes is None else tuple(own.classes), own.survival, own.event)


@dataclass(frozen=True)
class _Plain:
    """A target as JSON has it."""

    column: str
    classes: list[str] | list[bool] | list[float] | None
    survival: bool = False
    event: str | None = None


def target_column(batch: pa.RecordBatch, column: str, event: str | None) -> pa.Array:
    """The target of some rows: a column, or the times in it with the signs that a column of events gives them."""
    if event is None:
        return batch.column(column)
    time, happened = as_floats(batch.column(column), column), as_events(batch.column(event), event)
    check_times(time, happened)
    return arrow_of(np.where(happened == 1.0, time, -time))  # NaN where either is missing: no target


def classes_fault(classes: Sequence[Any]) -> str | None:
    """What is wrong with the classes of a file, if anything."""
    return "its classes are none, or the same twice" if len(set(classes)) < max(len(classes), 1) else None


def is_whole(label: object) -> bool:
    """Whether a label is a whole number, of any type."""
    return isinstance(label, int | float) and float(label).is_integer()


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
            values = pa.array(as_floats(column, self.column), from_pandas=True)
        for label in values.unique().drop_null().to_pylist():
            if label not in known:
                known.append(int(label) if not text and is_whole(label) else label)
        check_labels(known, self.column)
        if integers:
            return _positions(column, known)
        found = pc.index_in(values, value_set=pa.array(known, values.type))
        return values_of(found.cast(pa.float64()))


def check_labels(labels: Collection[Any], column: str) -> None:
    """Refuse so many different labels that they are identifiers or measurements rather than classes."""
    if len(labels) > MOST_CLASSES:
        raise DataError(f"the target {column!r} has more than {MOST_CLASSES} values: too many for classes")


class TargetLearner:
    """Sees the target in the first pass, and decides between classification and regression."""

    def __init__(self, field: pa.Field, task: str, categorical: Sequence[str] = (), event: str | None = None) -> None:
        self.column, self.event, self.task = field.name, event, "survival" if event is not None else task
        self.text = self.task != "survival" and (is_text(field.type) or field.name in categorical)
        self.boolean = pa.types.is_boolean(field.type)
        self.labels: set[Any] = set()
        self.numbers = NumberLearner(field.name)

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The target of some rows, which `add` takes."""
        return target_column(batch, self.column, self.event)

    def add(self, column: pa.Array, weight: np.ndarray) -> np.ndarray | Labels:
        """Learn from the target of some rows, all of which have one; returns it as numbers, or as classes."""
        if self.text:
            strings = as_strings(column)
            if self.task == "regression":
                self._refuse(strings, "which regression cannot predict; it needs numbers")
            coded = strings.dictionary_encode()
            seen = Labels(coded.dictionary.to_pylist(), values_of(coded.indices).astype(np.int64))
            self.labels.update(seen.labels)
            if len(self.labels) > MOST_CLASSES:
                self._refuse(strings, f"and it has more than {MOST_CLASSES} values: too many for classes")
            return seen
        values = as_floats(column, self.column)
        if self.task == "survival":
            check_times(np.abs(values), np.ones(len(values)))
        if len(self.labels) <= MOST_CLASSES:
            exact = values_of(column) if pa.types.is_integer(column.type) and not column.null_count else values
            self.labels.update(np.unique(exact).tolist())
        self.numbers.add([column], weight, None)
        if self.task == "classification":
            labels, positions = np.unique(values, return_inverse=True)
            return Labels(labels.tolist(), positions)
        return values

    def _refuse(self, strings: pa.Array, why: str) -> None:
        """Refuse a target of text, with a value that makes it such: the first that is no number, if there is one."""
        words = values_of(filled(pc.invert(PLAIN.valid(strings)), False))
        row = int(np.argmax(words))
        raise BadRow(row, f"the target {self.column!r} is {strings[row].as_py()!r} here, which is text, {why}")

    @property
    def spread(self) -> float:
        """The centred weighted sum of squares of a target of numbers; 0 for text."""
        return float(self.numbers.products[0, 0])

    def merge(self, later: "TargetLearner") -> None:
        """Learn what another learner has seen of later rows."""
        if self.text or len(self.labels) <= MOST_CLASSES:
            self.labels |= later.labels
        self.numbers.merge(later.numbers)

    def target(self) -> Target:
        """The target: classes if asked for, or if it is text or boolean, or has exactly two values."""
        if self.task == "survival":
            return Target(self.column, survival=True, event=self.event)
        classes = self.task == "classification" or self.text or self.boolean or len(self.labels) == 2
        if self.task == "regression" or not classes:
            return Target(self.column)
        check_labels(self.labels, self.column)
        ordered = sorted(self.labels)
        if self.boolean:
            ordered = [bool(label) for label in ordered]
        elif not self.text and all(map(is_whole, ordered)):
            ordered = [int(label) for label in ordered]
        return Target(self.column, tuple(ordered))

    def summary(self) -> ColumnProfile:
        if self.text:
            return ColumnProfile("target", levels=len(self.labels), most_frequent=sorted(self.labels)[:3])
        return replace(self.numbers.summary(), type="target", explains=1.0)

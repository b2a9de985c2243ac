"""The target of a row: a number or several, the position of its label among the classes, or the time of an event."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
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
from riata.data.positive_class import with_positive_last
from riata.data.survival import as_events, check_times
from riata.data.trials import shares_of
from riata.errors import DataError
from riata.schema import SchemaError, build

MOST_CLASSES = 1000
RULE = "a target must be numbers or classes"
TASKS = ("auto", "classification", "regression", "survival")


@dataclass(frozen=True)
class Target:
    """Which column, and its labels in order where they are classes; of times, which column says if there was an event.

    Times without a column of events are negative where there was none (`riata.data.survival`); where that column has
    a value other than 1 of an event, `happened` is it. Of several targets,
    which are numbers, there are `others` beside the first. Of successes, which column has the `trials` of each row.
    """

    column: str
    classes: Sequence[Any] | None = None
    survival: bool = False
    event: str | None = None
    others: tuple[str, ...] = ()
    trials: str | None = None
    happened: str | None = None

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
    there: np.ndarray = ~np.isnan(y if y.ndim == 1 else y[:, 0])
    return there


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


class TargetLearner:
    """Sees the target in the first pass, and decides between classification and regression."""

    def __init__(
        self,
        field: pa.Field,
        task: str,
        categorical: Sequence[str] = (),
        event: str | None = None,
        trials: str | None = None,
        positive: Any = None,
        happened: str | None = None,
    ) -> None:
        self.positive, self.happened = positive, happened  # of two classes, and of events
        task = "survival" if event is not None else "regression" if trials is not None else task
        self.column, self.event, self.trials, self.task = field.name, event, trials, task
        number = task == "survival" or trials is not None
        self.text = not number and (is_text(field.type) or field.name in categorical)
        self.boolean = pa.types.is_boolean(field.type)
        self.labels: set[Any] = set()
        self.numbers = NumberLearner(field.name)
        self.times = (
            NumberLearner(field.name) if task == "survival" else None
        )  # without the signs of events, to be shown

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The target of some rows, which `add` takes."""
        return target_column(batch, self.column, self.event, self.trials, self.happened)

    def there(self, batch: pa.RecordBatch) -> np.ndarray:
        """Which rows have a target."""
        column = self.of(batch)
        return (
            values_of(as_strings(column).is_valid()) if self.text else ~np.isnan(as_floats(column, self.column, RULE))
        )

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
        values = as_floats(column, self.column, RULE)
        if self.times is not None:
            check_times(np.abs(values), np.ones(len(values)))
            self.times.add([arrow_of(np.abs(values))], weight, None)
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
    def spread(self) -> float | None:
        """The centred weighted sum of squares of a target of numbers; 0 for text."""
        return float(self.numbers.products[0, 0])

    def merge(self, later: "TargetLearner") -> None:
        """Learn what another learner has seen of later rows."""
        if self.text or len(self.labels) <= MOST_CLASSES:
            self.labels |= later.labels
        self.numbers.merge(later.numbers)
        if self.times is not None and later.times is not None:
            self.times.merge(later.times)

    def target(self) -> Target:
        """The target: classes if asked for, or if it is text or boolean, or has exactly two values."""
        if self.task == "survival":
            with_positive_last(None, self.positive, self.column)  # which is refused
            if self.happened is not None and not self.numbers.largest > 0.0:
                raise DataError(f"no row has {self.happened!r} in {self.event!r}, so that no event happened")
            return Target(self.column, survival=True, event=self.event, happened=self.happened)
        classes = self.task == "classification" or self.text or self.boolean or len(self.labels) == 2
        if self.task == "regression" or not classes:
            return Target(self.column, with_positive_last(None, self.positive, self.column), trials=self.trials)
        check_labels(self.labels, self.column)
        ordered = sorted(self.labels)
        if self.boolean:
            ordered = [bool(label) for label in ordered]
        elif not self.text and all(map(is_whole, ordered)):
            ordered = [int(label) for label in ordered]
        return Target(self.column, with_positive_last(ordered, self.positive, self.column))

    def summaries(self) -> dict[str, ColumnProfile]:
        """What was found in the column."""
        if self.text:
            labels = sorted(self.labels)
            return {self.column: ColumnProfile("target", levels=len(labels), most_frequent=labels[:3])}
        return {self.column: replace((self.times or self.numbers).summary(), type="target", explains=1.0)}


class TargetsLearner:
    """Sees several targets in the first pass, which are numbers.

    What columns explain is not asked: it would be one answer for each of them.
    """

    def __init__(self, fields: Sequence[pa.Field]) -> None:
        self.each = [TargetLearner(one, "regression") for one in fields]
        self.columns = tuple(one.column for one in self.each)

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The targets of some rows, which `add` takes."""
        return batch.select(list(self.columns))

    def there(self, batch: pa.RecordBatch) -> np.ndarray:
        """Which rows have all targets."""
        there: np.ndarray = np.logical_and.reduce([one.there(batch) for one in self.each])
        return there

    def add(self, rows: pa.RecordBatch, weight: np.ndarray) -> None:
        """Learn from the targets of some rows, all of which have them."""
        for one in self.each:
            one.add(rows.column(one.column), weight)

    def merge(self, later: "TargetsLearner") -> None:
        """Learn what another learner has seen of later rows."""
        for one, other in zip(self.each, later.each, strict=True):
            one.merge(other)

    spread = None

    def target(self) -> Target:
        return Target(self.columns[0], others=self.columns[1:])

    def summaries(self) -> dict[str, ColumnProfile]:
        """What was found in the columns."""
        return {name: replace(found, explains=None) for one in self.each for name, found in one.summaries().items()}

"""What the target is, classes or numbers, learnt in the first pass."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.numbers import PLAIN
from riata.data.columns.arrow_values import arrow_of, filled, values_of
from riata.data.columns.column import BadRow, as_floats, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.numbers import NumberLearner
from riata.data.formats.filesource import is_text
from riata.data.positive_class import with_positive_last
from riata.data.survival import check_times
from riata.data.target import MOST_CLASSES, RULE, Target, check_labels, is_whole, target_column
from riata.errors import DataError


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
        # without the signs that tell events, to be shown
        self.times = NumberLearner(field.name) if task == "survival" else None

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
        return np.logical_and.reduce([one.there(batch) for one in self.each])

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

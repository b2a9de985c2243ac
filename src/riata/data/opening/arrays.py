"""Opening arrays and SciPy matrices, which are in memory already."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from riata.arrays import unmasked
from riata.data.budget import parse_memory
from riata.data.columns.arrow_values import arrow_of
from riata.data.columns.column import BadRow, as_floats
from riata.data.columns.lists import check_numbers, check_values
from riata.data.csr import canonical
from riata.data.formats.frame_columns import NoFeature
from riata.data.formats.source import TARGET, OneColumn
from riata.data.in_memory import InMemory
from riata.data.offset import Offset, in_array, one_of
from riata.data.opening.sources import Reading, role_values
from riata.data.row_marks import MarksGiven
from riata.data.target import target_column
from riata.data.target_learners import TargetLearner
from riata.data.target_names import names_of_targets, split_names
from riata.data.trials import given_shares
from riata.data.whole_numbers import check_sparse, check_whole_numbers
from riata.errors import DataError
from riata.scipy_later import is_sparse


def open_array(
    X: Any,
    target: Any,
    beside: Mapping[str, Any],
    task: str,
    names: Sequence[str] | None = None,
    need_target: bool = True,
    marks: Mapping[str, Any] | None = None,
    positive: Any = None,
) -> InMemory:
    """The dataset of an array or a SciPy matrix: not copied if it is of floats and canonical, checked to be finite.

    `beside` are the weight, offset and exposure that are given for every row, or None.
    """
    X = canonical(X) if is_sparse(X) else unmasked(X)
    if X.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns, not {X.ndim}")
    X, target = _without_target(X, target)
    X = _checked(X, names)
    given = _GivenBeside(beside, X.shape[0])
    if target is None:
        if need_target:
            raise DataError("an array needs a target: an array of one value per row, a column number, or a file")
        return given.dataset(X, np.zeros(X.shape[0]), given.weights, names)
    if (called := names_of_targets(target)) is not None:
        if beside.get("event") is not None or beside.get("trials") is not None or task not in ("auto", "regression"):
            raise DataError(f"the target has {len(called)} columns, which are numbers to predict: give one column")
        columns = [_complete_column(np.asarray(target)[:, k], "target", X.shape[0]) for k in range(len(called))]
        y = np.column_stack([_floats(one, name) for one, name in zip(columns, called, strict=True)])
        data = given.dataset(X, y, given.weights, names)
        data.facts = data.facts.but(targets=called)
    else:
        data = _with_one_target(X, _complete_column(target, "target", X.shape[0]), given, task, names, positive)
    return _with_marks(data, marks)


class _GivenBeside:
    """What is given for every row beside an array: a weight, an offset or an exposure, trials, an event."""

    def __init__(self, values: Mapping[str, Any], n_rows: int) -> None:
        self._values, self._n_rows = values, n_rows
        weights = self._numbers("weight")
        self.weights = None if weights is None else _checked_weights(weights)
        column, exposure = one_of(self._numbers("offset"), self._numbers("exposure"))
        self._role = Offset(exposure=exposure)
        self._offset = None if column is None else in_array(self._role, column)

    @property
    def trials(self) -> np.ndarray | None:
        trials = self._numbers("trials")
        if trials is not None and np.isnan(trials).any():
            raise DataError(f"row {int(np.argmax(np.isnan(trials))) + 1}: the trials are missing; leave the row out")
        return trials

    @property
    def events(self) -> np.ndarray | None:
        return self._numbers("event")

    def _numbers(self, role: str) -> np.ndarray | None:
        values = self._values.get(role)
        return None if values is None else _floats(_column(values, role, self._n_rows), role)

    def dataset(
        self, X: Any, y: np.ndarray, weights: np.ndarray | None, names: Sequence[str] | None, classes: Any = None
    ) -> InMemory:
        """The rows with their offsets."""
        data = InMemory(X, y, weights, names, classes, offset=self._offset)
        if data.facts.offset is not None:
            data.facts = data.facts.but(offset=self._role)
        return data


def _without_target(X: Any, target: Any) -> tuple[Any, Any]:
    """X without the columns that the target names by their numbers, and their values; otherwise both as they are."""
    if isinstance(target, str) and "," in target and all(map(_is_number, split_names(target))):
        target = split_names(target)
    if isinstance(target, list | tuple) and 1 < len(target) != X.shape[0] and all(map(_is_number, target)):
        return _without_columns(X, list(map(int, target)))
    return _without_columns(X, [int(target)]) if _is_number(target) else (X, target)


def _checked(X: Any, names: Sequence[str] | None) -> Any:
    """X in floating-point numbers, all of which are finite."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"an array of {X.dtype} holds no numbers; give a data frame or a file for mixed columns")
    (check_sparse if is_sparse(X) else check_whole_numbers)(X, names)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    try:
        if is_sparse(X):
            check_values(X.data, X.indices, X.indptr)
        else:
            check_numbers(X, "X")
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from bad
    return X


def _with_one_target(
    X: Any, column: pa.Array, given: _GivenBeside, task: str, names: Sequence[str] | None, positive: Any
) -> InMemory:
    """The rows with numbers, shares of trials, times to events or places among classes to predict."""
    weights = given.weights
    if (trials := given.trials) is not None:
        column, task = pa.array(given_shares(_floats(column, "target"), trials, None)[0]), "regression"
        weights = trials if weights is None else weights * trials
    if (events := given.events) is not None:
        column, task = _with_events(column, events), "survival"
    learner = TargetLearner(pa.field(TARGET, column.type), task, positive=positive)
    y = np.zeros(len(column))
    counted = np.arange(len(y)) if weights is None else np.flatnonzero(weights)  # others are as if they were not there
    column = column.take(pa.array(counted))
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # squares that overflow are refused when a model is fitted
            learner.add(column, np.ones(len(counted)))
    except BadRow as bad:
        raise DataError(f"row {counted[bad.row] + 1}: {bad.sentence}") from bad
    found = learner.target()
    labels = found.labels
    if labels is not None and not learner.text:
        labels = labels.astype(column.type.to_pandas_dtype())  # labels keep the type of the array
    y[counted] = found.encode(column)
    data = given.dataset(X, y, weights, names, labels)
    data.facts = data.facts.but(survival=found.survival, trials=trials is not None)
    return data


def _with_marks(data: InMemory, marks: Mapping[str, Any] | None) -> InMemory:
    """The data with what says which rows belong together, where that is given."""
    if marks:
        n_rows = data.n_rows if data.kept is None else len(data.kept)
        given = {role: values if not isinstance(values, str) else _complete_column(values, role, n_rows)
                 for role, values in marks.items()}  # fmt: skip
        data.facts = data.facts.but(marks=MarksGiven(given, n_rows, data.kept))
    return data


def _is_number(column: Any) -> bool:
    """Whether this is the number of a column."""
    return isinstance(column, int | np.integer) or (isinstance(column, str) and column.lstrip("-").isdigit())


def _with_events(column: pa.Array, events: np.ndarray) -> pa.Array:
    """Times with the signs that events give them."""
    rows = pa.RecordBatch.from_arrays([column, arrow_of(events)], names=[TARGET, "event"])
    try:
        return target_column(rows, TARGET, "event")
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from bad


def _without_columns(X: Any, numbers: list[int]) -> tuple[Any, np.ndarray]:
    """The other columns, and those of these numbers, counted from the end if they are negative."""
    for number in numbers:
        if not -X.shape[1] <= number < X.shape[1]:
            raise DataError(
                f"there is no column {number} to predict: the array has {X.shape[1]} columns, counted from 0"
            )
    if len({number % X.shape[1] for number in numbers}) < len(numbers):
        raise DataError(f"the target names a column twice, in {', '.join(map(str, numbers))}: name each once")
    others = np.delete(np.arange(X.shape[1]), numbers)
    columns = X[:, numbers]
    found = columns.toarray() if is_sparse(columns) else np.asarray(columns)
    return X[:, others], found if len(numbers) > 1 else found.ravel()


def _checked_weights(weights: np.ndarray) -> np.ndarray:
    """The weights, if they are finite, not negative, and not all zero."""
    wrong = ~(weights >= 0) | np.isinf(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"row {row + 1}: the weight is {weights[row]}; a weight is a number of zero or more")
    if len(weights) and not weights.any():
        raise DataError("all weights are zero: there are no rows to learn from")
    return weights


def _floats(column: pa.Array, role: str) -> np.ndarray:
    """The numbers of what is given beside an array."""
    try:
        return as_floats(column, role, "numbers are needed there")
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from bad


def _complete_column(given: Any, role: str, n_rows: int) -> pa.Array:
    """The target or a mark: one value per row, none of them missing."""
    column = _column(given, role, n_rows)
    if isinstance(column.type, NoFeature):
        raise DataError(f"the {role} is {column.type}: give numbers, or labels of one type")
    if column.null_count or (pa.types.is_floating(column.type) and not np.isfinite(column.to_numpy()).all()):
        raise DataError(f"the {role} has a value that is missing or not finite; an array must be complete")
    return column


def _column(given: Any, role: str, n_rows: int) -> pa.Array:
    """One value per row."""
    rows = OneColumn(role_values(unmasked(given), role, Reading(parse_memory(None))), role)
    column = pa.Table.from_batches(rows.batches([role], max(n_rows, 1)), rows.schema).column(role).combine_chunks()
    if len(column) != n_rows:
        raise DataError(f"there are {n_rows} rows of data but {len(column)} values of the {role}")
    return column

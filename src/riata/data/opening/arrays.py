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
from riata.data.formats.source import TARGET, OneColumn
from riata.data.in_memory import InMemory
from riata.data.offset import Offset, in_array, one_of
from riata.data.opening.sources import Reading, role_values
from riata.data.row_marks import MarksGiven
from riata.data.target import TargetLearner, target_column
from riata.data.target_names import names_of_targets, split_names
from riata.data.trials import given_shares
from riata.data.whole_numbers import check_whole_numbers
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
    if isinstance(target, str) and target.lstrip("-").isdigit():
        target = int(target)
    if isinstance(target, str) and "," in target and all(map(_is_number, split_names(target))):
        target = list(map(int, split_names(target)))
    if isinstance(target, list | tuple) and 1 < len(target) != X.shape[0] and all(map(_is_number, target)):
        X, target = _without_columns(X, list(map(int, target)))
    if isinstance(target, int | np.integer):
        X, target = _without_columns(X, [int(target)])
    if X.dtype.kind not in "biuf":
        raise DataError(f"an array of {X.dtype} holds no numbers; give a data frame or a file for mixed columns")
    if not is_sparse(X):
        check_whole_numbers(X, names)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    reading = Reading(parse_memory(None))
    try:
        if is_sparse(X):
            check_values(X.data, X.indices, X.indptr)
        else:
            check_numbers(X, "X")
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from bad
    n_rows, weights = X.shape[0], None

    def numbers(role: str) -> np.ndarray | None:
        values = beside.get(role)
        return None if values is None else as_floats(_column(values, role, reading, n_rows), role)

    if (values := numbers("weight")) is not None:
        weights = _checked_weights(values)
    column, exposure = one_of(numbers("offset"), numbers("exposure"))
    role = Offset(exposure=exposure)
    offset = None if column is None else in_array(role, column)
    if target is None:
        if need_target:
            raise DataError("an array needs a target: an array of one value per row, a column number, or a file")
        data = InMemory(X, np.zeros(n_rows), weights, names, offset=offset)
        return _with_role(data, role)
    if (called := names_of_targets(target)) is not None:
        if beside.get("event") is not None or beside.get("trials") is not None or task not in ("auto", "regression"):
            raise DataError(f"the target has {len(called)} columns, which are numbers to predict: give one column")
        columns = [_complete_column(np.asarray(target)[:, k], "target", reading, n_rows) for k in range(len(called))]
        y = np.column_stack([as_floats(one, name) for one, name in zip(columns, called, strict=True)])
        data = _with_role(InMemory(X, y, weights, names, offset=offset), role)
        data.facts = data.facts.but(targets=called)
        return _with_marks(data, marks, reading)
    column = _complete_column(target, "target", reading, n_rows)
    if (trials := numbers("trials")) is not None:
        if np.isnan(trials).any():
            raise DataError(f"row {int(np.argmax(np.isnan(trials))) + 1}: the trials are missing; leave the row out")
        column, task = pa.array(given_shares(as_floats(column, "target"), trials, None)[0]), "regression"
        weights = trials if weights is None else weights * trials
    if (events := numbers("event")) is not None:
        column, task = _with_events(column, events), "survival"
    learner = TargetLearner(pa.field(TARGET, column.type), task, positive=positive)
    counted = np.arange(n_rows) if weights is None else np.flatnonzero(weights)  # others are as if they were not there
    column = column.take(pa.array(counted))
    try:
        learner.add(column, np.ones(len(counted)))
    except BadRow as bad:
        raise DataError(f"row {counted[bad.row] + 1}: {bad.sentence}") from bad
    found = learner.target()
    labels = found.labels
    if labels is not None and not learner.text:
        labels = labels.astype(column.type.to_pandas_dtype())  # labels keep the type of the array
    y = np.zeros(n_rows)
    y[counted] = found.encode(column)
    data = _with_role(InMemory(X, y, weights, names, labels, offset=offset), role)
    data.facts = data.facts.but(survival=found.survival, trials=trials is not None)
    return _with_marks(data, marks, reading)


def _with_marks(data: InMemory, marks: Mapping[str, Any] | None, reading: Reading) -> InMemory:
    """The data with what says which rows belong together, where that is given."""
    if marks:
        n_rows = data.n_rows if data.kept is None else len(data.kept)
        given = {role: values if not isinstance(values, str) else _complete_column(values, role, reading, n_rows)
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


def _with_role(data: InMemory, role: Offset) -> InMemory:
    """The data with what its offsets are, if it has any."""
    if data.facts.offset is not None:
        data.facts = data.facts.but(offset=role)
    return data


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


def _complete_column(given: Any, role: str, reading: Reading, n_rows: int) -> pa.Array:
    """The target or a mark: one value per row, none of them missing."""
    column = _column(given, role, reading, n_rows)
    if column.null_count or (pa.types.is_floating(column.type) and not np.isfinite(column.to_numpy()).all()):
        raise DataError(f"the {role} has a value that is missing or not finite; an array must be complete")
    return column


def _column(given: Any, role: str, reading: Reading, n_rows: int) -> pa.Array:
    """One value per row."""
    rows = OneColumn(role_values(unmasked(given), role, reading), role)
    column = pa.Table.from_batches(rows.batches([role], max(n_rows, 1)), rows.schema).column(role).combine_chunks()
    if len(column) != n_rows:
        raise DataError(f"there are {n_rows} rows of data but {len(column)} values of the {role}")
    return column

"""Times to an event: one number for each row, its time, which is negative where the event had not happened by then.

Rows of the second kind are censored: only that their time is longer is known. The sign says which is which, because
times are positive; so a time and its event pass for one target wherever targets are read, cut, stored or sent.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import string_array, values_of
from riata.data.columns.column import BadRow, as_floats, as_strings, shown
from riata.data.formats.filesource import is_text
from riata.data.positive_class import as_typed
from riata.errors import DataError

ZERO_OR_ONE = "and must be 1 (it happened) or 0 (it had not happened by that time)"
YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")  # cells of text files, as booleans

SHAPE = (
    "y must be times with their events: a structured array with a field of booleans (whether the event happened) and "
    "one of numbers (when, or how long nothing had happened), as scikit-survival has it"
)


def check_times(time: np.ndarray, event: np.ndarray) -> None:
    """Refuse times that are not positive, and events that are neither 0 nor 1; either may be missing (NaN)."""
    wrong = (time <= 0.0) | np.isinf(time)
    if wrong.any():
        row = int(np.argmax(wrong))
        said = "and times to an event are positive: leave such rows out, or count from earlier"
        raise BadRow(row, f"the time is {time[row]:g}, {said}")
    wrong = (event != 0.0) & (event != 1.0) & ~np.isnan(event)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadRow(row, f"the event is {event[row]:g}, {ZERO_OR_ONE}")


def event_and_value(given: Any, columns: Collection[str]) -> tuple[Any, str | None]:
    """The column of events, or what else is given for it, and the value that says that one happened, if that is given.

    'status=2' and ('status', 2) both say that it happened where 'status' is 2.
    """
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and given[0] in columns:
        return given[0], as_typed(given[1])
    if isinstance(given, str) and given not in columns:
        name, equals, value = given.partition("=")
        while equals and name not in columns:  # a name may have an = itself
            more, equals, value = value.partition("=")
            name = f"{name}={more}"
        if equals:
            return name, as_typed(value)
    return given, None


def as_events(column: pa.Array, name: str, value: str | None = None) -> np.ndarray:
    """A column that says of each row whether its event happened, as 1, 0 or NaN; it may be one value that says so."""
    if value is not None:
        return _equal(column, name, value)
    try:
        events = as_floats(column, name)
    except BadRow as bad:
        found = column[bad.row].as_py()
        raise BadRow(bad.row, f"the event in {name!r} is {shown(found)}, {_which(name, found)}") from None
    wrong = (events != 0.0) & (events != 1.0) & ~np.isnan(events)
    if wrong.any():
        row = int(np.argmax(wrong))
        if np.isin(events[~np.isnan(events)], (1.0, 2.0)).all():
            raise BadRow(
                row, f"column {name!r} holds 1 and 2, as R codes censored and dead: say event='{name}=2' if 2 is dead"
            )
        raise BadRow(row, f"the event is {events[row]:g}, {_which(name, f'{events[row]:g}')}")
    return events


def _which(name: str, value: str) -> str:
    """What events must be, or how to say that it is another value."""
    return f"{ZERO_OR_ONE}; or say which value means that it happened, as in event='{name}={value}'"


def _equal(column: pa.Array, name: str, value: str) -> np.ndarray:
    """1 where a column has a value, 0 where it has another, NaN where it has none."""
    if is_text(column.type):
        strings = as_strings(column)
        return values_of(pc.equal(strings, string_array([value], strings.type)[0]).cast(pa.float64()))
    numbers = as_floats(column, name)
    try:
        wanted = float(value.lower() in YES) if value.lower() in (*YES, *NO) else float(value)
    except ValueError:
        raise DataError(
            f"{name!r} holds numbers or truths, none of which is {value!r}: say which of them is that of an event"
        ) from None
    return np.where(np.isnan(numbers), np.nan, (numbers == wanted).astype(np.float64))


def is_structured(y: Any) -> bool:
    """Whether this is an array of several fields."""
    return getattr(getattr(y, "dtype", None), "fields", None) is not None


def from_structured(y: Any) -> np.ndarray:
    """Signed times from what scikit-survival has for a target."""
    if not is_structured(y) or len(y.dtype.fields) != 2 or y.ndim != 1:
        raise DataError(SHAPE)
    first, second = (y[name] for name in y.dtype.fields)
    event, time = (first, second) if first.dtype.kind == "b" or second.dtype.kind != "b" else (second, first)
    if event.dtype.kind not in "biuf" or time.dtype.kind not in "iuf":
        raise DataError(SHAPE)
    event, time = event.astype(np.float64), time.astype(np.float64)
    missing = np.isnan(event) | np.isnan(time)
    if missing.any():
        raise DataError(f"y has no value in row {int(np.argmax(missing)) + 1} (NaN): leave such rows out of X and y")
    try:
        check_times(time, event)
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from None
    return np.where(event == 1.0, time, -time)

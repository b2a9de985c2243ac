"""Times to an event: one number for each row, its time, which is negative where the event had not happened by then.

Rows of the second kind are censored: only that their time is longer is known. The sign says which is which, because
times are positive; so a time and its event pass for one target wherever targets are read, cut, stored or sent.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.column import BadRow, as_floats, shown
from riata.errors import DataError

ZERO_OR_ONE = "and must be 1 (it happened) or 0 (it had not happened by that time)"

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


def as_events(column: pa.Array, name: str) -> np.ndarray:
    """A column that says of each row whether its event happened, as 1, 0 or NaN."""
    try:
        return as_floats(column, name)
    except BadRow as bad:
        raise BadRow(bad.row, f"the event in {name!r} is {shown(column[bad.row].as_py())}, {ZERO_OR_ONE}") from None


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
    signed: np.ndarray = np.where(event == 1.0, time, -time)
    return signed

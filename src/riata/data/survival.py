"""Times to an event: one number for each row, its time, which is negative where the event had not happened by then.

Rows of the second kind are censored: only that their time is longer is known. The sign says which is which, because
times are positive; so a time and its event pass for one target wherever targets are read, cut, stored or sent.
"""

from typing import Any

import numpy as np

from riata.errors import DataError

SHAPE = (
    "y must be times with their events: a structured array with a field of booleans (whether the event happened) and "
    "one of numbers (when, or how long nothing had happened), as scikit-survival has it"
)


def signed_times(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Times of rows, negative without an event; a row that has neither time nor event is an error."""
    wrong = ~(np.isfinite(time) & (time > 0.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"row {row + 1}: {time_fault(time[row])}")
    if event.dtype.kind != "b":
        wrong = ~((event == 0) | (event == 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(f"row {row + 1}: {event_fault(event[row])}")
    return np.where(event.astype(bool), time, -time)


def time_fault(time: Any) -> str:
    """What is wrong with a time."""
    return f"the time is {time:g}, and times to an event are positive: leave such rows out, or count from earlier"


def event_fault(event: Any) -> str:
    """What is wrong with an event."""
    return f"the event is {event!r}, and must be 1 (it happened) or 0 (it had not happened by that time)"


def from_structured(y: Any) -> np.ndarray:
    """Signed times from what scikit-survival has for a target."""
    fields = getattr(getattr(y, "dtype", None), "fields", None)
    if fields is None or len(fields) != 2 or y.ndim != 1:
        raise DataError(SHAPE)
    first, second = (y[name] for name in fields)
    event, time = (first, second) if first.dtype.kind == "b" or second.dtype.kind != "b" else (second, first)
    if event.dtype.kind not in "biuf" or time.dtype.kind not in "iuf":
        raise DataError(SHAPE)
    return signed_times(event, time.astype(np.float64))

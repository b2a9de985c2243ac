"""Whole numbers of 64 bits become floats of 53: where that leaves of a column no more than noise, it is refused."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.errors import DataError

EXACT = 2**53  # whole numbers up to here are floats without loss
ENOUGH = 100  # steps of floating point between the least and the largest number of a column


def check_whole_numbers(X: np.ndarray, names: Any = None) -> None:
    """Refuse columns of large whole numbers that are so near to each other that as floats they are nearly the same."""
    if X.ndim != 2 or X.dtype.kind not in "iu" or X.dtype.itemsize < 8 or not len(X):
        return
    least, most = X.min(axis=0), X.max(axis=0)
    for j in np.flatnonzero((most > EXACT) | (least < -EXACT)):
        check_range(int(least[j]), int(most[j]), f"x{j}" if names is None else str(names[j]))


def check_range(low: int, high: int, name: str, place: str = "") -> None:
    """Refuse a column of whole numbers from `low` to `high` if these are large and near to each other."""
    if 0 < high - low < ENOUGH * np.spacing(float(max(abs(low), abs(high), EXACT))):
        raise DataError(
            f"column {name!r}{place} has whole numbers from {low} to {high}, which floating point hardly tells apart: "
            "subtract a number near them first"
        )


def whole_range(column: pa.Array) -> tuple[int, int] | None:
    """The least and the largest number of a column of whole numbers of 64 bits; None for another."""
    if not (pa.types.is_int64(column.type) or pa.types.is_uint64(column.type)):
        return None
    found = pc.min_max(column).as_py()
    return found["min"], found["max"]

"""Checks of Arrow batches of encoded rows, before compiled code follows their offsets.

Arrow maps a file without reading it: an offset that was damaged on the disk points anywhere in memory.
"""

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import values_of
from riata.data.csr import check_entries
from riata.data.formats.damage import DAMAGE, reason_of
from riata.data.formats.held_file import HeldFile, View
from riata.data.formats.source import DENSE, INDICES, OFFSET, TARGET, VALUES, WEIGHT
from riata.errors import DataError


def read_encoded(file: View | HeldFile, i: int) -> pa.RecordBatch:
    """A batch of a file of encoded rows, with a sentence where it cannot be read."""
    try:
        return file.batch(i)
    except DataError:
        raise
    except DAMAGE as error:
        raise _damaged(error) from error


def check_encoded(batch: pa.RecordBatch, n_features: int, n_classes: int | None = None, look: bool = True) -> None:
    """Refuse a batch that is not as `riata convert` writes it; `look`: also where a number is not finite.

    Of so many classes, a target is the number of one.
    """
    try:
        batch.validate(full=True)
        if any(column.null_count for column in batch.columns):
            raise DataError("a value is missing")
        y, weight = (numbers_of(batch.column(name)) for name in (TARGET, WEIGHT))
        offsets = [values_of(batch.column(OFFSET))] if OFFSET in batch.schema.names else []
        others = [y, weight, *offsets]
        numbers = _dense(batch, n_features) if DENSE in batch.schema.names else _sparse(batch, n_features)
        if any(one.dtype != np.float64 for one in others) or numbers.dtype not in (np.float32, np.float64):
            raise DataError("they are no numbers")
        if not (all(map(_are_finite, others)) and weight.min(initial=1.0) > 0):
            raise DataError("a target or a weight is not finite")
        if n_classes is not None and not _are_codes(y, n_classes):
            raise DataError("a target is not among the classes")
        if look and not _are_finite(numbers):
            raise DataError("a number is not finite")
    except (*DAMAGE, KeyError) as error:
        raise _damaged(error) from error


def numbers_of(column: pa.Array) -> np.ndarray:
    """The numbers of a column; of a column of lists, each as long as the others, a row for each."""
    if not pa.types.is_fixed_size_list(column.type):
        return values_of(column)
    return values_of(column.flatten()).reshape(len(column), column.type.list_size)


def _damaged(error: Exception) -> DataError:
    return DataError(f"the rows of a converted file are damaged ({reason_of(error)}); convert the data again")


def _are_finite(values: np.ndarray) -> bool:
    """A sum is quick; only if it is not finite, every value is looked at."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _are_codes(y: np.ndarray, n: int) -> bool:
    """Whether they are whole numbers from 0 to n - 1."""
    return bool(y.min(initial=0.0) >= 0.0 and y.max(initial=0.0) < n and (y == np.floor(y)).all())


def _dense(batch: pa.RecordBatch, n_features: int) -> np.ndarray:
    numbers = values_of(_list(batch, DENSE).flatten())
    if len(numbers) != batch.num_rows * n_features:
        raise DataError("they are not as wide as they should be")
    return numbers


def _sparse(batch: pa.RecordBatch, n_features: int) -> np.ndarray:
    indices, values = _list(batch, INDICES), _list(batch, VALUES)
    positions, numbers = (values_of(column.flatten()) for column in (indices, values))
    offsets, others = (values_of(column.offsets) for column in (indices, values))
    if not np.array_equal(offsets - offsets[0], others - others[0]):
        raise DataError("there are not as many values as indices")
    if not check_entries(offsets - offsets[0], positions, n_features, batch.num_rows, len(numbers)):
        raise DataError("their indices do not increase")
    return numbers


def _list(batch: pa.RecordBatch, name: str) -> pa.Array:
    """A column, if it is of lists: of one length where the matrix is dense, of any where it is sparse."""
    column = batch.column(name)
    right = pa.types.is_fixed_size_list if name == DENSE else pa.types.is_large_list
    if not right(column.type):
        raise DataError(f"{name!r} is {column.type}, and no list")
    return column

"""Columns of pandas and polars frames as Arrow arrays, also those that Arrow itself cannot convert.

One odd column must not keep the others from being used: what is no feature becomes an array without values, whose type
says what it was, and is dropped with a note like any other column of a type that is no feature.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

UNREADABLE = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


class NoFeature(pa.ExtensionType):  # type: ignore[misc]  # PyArrow has no types
    """The type of a column that Arrow cannot represent."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(pa.null(), "riata.no_feature")

    def __arrow_ext_serialize__(self) -> bytes:
        return self.what.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "NoFeature":
        return cls(serialized.decode())

    def __str__(self) -> str:
        return self.what


def as_column(values: Any) -> pa.Array:
    """A pandas series, or a column of a NumPy array; NaN is a missing value."""
    return _converted(lambda: pa.array(_in_known_types(values), from_pandas=True), values)


def pandas_table(frame: Any) -> pa.Table:
    """A pandas frame, at once where that is possible, else column by column."""
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        if not any(map(_is_extension, table.schema.types)):
            return table
    except UNREADABLE:
        pass
    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    return pa.table([as_column(column) for column in columns], names=list(frame.columns))


def polars_table(frame: Any) -> pa.Table:
    """A polars frame, at once where that is possible, else column by column."""
    try:
        return frame.to_arrow()
    except UNREADABLE:
        arrays = [_converted(partial(_polars_column, column), column) for column in frame.get_columns()]
        return pa.table(arrays, names=frame.columns)


def _polars_column(column: Any) -> pa.Array:
    try:
        return column.to_arrow()
    except UNREADABLE:  # Arrow has no integers of 128 bits
        return column.cast(type(column)([0.0]).dtype).to_arrow()


def _converted(convert: Callable[[], Any], values: Any) -> Any:
    """What `convert` makes, or a column without values whose type says what cannot be converted."""
    try:
        array = convert()
        if not _is_extension(array.type):
            return array
    except UNREADABLE:
        pass
    what = f"of {_kinds(values)}" if str(values.dtype) in ("object", "category") else f"of type {values.dtype}"
    return pa.ExtensionArray.from_storage(NoFeature(what), pa.nulls(len(values)))


def _kinds(values: Any) -> str:
    """The types of Python objects in a column: 'int and str'."""
    kinds = sorted({type(value).__name__ for value in values if value is not None and value == value})
    return " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds) or "nothing"


def _is_extension(kind: pa.DataType) -> bool:
    return isinstance(kind.value_type if pa.types.is_dictionary(kind) else kind, pa.BaseExtensionType)


def _in_known_types(values: Any) -> Any:
    """The values in types that Arrow has: periods as their first instant, intervals as levels, long floats shorter."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return values.astype(np.float64) if dtype.kind == "f" and dtype.itemsize > 8 else values
    kind = type(dtype).__name__
    if kind == "PeriodDtype":
        return values.dt.to_timestamp()
    if kind == "IntervalDtype":
        return values.astype(object).map(str, na_action="ignore")
    if kind == "CategoricalDtype":
        numbers = values.cat.categories.dtype.kind in "biufM"
        return values if numbers else values.cat.rename_categories(str)
    return values.sparse.to_dense() if kind == "SparseDtype" else values

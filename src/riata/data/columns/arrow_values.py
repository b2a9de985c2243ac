"""The values of Arrow columns as NumPy arrays, without PyArrow's own conversion, which imports pandas (slow)."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def values_of(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Numbers and booleans as they are, without a copy where none are null; numbers with nulls as floats with NaN."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return values_of(column.cast(pa.uint8())).view(np.bool_)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return column.to_numpy(zero_copy_only=False)
    if column.null_count:
        floats = column if pa.types.is_floating(kind) else column.cast(pa.float64(), safe=False)
        return values_of(filled(floats, float("nan"))).copy()
    return stored_values(column)


def stored_values(column: pa.Array) -> np.ndarray:
    """Numbers as they are, without a copy; anything where they are null."""
    kind = column.type
    code = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    dtype = np.dtype(f"{code}{kind.bit_width // 8}")
    if len(column) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)


def nulls_of(column: pa.Array) -> np.ndarray | None:
    """Which values are null; None where none are."""
    if not column.null_count:
        return None
    first, skipped = divmod(column.offset, 8)
    bits = np.frombuffer(column.buffers()[0], np.uint8)[first : first + (skipped + len(column) + 7) // 8]
    present = np.unpackbits(bits, bitorder="little")[skipped : skipped + len(column)]
    return present == 0


def filled(column: pa.Array | pa.ChunkedArray, value: float | str) -> pa.Array | pa.ChunkedArray:
    """The column with this value for every null; Arrow's own `fill_null` makes a scalar of it, which imports pandas."""
    if not column.null_count:
        return column
    kind = column.type
    if isinstance(value, str):
        one = string_array([value], kind)
    else:
        number = np.array([value], np.float64 if pa.types.is_floating(kind) else np.int64)
        wide = pa.float64() if pa.types.is_floating(kind) else pa.int64()
        one = pa.Array.from_buffers(wide, 1, [None, pa.py_buffer(number)]).cast(kind)
    return pc.coalesce(column, one[0])


def arrow_of(values: np.ndarray, null: np.ndarray | None = None) -> pa.Array:
    """A column of an array of native byte order, null where it is said so.

    Arrow's own `array` imports pandas: it is left to strings, dates and the like.
    """
    if values.dtype.kind not in "biuf":
        return pa.array(values, mask=null)
    present = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    content = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [present, pa.py_buffer(content)])


def string_array(strings: Sequence[str], kind: pa.DataType) -> pa.Array:
    """An Arrow array of strings of this type."""
    return bytes_array([string.encode() for string in strings]).cast(pa.large_string()).cast(kind)


def bytes_array(content: Sequence[bytes]) -> pa.Array:
    """An Arrow array of bytes."""
    offsets = np.cumsum([0, *map(len, content)], dtype=np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(content))]
    return pa.Array.from_buffers(pa.large_binary(), len(content), buffers)


@cache
def string_scalar(string: str) -> pa.Scalar:
    """A string for functions of Arrow."""
    return string_array([string], pa.string())[0]

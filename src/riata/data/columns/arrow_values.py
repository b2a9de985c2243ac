"""The values of Arrow columns as NumPy arrays, without PyArrow's own conversion, which imports pandas (slow)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa


def values_of(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Numbers and booleans as they are, without a copy where none are null; numbers with nulls as floats with NaN."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return values_of(column.cast(pa.uint8())).view(np.bool_)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        values: np.ndarray = column.to_numpy(zero_copy_only=False)
        return values
    if column.null_count:
        floats = column if pa.types.is_floating(kind) else column.cast(pa.float64(), safe=False)
        dtype = np.dtype(f"f{floats.type.bit_width // 8}")
        filled = np.frombuffer(floats.buffers()[1], dtype, len(floats), floats.offset * dtype.itemsize).copy()
        filled[values_of(column.is_null())] = np.nan  # a scalar of Arrow that is NaN imports pandas
        return filled
    code = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    dtype = np.dtype(f"{code}{kind.bit_width // 8}")
    if len(column) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)


def string_array(strings: Sequence[str], kind: pa.DataType) -> pa.Array:
    """An Arrow array of strings of this type."""
    content = [string.encode() for string in strings]
    offsets = np.cumsum([0, *map(len, content)], dtype=np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(content))]
    return pa.Array.from_buffers(pa.large_string(), len(content), buffers).cast(kind)

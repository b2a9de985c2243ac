"""Bringing near what will be needed soon: a sweep over rows in any order would wait for the main memory half the time.

Dense rows, and what is remembered of their features, lie in order: the processor sees that for itself.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types, uint64
from numba.extending import intrinsic, overload

from riata.kernels.rows import DenseRows, Rows, span

INT32, BYTES = ir.IntType(32), ir.IntType(8).as_pointer()
READ, KEEP, DATA = INT32(0), INT32(3), INT32(1)
LINE = 8  # float64 of a line of the cache


def row_address(pointer: Any, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Of array[row], the first two arguments; the row is not counted from the end."""
    array, row = arguments[:2]
    parts = context.make_array(signature.args[0])(context, builder, array)
    stride = builder.extract_value(parts.strides, 0)
    row = context.cast(builder, row, signature.args[1], types.intp)
    return builder.inttoptr(builder.add(builder.ptrtoint(parts.data, row.type), builder.mul(row, stride)), pointer)


@intrinsic
def prefetch(typing_context: Any, array: Any, row: Any) -> Any:
    """Ask for the memory of array[row], without waiting for it."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(BYTES, context, builder, signature, arguments)
        kind = ir.FunctionType(ir.VoidType(), [BYTES, INT32, INT32, INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [BYTES], kind)
        builder.call(function, [address, READ, KEEP, DATA])
        return context.get_dummy_value()

    return types.void(array, row), compiled


def fetch_row(rows: Rows, i: int) -> None:
    """Bring row i near."""


@overload(fetch_row)
def _fetch_row(rows: Any, i: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any) -> Any:
            return None

        return dense

    def csr(rows: Any, i: Any) -> None:
        start, stop = span(rows.indptr, i)
        for p in range(start, stop, uint64(LINE)):
            prefetch(rows.indices, p)
            prefetch(rows.data, p)

    return csr


def fetch_memory(rows: Rows, i: int, memory: np.ndarray) -> None:
    """Bring near the rows of `memory` that belong to the features of row i."""


@overload(fetch_memory)
def _fetch_memory(rows: Any, i: Any, memory: Any) -> Any:
    if rows.instance_class is DenseRows:

        def dense(rows: Any, i: Any, memory: Any) -> Any:
            return None

        return dense

    def csr(rows: Any, i: Any, memory: Any) -> None:
        start, stop = span(rows.indptr, i)
        for p in range(start, stop):
            prefetch(memory, uint64(rows.indices[p]))

    return csr

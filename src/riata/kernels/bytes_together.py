"""Many bytes of text at once: looked through and copied 32 at a time, digits read 8 at a time.

Byte by byte a processor guesses where a cell ends, and is wrong where cells have different lengths.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from riata.kernels.compiled import compiled, uint64
from riata.kernels.prefetch import row_address

AT_ONCE = 32
DIGITS_AT_ONCE = 8
BYTE, BITS = ir.IntType(8), ir.IntType(AT_ONCE)
VECTOR = ir.VectorType(BYTE, AT_ONCE)
ZEROS, HIGH, CARRY = (np.uint64(byte * 0x0101010101010101) for byte in (0x30, 0xF0, 0x06))
PAIRS, HUNDREDS, ONES = np.uint64(0x000000FF000000FF), np.uint64(0x000F424000000064), np.uint64(0x0000271000000001)


@intrinsic
def where(typing_context: Any, text: Any, at: Any, a: Any, b: Any) -> Any:
    """Which of the 32 bytes of a text from `at` on are a or b: a bit for each, the first is the lowest."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(VECTOR.as_pointer(), context, builder, signature, arguments)
        letters = builder.load(address, align=1)
        found = [builder.icmp_unsigned("==", letters, _spread(builder, byte)) for byte in arguments[2:]]
        return builder.zext(builder.bitcast(builder.or_(*found), BITS), ir.IntType(64))

    return types.uint64(text, at, types.uint8, types.uint8), code


@intrinsic
def lowest(typing_context: Any, bits: Any) -> Any:
    """The place of the lowest bit that is set; 64 where none is."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), code


@intrinsic
def copy_together(typing_context: Any, text: Any, at: Any, out: Any, to: Any) -> Any:
    """Copy 32 bytes."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ends = []
        for place in (0, 2):
            one = types.void(*signature.args[place : place + 2])
            ends.append(row_address(VECTOR.as_pointer(), context, builder, one, arguments[place : place + 2]))
        builder.store(builder.load(ends[0], align=1), ends[1], align=1)
        return context.get_dummy_value()

    return types.void(text, at, out, to), code


@intrinsic
def _eight(typing_context: Any, text: Any, at: Any) -> Any:
    """Eight bytes as one number, the first of which is the lowest."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(ir.IntType(64).as_pointer(), context, builder, signature, arguments)
        return builder.load(address, align=1)

    return types.uint64(text, at), code


def _spread(builder: Any, byte: Any) -> Any:
    """A byte in all places."""
    empty = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(empty, byte, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), AT_ONCE), [0] * AT_ONCE))


@compiled(nogil=True, inline="always")
def few_digits(text: np.ndarray, at: np.uint64, n: np.uint64) -> tuple[bool, np.uint64]:
    """Whether the n bytes from `at` on, 1 to 8, are digits, and their number; there must be 8 bytes to read."""
    four = n * uint64(4)  # bits: to shift all 64 of them at once means nothing
    before = uint64(32) - four
    letters = ((_eight(text, at) << before) << before) | ((ZEROS >> four) >> four)  # zeros come before them
    are_digits = (letters & HIGH) == ZEROS and ((letters + CARRY) & HIGH) == ZEROS
    pairs = letters - ZEROS
    pairs = pairs * uint64(10) + (pairs >> uint64(8))
    number = ((pairs & PAIRS) * HUNDREDS + ((pairs >> uint64(16)) & PAIRS) * ONES) >> uint64(32)
    return are_digits, number


@compiled(nogil=True)
def places_of(text: np.ndarray, a: int, b: int, places: np.ndarray) -> int:
    """Where a text has a or b; returns how many these are. `places` has room for 32 more."""
    n, one, at, end = uint64(0), uint64(1), uint64(0), uint64(text.shape[0])
    while at + uint64(AT_ONCE) <= end:
        bits, some = where(text, at, a, b), n
        while bits:  # eight at a time, of which those that are none are overwritten: how many there are varies
            for k in range(uint64(8)):
                places[some + k] = at + lowest(bits)
                n += uint64(bits != uint64(0))
                bits &= bits - one
            some += uint64(8)
        at += uint64(AT_ONCE)
    while at < end:
        if text[at] == a or text[at] == b:
            places[n] = at
            n += one
        at += one
    return n

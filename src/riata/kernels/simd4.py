"""Four float64 side by side in one register: a number of each of four lanes.

Numba makes vector instructions of long loops only, and would take the lanes one after the other. A four is a type of
its own, with +, -, * and / by another one or by a float: a sweep over lanes then reads, and costs, as if there were
one.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from riata.kernels.prefetch import INT32, row_address

VECTOR = ir.VectorType(ir.DoubleType(), 4)
ALIGNMENT = 8  # bytes: a four may begin at any float64


class Four(types.Type):
    """Numba's type of them."""

    def __init__(self) -> None:
        super().__init__("Four")


FOUR = Four()


@register_model(Four)
class FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _let(operation: Callable[[Any, Any], Any], instruction: str) -> None:
    """Let an operator take two fours, or one and a float."""

    @type_callable(operation)
    def typer(context: Any) -> Any:
        def result(a: Any, b: Any) -> Any:
            return FOUR if FOUR in (a, b) and {a, b} <= {FOUR, types.float64} else None

        return result

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*(_spread(builder, value) for value in arguments))

    for pair in ((Four, Four), (Four, types.Float), (types.Float, Four)):
        lower_builtin(operation, *pair)(compiled)


def _spread(builder: Any, value: Any) -> Any:
    """A float in all four places; a four as it is."""
    if value.type == VECTOR:
        return value
    empty = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(empty, value, INT32(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(INT32, 4), [0] * 4))


_let(operator.add, "fadd")
_let(operator.sub, "fsub")
_let(operator.mul, "fmul")
_let(operator.truediv, "fdiv")


@intrinsic
def load(typing_context: Any, array: Any, row: Any) -> Any:
    """The first four of a row of a matrix; those of a vector from `row` on."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(VECTOR.as_pointer(), context, builder, signature, arguments)
        return builder.load(address, align=ALIGNMENT)

    return FOUR(array, row), compiled


@intrinsic
def store(typing_context: Any, array: Any, row: Any, four: Any) -> Any:
    """Put a four where `load` would find it."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(VECTOR.as_pointer(), context, builder, signature, arguments)
        builder.store(arguments[2], address, align=ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, row, FOUR), compiled


@intrinsic
def root(typing_context: Any, x: Any) -> Any:
    """The square roots of a four; that of a float, for what is done with both."""
    kind, name = (FOUR, "llvm.sqrt.v4f64") if x == FOUR else (types.float64, "llvm.sqrt.f64")

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(arguments[0].type, [arguments[0].type])
        return builder.call(get_or_insert_function(builder.module, function, name), arguments)

    return kind(kind), compiled


@intrinsic
def soft(typing_context: Any, z: Any, level: Any) -> Any:
    """z - clip(z, -level, level), of fours."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        z, high = arguments
        low = builder.fsub(ir.Constant(VECTOR, [0.0] * 4), high)
        clipped = builder.select(builder.fcmp_ordered(">", z, low), z, low)
        clipped = builder.select(builder.fcmp_ordered("<", clipped, high), clipped, high)
        return builder.fsub(z, clipped)

    return FOUR(FOUR, FOUR), compiled


@intrinsic
def any_above(typing_context: Any, a: Any, b: Any) -> Any:
    """Whether any number of a four is above that of another in its place, or is none (NaN)."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        above = builder.bitcast(builder.fcmp_unordered(">", *arguments), ir.IntType(4))
        return builder.icmp_unsigned("!=", above, ir.Constant(ir.IntType(4), 0))

    return types.boolean(FOUR, FOUR), compiled

"""The losses again, one row at a time, for compiled sweeps: chosen by a small integer, so that numba can cache them.

`riata.losses` is the definition; a test holds the two together. Where rows have an offset, y is the pair of target
and offset, an array of two, and the margin is moved by it. The larger ones are compiled once, and put into loops by
LLVM: put there before that, they would be compiled anew with every loop.
"""

import math
from typing import Any

from riata.kernels.compiled import before_compiling, compiled
from riata.kernels.rows import FAST
from riata.losses import Loss
from riata.losses.huber import HUBER_BEND

CODES = range(5)  # of the losses below


def code_of(loss: Loss) -> int:
    """The code of a loss that is here: loops over rows would take any other for one of these."""
    if loss.code is None or loss.code not in CODES:
        raise ValueError(f"loss {loss.name!r} has the code {loss.code}, and no compiled loss has it")
    return loss.code


def with_offset(y: Any, z: float) -> tuple[float, float]:
    """The target and the margin of a row, moved by its offset if it has one: numba compiles one of the two below."""
    return (y, z) if isinstance(y, float) else (y[0], z + y[1])


@before_compiling
def _let_numba_see_offsets() -> None:
    from numba import types
    from numba.extending import overload

    @overload(with_offset, inline="always")
    def _with_offset(y: Any, z: Any) -> Any:
        if isinstance(y, types.Array):

            def moved(y: Any, z: Any) -> Any:
                return y[0], z + y[1]

            return moved

        def as_it_is(y: Any, z: Any) -> Any:
            return y, z

        return as_it_is


@compiled(inline="always")
def derivative(code: int, target: Any, margin: float) -> float:
    """d loss / dz."""
    y, z = with_offset(target, margin)
    if code == 0:
        return z - y
    if code == 1:
        return -y / (1.0 + math.exp(min(y * z, 700.0)))  # exp overflows above 709
    if code == 2:
        return -y * max(1.0 - y * z, 0.0)
    if code == 3:
        return min(max(z - y, -HUBER_BEND), HUBER_BEND)
    return math.exp(min(z, 700.0)) - y


@compiled(forceinline=True, fastmath=FAST)
def second_derivative(code: int, target: Any, margin: float) -> float:
    """d^2 loss / dz^2."""
    y, z = with_offset(target, margin)
    if code == 0:
        return 1.0
    if code == 1:
        e = math.exp(-abs(z))
        return e / (1.0 + e) ** 2
    if code == 2:
        return 1.0 if y * z < 1.0 else 0.0
    if code == 3:
        return 1.0 if abs(y - z) < HUBER_BEND else 0.0
    return math.exp(min(z, 700.0))


@compiled(inline="always")
def value(code: int, target: Any, margin: float) -> float:
    """The loss itself."""
    y, z = with_offset(target, margin)
    if code == 0:
        return 0.5 * (y - z) ** 2
    if code == 1:
        m = y * z
        return math.log1p(math.exp(-abs(m))) + max(-m, 0.0)
    if code == 2:
        return 0.5 * max(1.0 - y * z, 0.0) ** 2
    if code == 3:
        r = abs(y - z)
        near = min(r, HUBER_BEND)
        return near * (r - 0.5 * near)
    return math.exp(min(z, 700.0)) - y * z + (y * math.log(y) - y if y > 0.0 else 0.0)


@compiled(forceinline=True, fastmath=FAST)
def value_and_derivative(code: int, target: Any, margin: float) -> tuple[float, float]:
    """Both, with one exponential for the logistic loss."""
    if code == 1:
        y, z = with_offset(target, margin)
        m = y * z
        e = math.exp(-abs(m))
        return math.log1p(e) + max(-m, 0.0), -y * (e if m > 0.0 else 1.0) / (1.0 + e)
    return value(code, target, margin), derivative(code, target, margin)

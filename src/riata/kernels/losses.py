"""The losses again, one row at a time, for compiled sweeps: chosen by a small integer, so that numba can cache them.

A loss with a parameter is the pair of its code and that (`riata.kernels.deviances`): the type of a loss tells numba
which of the two ways to compile.

`riata.losses` is the definition; a test holds the two together. Where rows have an offset, y is the pair of target
and offset, an array of two, and the margin is moved by it. The larger ones are compiled once, and put into loops by
LLVM: put there before that, they would be compiled anew with every loop.
"""

import math
from collections.abc import Callable
from typing import Any

from riata.kernels.compiled import before_compiling, compiled
from riata.kernels.deviances import (
    CLOGLOG,
    GAMMA,
    HUBER,
    NEGATIVE_BINOMIAL,
    PROBIT,
    QUANTILE,
    TWEEDIE,
    deviance_derivative,
    deviance_second_derivative,
    deviance_value,
)
from riata.kernels.logistic import exp_and_log, logistic
from riata.kernels.rows import FAST
from riata.losses import Loss

LOGISTIC = 1
CODES = (0, LOGISTIC, 2, 4, 9)  # of the losses below
CODES_OF_PAIRS = (HUBER, GAMMA, TWEEDIE, NEGATIVE_BINOMIAL, QUANTILE, PROBIT, CLOGLOG)
Coded = int | tuple[int, float]  # a loss, as compiled loops take it


def code_of(loss: Loss) -> Coded:
    """The code of a loss that is here, with its parameter: loops would take any other for one of these."""
    if loss.code not in (CODES if loss.parameter is None else CODES_OF_PAIRS) or loss.code is None:
        raise ValueError(f"loss {loss.name!r} has the code {loss.code}, and no compiled loss has it")
    return loss.code if loss.parameter is None else (loss.code, loss.parameter)


def with_offset(y: Any, z: float) -> tuple[float, float]:
    """The target and the margin of a row, moved by its offset if it has one: numba compiles one of the two below."""
    return (y, z) if isinstance(y, float) else (y[0], z + y[1])


def is_logistic(loss: Coded) -> bool:
    """Whether it is that one: a loop of its own has vector instructions, where one that can take any loss has calls."""
    return loss == LOGISTIC


@before_compiling
def _let_numba_see_types() -> None:
    from numba import types
    from numba.extending import overload

    @overload(is_logistic)
    def _is_logistic(loss: Any) -> Any:
        if isinstance(loss, types.BaseTuple):

            def with_parameter(loss: Any) -> Any:
                return False

            return with_parameter

        def without(loss: Any) -> Any:
            return loss == LOGISTIC

        return without

    @overload(with_offset)
    def _with_offset(y: Any, z: Any) -> Any:
        if isinstance(y, types.Array):

            def moved(y: Any, z: Any) -> Any:
                return y[0], z + y[1]

            return moved

        def as_it_is(y: Any, z: Any) -> Any:
            return y, z

        return as_it_is


@compiled(forceinline=True, fastmath=FAST)
def derivative(loss: Coded, target: Any, margin: float) -> float:
    """d loss / dz."""
    y, z = with_offset(target, margin)
    return slope_of(loss, y, z)


@compiled(inline="always")
def _derivative(code: int, y: float, z: float) -> float:
    if code == 0:
        return z - y
    if code == LOGISTIC:
        return -y / (1.0 + math.exp(min(y * z, 700.0)))  # exp overflows above 709
    if code == 2:
        return -y * max(1.0 - y * z, 0.0)
    if code == 9:
        e = math.exp(-abs(z))
        up, down = (1.0, e) if z > 0.0 else (e, 1.0)
        return ((1.0 - y) * up - y * down) / (1.0 + e)
    return math.exp(min(z, 700.0)) - y


@compiled(forceinline=True, fastmath=FAST)
def second_derivative(loss: Coded, target: Any, margin: float) -> float:
    """d^2 loss / dz^2."""
    y, z = with_offset(target, margin)
    return curvature_of(loss, y, z)


@compiled(inline="always")
def _second_derivative(code: int, y: float, z: float) -> float:
    if code == 0:
        return 1.0
    if code == LOGISTIC or code == 9:
        e = math.exp(-abs(z))
        return e / (1.0 + e) ** 2
    if code == 2:
        return 1.0 if y * z < 1.0 else 0.0
    return math.exp(min(z, 700.0))


@compiled(forceinline=True, fastmath=FAST)
def value(loss: Coded, target: Any, margin: float) -> float:
    """The loss itself."""
    y, z = with_offset(target, margin)
    return cost_of(loss, y, z)


@compiled(inline="always")
def _value(code: int, y: float, z: float) -> float:
    if code == 0:
        return 0.5 * (y - z) ** 2
    if code == LOGISTIC:
        m = y * z
        return exp_and_log(m)[1] + max(-m, 0.0)
    if code == 2:
        return 0.5 * max(1.0 - y * z, 0.0) ** 2
    if code == 9:
        entropy = (y * math.log(y) if y > 0.0 else 0.0) + ((1.0 - y) * math.log(1.0 - y) if y < 1.0 else 0.0)
        return math.log1p(math.exp(-abs(z))) + ((1.0 - y) * z if z > 0.0 else -y * z) + entropy
    return math.exp(min(z, 700.0)) - y * z + (y * math.log(y) - y if y > 0.0 else 0.0)


@compiled(forceinline=True, fastmath=FAST)
def value_and_derivative(loss: Coded, target: Any, margin: float) -> tuple[float, float]:
    """Both, with one exponential for the logistic loss and that of counts."""
    y, z = with_offset(target, margin)
    return cost_and_slope_of(loss, y, z)


@compiled(inline="always")
def _value_and_derivative(code: int, y: float, z: float) -> tuple[float, float]:
    if code == LOGISTIC:
        cost, slope, _ = logistic(y, z)
        return cost, slope
    if code == 4:
        mean = math.exp(min(z, 700.0))
        return mean - y * z + (y * math.log(y) - y if y > 0.0 else 0.0), mean - y
    return _value(code, y, z), _derivative(code, y, z)


@compiled(forceinline=True, fastmath=FAST)
def value_and_both_derivatives(loss: Coded, target: Any, margin: float) -> tuple[float, float, float]:
    """The loss, d loss / dz and d^2 loss / dz^2, with one exponential for the logistic loss."""
    y, z = with_offset(target, margin)
    return all_of(loss, y, z)


@compiled(inline="always")
def _value_and_both_derivatives(code: int, y: float, z: float) -> tuple[float, float, float]:
    if code == LOGISTIC:
        return logistic(y, z)
    cost, slope = _value_and_derivative(code, y, z)
    return cost, slope, _second_derivative(code, y, z)


@compiled(inline="always")
def _deviance_and_derivative(code: int, parameter: float, y: float, z: float) -> tuple[float, float]:
    return deviance_value(code, parameter, y, z), deviance_derivative(code, parameter, y, z)


@compiled(inline="always")
def _deviance_and_both_derivatives(code: int, parameter: float, y: float, z: float) -> tuple[float, float, float]:
    cost, slope = _deviance_and_derivative(code, parameter, y, z)
    return cost, slope, deviance_second_derivative(code, parameter, y, z)


def _by_type(of_code: Any, of_pair: Any) -> Callable[[Coded, float, float], Any]:
    """A function of a loss, a target and a margin, for a code or a pair: numba compiles one of the two below."""

    def of_loss(loss: Coded, y: float, z: float) -> Any:
        return of_pair.interpreted(*loss, y, z) if isinstance(loss, tuple) else of_code.interpreted(loss, y, z)

    @before_compiling
    def _let_numba_see_both() -> None:
        from numba import types
        from numba.extending import overload

        code_alone, pair = of_code.machine, of_pair.machine

        @overload(of_loss)
        def _of_loss(loss: Any, y: Any, z: Any) -> Any:
            if isinstance(loss, types.BaseTuple):

                def with_parameter(loss: Any, y: Any, z: Any) -> Any:
                    return pair(loss[0], loss[1], y, z)

                return with_parameter

            def without(loss: Any, y: Any, z: Any) -> Any:
                return code_alone(loss, y, z)

            return without

    return of_loss


slope_of = _by_type(_derivative, deviance_derivative)
curvature_of = _by_type(_second_derivative, deviance_second_derivative)
cost_of = _by_type(_value, deviance_value)
cost_and_slope_of = _by_type(_value_and_derivative, _deviance_and_derivative)
all_of = _by_type(_value_and_both_derivatives, _deviance_and_both_derivatives)

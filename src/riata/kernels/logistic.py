"""The logistic loss in loops over rows: exponential and logarithm as polynomials, of several rows at once.

Those of the C library are called row by row, and a loop with a call has no vector instructions: it takes up to ten
times as long. Both are within a few units of the last digit.
"""

import math

from riata.kernels.compiled import before_compiling, compiled

WITHOUT_REORDERING = {"contract", "nsz"}  # x + SHIFT - SHIFT is x rounded, and no x
LOG2_E, LN2, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.6931471805599453, 0.6931471803691238, 1.9082149292705877e-10
SHIFT = 1.5 * 2.0**52  # a float64 of that size has no digits after the point, and its last bits count from 0
SMALLEST = -700.0  # exp of less is no number that counts
TO_HALF = 0.41421356237309503  # log(1 + e) of more is log(2) + log(1 + (e - 1) / 2)


def exp_and_log(m: float) -> tuple[float, float]:
    """exp(-|m|) and log(1 + exp(-|m|)): numba compiles the polynomials below."""
    e = math.exp(-abs(m))
    return e, math.log1p(e)


def power_of_two(shifted: float) -> float:
    """2^k, of k + SHIFT."""
    return math.ldexp(1.0, int(shifted - SHIFT))


@compiled(forceinline=True, error_model="numpy", fastmath=WITHOUT_REORDERING)
def logistic(y: float, z: float) -> tuple[float, float, float]:
    """The loss, its slope and its curvature."""
    m = y * z
    e, log = exp_and_log(m)
    less = 1.0 / (1.0 + e)
    return log + max(-m, 0.0), -y * (e if m > 0.0 else 1.0) * less, e * less * less


@compiled(forceinline=True, error_model="numpy", fastmath=WITHOUT_REORDERING)
def _exp_and_log(m: float) -> tuple[float, float]:
    e = _exp(max(-abs(m), SMALLEST))
    return e, _log_of_one_and(e)


@compiled(forceinline=True, error_model="numpy", fastmath=WITHOUT_REORDERING)
def _exp(x: float) -> float:
    """Of a number from SMALLEST to 0: 2^k times the Taylor series of what is left."""
    shifted = x * LOG2_E + SHIFT
    k = shifted - SHIFT
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    first = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0))
    second = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    third = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0)
    return (1.0 + (r + r2 * (first + r4 * (second + r4 * third)))) * power_of_two(shifted)


@compiled(forceinline=True, error_model="numpy", fastmath=WITHOUT_REORDERING)
def _log_of_one_and(e: float) -> float:
    """log(1 + e) of a number from 0 to 1: the series of 2 artanh(s), where s = t / (2 + t) for 1 + t."""
    large = e > TO_HALF
    t = 0.5 * (e - 1.0) if large else e
    s = t / (2.0 + t)
    q = s * s
    q2 = q * q
    q4 = q2 * q2
    first = (1.0 / 3.0 + q * (1.0 / 5.0)) + q2 * (1.0 / 7.0 + q * (1.0 / 9.0))
    second = (1.0 / 11.0 + q * (1.0 / 13.0)) + q2 * (1.0 / 15.0 + q * (1.0 / 17.0))
    third = 1.0 / 19.0 + q * (1.0 / 21.0)
    series = 2.0 * (s + s * q * (first + q4 * (second + q4 * third)))
    return series + (LN2 if large else 0.0)


@before_compiling
def _let_numba_see_polynomials() -> None:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    polynomials, bias = _exp_and_log.machine, 1023

    @intrinsic
    def from_last_bits(typing_context, shifted):  # type: ignore[no-untyped-def]
        def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            whole = ir.IntType(64)
            exponent = builder.add(builder.bitcast(arguments[0], whole), whole(bias))
            return builder.bitcast(builder.shl(exponent, whole(52)), ir.DoubleType())

        return types.float64(types.float64), code

    @overload(power_of_two)
    def _power_of_two(shifted):  # type: ignore[no-untyped-def]
        def by_bits(shifted):  # type: ignore[no-untyped-def]
            return from_last_bits(shifted)

        return by_bits

    @overload(exp_and_log)
    def _both(m):  # type: ignore[no-untyped-def]
        def by_polynomials(m):  # type: ignore[no-untyped-def]
            return polynomials(m)

        return by_polynomials

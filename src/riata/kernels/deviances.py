"""Losses with a parameter, one row at a time: the twins of Huber, gamma, Tweedie, negative binomial
and quantiles; and of probit and complementary log-log, which have none.

They are apart from the losses that a bare integer stands for, so that only fits of these compile them.
"""

import math

from riata.kernels.binary_links import (
    cloglog_derivative,
    cloglog_second_derivative,
    cloglog_value,
    probit_derivative,
    probit_second_derivative,
    probit_value,
)
from riata.kernels.compiled import compiled

HUBER, GAMMA, TWEEDIE, NEGATIVE_BINOMIAL, QUANTILE, PROBIT, CLOGLOG = 3, 5, 6, 7, 8, 10, 11
LARGEST = 700.0  # exp overflows above 709


@compiled(inline="always")
def deviance_value(code: int, parameter: float, y: float, z: float) -> float:
    """The loss itself."""
    if code == HUBER:
        r = abs(y - z)
        near = min(r, parameter)
        return near * (r - 0.5 * near)
    if code == GAMMA:
        excess = math.log(y) - z
        return math.expm1(min(excess, LARGEST)) - excess
    if code == TWEEDIE:
        up, down = parameter - 1.0, 2.0 - parameter
        falling, rising = math.exp(min(-up * z, LARGEST)), math.exp(min(down * z, LARGEST))
        return y * falling / up + rising / down - y**down / (up * down)
    if code == PROBIT:
        return probit_value(y, z)
    if code == CLOGLOG:
        return cloglog_value(y, z)
    if code == QUANTILE:
        return max(parameter * (y - z), (1.0 - parameter) * (z - y))
    x = z - math.log(parameter)
    soft = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    known = y * math.log(y) if y > 0.0 else 0.0
    return known - y * z + (y + parameter) * (soft - math.log1p(y / parameter))


@compiled(inline="always")
def deviance_derivative(code: int, parameter: float, y: float, z: float) -> float:
    """d loss / dz."""
    if code == HUBER:
        return min(max(z - y, -parameter), parameter)
    if code == GAMMA:
        return -math.expm1(min(math.log(y) - z, LARGEST))
    if code == TWEEDIE:
        up, down = parameter - 1.0, 2.0 - parameter
        return math.exp(min(down * z, LARGEST)) - y * math.exp(min(-up * z, LARGEST))
    if code == PROBIT:
        return probit_derivative(y, z)
    if code == CLOGLOG:
        return cloglog_derivative(y, z)
    if code == QUANTILE:
        return 0.0 if z == y else (1.0 if z > y else 0.0) - parameter
    x = z - math.log(parameter)
    return (y + parameter) / (1.0 + math.exp(min(-x, LARGEST))) - y


@compiled(inline="always")
def deviance_second_derivative(code: int, parameter: float, y: float, z: float) -> float:
    """d^2 loss / dz^2."""
    if code == HUBER:
        return 1.0 if abs(y - z) < parameter else 0.0
    if code == GAMMA:
        return math.exp(min(math.log(y) - z, LARGEST))
    if code == TWEEDIE:
        up, down = parameter - 1.0, 2.0 - parameter
        return down * math.exp(min(down * z, LARGEST)) + up * y * math.exp(min(-up * z, LARGEST))
    if code == PROBIT:
        return probit_second_derivative(y, z)
    if code == CLOGLOG:
        return cloglog_second_derivative(y, z)
    if code == QUANTILE:
        return 0.0
    e = math.exp(-abs(z - math.log(parameter)))
    return (y + parameter) * e / (1.0 + e) ** 2

"""Probit and complementary log-log losses, one row at a time: the twins of `riata.losses.probit` and `.cloglog`.

Compiled once, and called by loops: they are too large to be put into each of them.
"""

import math

from riata.kernels.compiled import compiled
from riata.losses.cloglog import LARGEST, SMALL
from riata.losses.normal import CURVATURE, REACH, ROOT_2, ROOT_PI, SCALED_TAIL


@compiled()
def _tail(x: float) -> float:
    """`riata.losses.normal.tail`."""
    s = x / ROOT_2
    t = 1.0 - 2.0 * REACH / (s + REACH)
    ahead, here = 0.0, 0.0
    for i in range(len(SCALED_TAIL) - 1, 0, -1):
        ahead, here = here, 2.0 * t * here - ahead + SCALED_TAIL[i]
    return 0.5 * (t * here - ahead + SCALED_TAIL[0]) / (1.0 + ROOT_PI * s)


@compiled()
def _tail_curvature(x: float) -> float:
    """`riata.losses.normal.tail_curvature`."""
    t = 1.0 - 2.0 * REACH / (x / ROOT_2 + REACH)
    ahead, here = 0.0, 0.0
    for i in range(len(CURVATURE) - 1, 0, -1):
        ahead, here = here, 2.0 * t * here - ahead + CURVATURE[i]
    return t * here - ahead + CURVATURE[0]


@compiled()
def _hazard(m: float) -> float:
    """The density over the distribution function of a normal number, at m."""
    outside = _tail(abs(m))
    if m < 0.0:
        return 1.0 / (outside * (ROOT_2 * ROOT_PI))
    density = math.exp(-0.5 * m * m)
    return density / ((1.0 - density * outside) * (ROOT_2 * ROOT_PI))


@compiled()
def probit_value(y: float, z: float) -> float:
    m = y * z
    if m < 0.0:
        return 0.5 * m * m - math.log(_tail(-m))
    return -math.log1p(-math.exp(-0.5 * m * m) * _tail(m))


@compiled()
def probit_derivative(y: float, z: float) -> float:
    return -y * _hazard(y * z)


@compiled()
def probit_second_derivative(y: float, z: float) -> float:
    m = y * z
    if m < 0.0:
        return _tail_curvature(-m)
    r = _hazard(m)
    return r * (r + m)


@compiled()
def _pull(e: float) -> float:
    """e / (exp(e) - 1)."""
    return e * math.exp(-e) / -math.expm1(-e) if e > 0.0 else 1.0


@compiled()
def cloglog_value(y: float, z: float) -> float:
    z = min(z, LARGEST)
    e = math.exp(z)
    if y < 0.0:
        return e
    if z < 0.0:
        return -z - (math.log(-math.expm1(-e) / e) if e > 0.0 else 0.0)
    return -math.log1p(-math.exp(-e))


@compiled()
def cloglog_derivative(y: float, z: float) -> float:
    e = math.exp(min(z, LARGEST))
    return e if y < 0.0 else -_pull(e)


@compiled()
def cloglog_second_derivative(y: float, z: float) -> float:
    e = math.exp(min(z, LARGEST))
    if y < 0.0:
        return e
    s = _pull(e)
    return s * (e * (0.5 + e * (1.0 / 12.0 - e * e * (1.0 / 720.0 - e * e / 30240.0))) if e < SMALL else s + (e - 1.0))

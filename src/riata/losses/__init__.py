"""Losses: elementwise functions of the target `y` and the margin `z = x . w + b`.

Each knows its value, its first and second derivative in `z`, a bound on the second derivative
(`curvature`, which sets safe steps; infinite for Poisson), its convex conjugate in `z` (for duality gaps) and the
constant margin that fits a target of given mean (`constant`; None where the mean does not tell). Values and derivatives
take arrays of any library that follows the array API, so that they can be had where the rows are.

Conjugate: `conjugate(y, u) = sup_z u z - value(y, z)`, finite at every `u = derivative(y, z)` and at 0. The best margin
of a row has loss 0 here, so `conjugate(y, 0) = 0`.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import expit

from riata.arrays import namespace


class Loss(Protocol):
    """What every loss offers."""

    code: ClassVar[int]  # how the compiled sweeps in kernels/losses.py know it
    labels: ClassVar[bool]  # True when the target is -1 or +1
    relative: ClassVar[bool]  # True when only y - z matters, so that a target may be counted from anywhere
    curvature: ClassVar[float]
    least_curvature: ClassVar[float]  # what Newton steps take for a second derivative that is 0 on an interval

    def value(self, y, z): ...
    def derivative(self, y, z): ...
    def second_derivative(self, y, z): ...
    def conjugate(self, y, u): ...
    def constant(self, mean_y): ...


@dataclass(frozen=True)
class Squared:
    """(y - z)^2 / 2."""

    code: ClassVar[int] = 0
    labels: ClassVar[bool] = False
    relative: ClassVar[bool] = True
    curvature: ClassVar[float] = 1.0
    least_curvature: ClassVar[float] = 0.0

    def value(self, y, z):
        return 0.5 * (y - z) ** 2

    def derivative(self, y, z):
        return z - y

    def second_derivative(self, y, z):
        return namespace(z).ones_like(z)

    def conjugate(self, y, u):
        return u * y + 0.5 * u * u

    def constant(self, mean_y):
        return mean_y


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y z)) for labels y in {-1, +1}."""

    code: ClassVar[int] = 1
    labels: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    curvature: ClassVar[float] = 0.25
    least_curvature: ClassVar[float] = 0.0

    def value(self, y, z):
        m, xp = y * z, namespace(z)
        return xp.maximum(-m, xp.zeros_like(m)) + xp.log1p(xp.exp(-xp.abs(m)))  # half the time of logaddexp

    def derivative(self, y, z):
        return -y * _expit(-y * z)

    def second_derivative(self, y, z):
        return _expit(z) * _expit(-z)

    def conjugate(self, y, u):
        t = np.clip(-u * y, 0.0, 1.0)  # rounding may leave the interval by an ulp
        return _xlogx(t) + _xlogx(1.0 - t)

    def constant(self, mean_y):
        mean_y = np.clip(mean_y, -1.0 + 1e-15, 1.0 - 1e-15)  # one label only: as sure as numbers allow
        return np.log1p(mean_y) - np.log1p(-mean_y)


@dataclass(frozen=True)
class SquaredHinge:
    """max(1 - y z, 0)^2 / 2 for labels y in {-1, +1}: the L2 loss of support vector machines."""

    code: ClassVar[int] = 2
    labels: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    curvature: ClassVar[float] = 1.0
    least_curvature: ClassVar[float] = 1e-4

    def value(self, y, z):
        return 0.5 * namespace(z).maximum(1.0 - y * z, namespace(z).zeros_like(z)) ** 2

    def derivative(self, y, z):
        return -y * namespace(z).maximum(1.0 - y * z, namespace(z).zeros_like(z))

    def second_derivative(self, y, z):
        return _one_where(y * z < 1.0, z)

    def conjugate(self, y, u):
        t = np.maximum(-u * y, 0.0)
        return 0.5 * t * t - t

    def constant(self, mean_y):
        return mean_y


HUBER_BEND = 1.35  # 95 % as efficient as least squares when the noise is normal with deviation 1


@dataclass(frozen=True)
class Huber:
    """r^2 / 2 up to |r| = 1.35, a straight line beyond, r = y - z: divide y by the spread of its noise first."""

    code: ClassVar[int] = 3
    labels: ClassVar[bool] = False
    relative: ClassVar[bool] = True
    curvature: ClassVar[float] = 1.0
    least_curvature: ClassVar[float] = 1e-4

    def value(self, y, z):
        r = abs(y - z)
        near = namespace(r).clip(r, 0.0, HUBER_BEND)
        return near * (r - 0.5 * near)

    def derivative(self, y, z):
        return namespace(z).clip(z - y, -HUBER_BEND, HUBER_BEND)

    def second_derivative(self, y, z):
        return _one_where(abs(y - z) < HUBER_BEND, z)

    def conjugate(self, y, u):
        return u * y + 0.5 * u * u

    def constant(self, mean_y):
        return None


@dataclass(frozen=True)
class Poisson:
    """exp(z) - y z + (y log y - y), half the deviance of counts y >= 0 of mean exp(z)."""

    code: ClassVar[int] = 4
    labels: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    curvature: ClassVar[float] = np.inf
    least_curvature: ClassVar[float] = 0.0

    def value(self, y, z):
        return namespace(z).exp(z) - y * z + (_xlogx(y) - y)

    def derivative(self, y, z):
        return namespace(z).exp(z) - y

    def second_derivative(self, y, z):
        return namespace(z).exp(z)

    def conjugate(self, y, u):
        v = np.maximum(u + y, 0.0)
        return _xlogx(v) - v - (_xlogx(y) - y)

    def constant(self, mean_y):
        return np.log(np.maximum(mean_y, 1e-300))  # no counts at all: as small a mean as numbers allow


def _expit(z):
    """1 / (1 + exp(-z)), with all digits at either end."""
    xp = namespace(z)
    tail = xp.exp(-abs(z))
    return xp.where(z >= 0.0, xp.ones_like(tail), tail) / (1.0 + tail)


def _xlogx(x):
    xp = namespace(x)
    return x * xp.log(xp.where(x > 0.0, x, xp.ones_like(x)))


def _one_where(condition, like):
    xp = namespace(like)
    return xp.where(condition, xp.ones_like(like), xp.zeros_like(like))


LOSSES: dict[str, Loss] = {
    "squared": Squared(),
    "logistic": Logistic(),
    "squared-hinge": SquaredHinge(),
    "huber": Huber(),
    "poisson": Poisson(),
}
BY_TASK = {"regression": ("squared", "huber", "poisson"), "classification": ("logistic", "squared", "squared-hinge")}


def mean_target(loss: str, z):
    """What a regression predicts at margin z: the mean count for Poisson, z itself otherwise."""
    return np.exp(z) if loss == "poisson" else z


def probabilities(z: np.ndarray) -> np.ndarray:
    """Class probabilities of a logistic model; one-against-rest ones are scaled to sum to one."""
    p = expit(z)
    if p.ndim == 1:
        return np.column_stack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])

"""Losses: elementwise functions of the target `y` and the margin `z = x . w + b`.

Each knows its value, its first and second derivative in `z`, a bound on the second derivative
(`curvature`, which sets safe steps), its convex conjugate in `z` (for duality gaps) and the constant
margin that fits a target of given mean (`constant`, where a formula exists).

Conjugate: `conjugate(y, u) = sup_z u z - value(y, z)`, finite at every `u = derivative(y, z)` and at 0.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import expit, xlogy


class Loss(Protocol):
    """What every loss offers."""

    code: ClassVar[int]  # how the compiled sweeps in kernels/losses.py know it
    labels: ClassVar[bool]  # True when the target is -1 or +1
    curvature: ClassVar[float]

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
    curvature: ClassVar[float] = 1.0

    def value(self, y, z):
        return 0.5 * (y - z) ** 2

    def derivative(self, y, z):
        return z - y

    def second_derivative(self, y, z):
        return np.ones_like(z)

    def conjugate(self, y, u):
        return u * y + 0.5 * u * u

    def constant(self, mean_y):
        return mean_y


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y z)) for labels y in {-1, +1}."""

    code: ClassVar[int] = 1
    labels: ClassVar[bool] = True
    curvature: ClassVar[float] = 0.25

    def value(self, y, z):
        return np.logaddexp(0.0, -y * z)

    def derivative(self, y, z):
        return -y * expit(-y * z)

    def second_derivative(self, y, z):
        p = expit(z)
        return p * (1.0 - p)

    def conjugate(self, y, u):
        t = np.clip(-u * y, 0.0, 1.0)  # rounding may leave the interval by an ulp
        return xlogy(t, t) + xlogy(1.0 - t, 1.0 - t)

    def constant(self, mean_y):
        return np.log1p(mean_y) - np.log1p(-mean_y)


LOSSES: dict[str, Loss] = {"squared": Squared(), "logistic": Logistic()}

"""Probit regression: a class is one where a normal number, of mean z, is positive."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.formulas import LABELS, LEFT, RIGHT
from riata.losses.functions import best_margin
from riata.losses.link import PROBIT
from riata.losses.loss import Loss
from riata.losses.normal import ROOT_2, ROOT_PI, tail, tail_curvature


class Probit(Loss):
    """-log P(N <= y z), N normal, for labels y in {-1, +1}."""

    name = "probit"
    code = 10
    parameter = 0.0  # none: one more pair, so that only fits of such losses compile its twin
    link = PROBIT
    tasks = ("classification",)
    labels = True
    curvature = 1.0
    least_curvature = 1e-12  # where a class is certain, curvatures are 0 to the last bit
    score = "log_loss"
    half_deviance = True
    words = "probit loss (minus the logarithm of the probability given to the true class)"
    formula = f"<mo>−</mo><mi>log</mi><mi>Φ</mi>{LEFT}<mi>y</mi><mi>z</mi>{RIGHT}{LABELS}"

    def value(self, y: Array, z: Array) -> Array:
        m, xp = y * z, namespace(z)
        inside, outside = 0.5 * m * m - xp.log(tail(abs(m))), -xp.log1p(-xp.exp(-0.5 * m * m) * tail(abs(m)))
        return xp.where(m < 0.0, inside, outside)

    def derivative(self, y: Array, z: Array) -> Array:
        return -y * _hazard(y * z)

    def second_derivative(self, y: Array, z: Array) -> Array:
        m = y * z
        r = _hazard(m)
        return namespace(m).where(m < 0.0, tail_curvature(abs(m)), r * (r + m))

    def conjugate(self, y: Array, u: Array) -> Array:
        """By the margin that has this slope: there is no closed form. The hazard at -m is above m, and 0 beyond 40."""
        t = np.maximum(-u * y, 0.0)
        m = best_margin(lambda m: -_hazard(m), -t, -t - 1.0, np.full_like(t, 40.0))
        return -t * m - self.value(np.ones_like(m), m)

    def constant(self, mean_y: Any) -> Any:
        return self.link.inverse(mean_y)


def _hazard(m: Array) -> Array:
    """The density over the distribution function of a normal number, at m."""
    xp = namespace(m)
    density, outside = xp.exp(-0.5 * m * m), tail(abs(m))
    inside = xp.where(m < 0.0, outside, 1.0 - density * outside)
    return xp.where(m < 0.0, xp.ones_like(m), density) / (inside * (ROOT_2 * ROOT_PI))

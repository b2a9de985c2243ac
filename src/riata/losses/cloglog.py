"""Complementary log-log regression: whether an event happened at all, where its rate is exp(z).

The binary face of Poisson's and Cox's models: coefficients are logarithms of ratios of rates, or of hazards where times
are grouped, and an offset is the logarithm of an exposure. The class that happens is the second one; the other way
round it is another model.
"""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.formulas import LABELS
from riata.losses.functions import best_margin, xlogx
from riata.losses.link import CLOGLOG
from riata.losses.loss import Loss

LARGEST = 700.0  # exp overflows above 709
SMALL = 0.05  # rates below which what cancels in the curvature is a series


class Cloglog(Loss):
    """exp(z) for labels y = -1, -log(1 - exp(-exp(z))) for y = +1."""

    name = "cloglog"
    code = 11
    parameter = 0.0  # none: as that of probit
    link = CLOGLOG
    tasks = ("classification",)
    labels = True
    symmetric = False
    least_curvature = 1e-12  # where it is frequent beyond doubt, curvatures are 0 to the last bit
    score = "log_loss"
    half_deviance = True
    words = "complementary log-log loss (minus the logarithm of the probability given to the true class)"
    formula = (
        '<mo>−</mo><mi>log</mi><mi>P</mi><mo>,</mo><mspace width="0.6em"/><mi>P</mi><mo>=</mo><msup><mi>e</mi>'
        "<mrow><mo>−</mo><msup><mi>e</mi><mi>z</mi></msup></mrow></msup><mtext> or </mtext><mn>1</mn><mo>−</mo>"
        "<msup><mi>e</mi><mrow><mo>−</mo><msup><mi>e</mi><mi>z</mi></msup></mrow></msup>" + LABELS
    )

    def value(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        z = xp.clip(z, None, LARGEST)
        e, rare = xp.exp(z), z < 0.0
        some = xp.where(rare & (e > 0.0), e, xp.ones_like(e))
        of_rare = xp.where(e > 0.0, -xp.log(-xp.expm1(-some) / some), xp.zeros_like(e)) - z
        of_frequent = -xp.log1p(-xp.exp(-xp.where(rare, xp.ones_like(e), e)))
        return xp.where(y > 0.0, xp.where(rare, of_rare, of_frequent), e)

    def derivative(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        e = xp.exp(xp.clip(z, None, LARGEST))
        return xp.where(y > 0.0, -_pull(e), e)

    def second_derivative(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        e = xp.exp(xp.clip(z, None, LARGEST))
        s, small = _pull(e), xp.clip(e, 0.0, SMALL)
        square = small * small
        series = small * (0.5 + small * (1.0 / 12.0 - square * (1.0 / 720.0 - square / 30240.0)))
        return xp.where(y > 0.0, s * xp.where(e < SMALL, series, s + (e - 1.0)), e)

    def conjugate(self, y: Array, u: Array) -> Array:
        """Poisson's for y = -1; for y = +1 by the margin that has this slope: there is no closed form."""
        v, t = np.maximum(u, 0.0), np.clip(-u, 0.0, 1.0)
        z = best_margin(lambda z: -_pull(np.exp(z)), -t, np.full_like(t, -50.0), np.full_like(t, 7.0))
        return np.where(y > 0.0, -t * z - self.value(np.ones_like(z), z), xlogx(v) - v)

    def constant(self, mean_y: Any) -> Any:
        return self.link.inverse(mean_y)


def _pull(e: Array) -> Array:
    """e / (exp(e) - 1): how much an event that happened pulls on its margin, where its rate is e."""
    xp = namespace(e)
    some = xp.where(e > 0.0, e, xp.ones_like(e))
    return xp.where(e > 0.0, some * xp.exp(-some) / -xp.expm1(-some), xp.ones_like(e))

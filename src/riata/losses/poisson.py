"""Counts."""

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.functions import xlogx
from riata.losses.log_link import LogLinkLoss


class Poisson(LogLinkLoss):
    """exp(z) - y z + (y log y - y), half the deviance of counts y >= 0 of mean exp(z)."""

    name = "poisson"
    code = 4
    predicted = "count"
    half_deviance = True
    power = 1.0
    words = "Poisson loss (half the deviance of counts)"
    refusal = "the target has negative values, and the Poisson loss is for counts: take loss 'squared'"
    formula = (
        "<msup><mi>e</mi><mi>z</mi></msup><mo>−</mo><mi>y</mi><mi>z</mi>"
        "<mo>+</mo><mi>y</mi><mi>log</mi><mi>y</mi><mo>−</mo><mi>y</mi>"
    )

    def value(self, y: Array, z: Array) -> Array:
        return namespace(z).exp(z) - y * z + (xlogx(y) - y)

    def derivative(self, y: Array, z: Array) -> Array:
        return namespace(z).exp(z) - y

    def second_derivative(self, y: Array, z: Array) -> Array:
        return namespace(z).exp(z)

    def conjugate(self, y: Array, u: Array) -> Array:
        v = np.maximum(u + y, 0.0)
        return xlogx(v) - v - (xlogx(y) - y)

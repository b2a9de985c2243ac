"""Counts."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.functions import xlogx
from riata.losses.link import EXP
from riata.losses.loss import Loss


class Poisson(Loss):
    """exp(z) - y z + (y log y - y), half the deviance of counts y >= 0 of mean exp(z)."""

    name = "poisson"
    code = 4
    link = EXP
    half_deviance = True
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

    def constant(self, mean_y: Any) -> Any:
        return self.link.inverse(mean_y)

    def takes(self, y: Array) -> Array:
        return y >= 0

    def reading(self, of: str | None = None) -> str:
        return "the logarithm of the expected count"

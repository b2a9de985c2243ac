"""Amounts: claims, prices, durations, whose spread grows with their mean."""

from riata.arrays import Array, namespace
from riata.losses.functions import xlogx
from riata.losses.log_link import LogLinkLoss


class Gamma(LogLinkLoss):
    """y exp(-z) + z - log(y) - 1, half the deviance of amounts y > 0 of mean exp(z)."""

    name = "gamma"
    predicted = "amount"
    power = 2.0
    code = 5
    parameter = 2.0  # the power
    words = "gamma loss (half the deviance of positive amounts)"
    refusal = (
        "the target has values of 0 or less, and the gamma loss is for positive amounts: leave such rows out, or take "
        "loss 'tweedie', which allows for 0"
    )
    formula = (
        "<mi>y</mi><msup><mi>e</mi><mrow><mo>−</mo><mi>z</mi></mrow></msup><mo>+</mo><mi>z</mi>"
        "<mo>−</mo><mi>log</mi><mi>y</mi><mo>−</mo><mn>1</mn>"
    )

    def value(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        excess = xp.log(y) - z  # log(y / mean): near 0 its exponential minus 1 keeps all digits
        return xp.expm1(excess) - excess

    def derivative(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        return -xp.expm1(xp.log(y) - z)

    def second_derivative(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        return xp.exp(xp.log(y) - z)

    def conjugate(self, y: Array, u: Array) -> Array:
        xp = namespace(u)
        v = xp.clip(1.0 - u, 0.0, None)
        return xlogx(v) - v + 1.0 + u * xp.log(y)

    def takes(self, y: Array) -> Array:
        return y > 0

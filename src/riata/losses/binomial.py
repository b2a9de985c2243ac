"""Successes of some trials: the share of them is the target of a row, the number of its trials its weight."""

from typing import Any

from riata.arrays import Array, namespace
from riata.losses.functions import expit, xlogx
from riata.losses.link import SHARE
from riata.losses.loss import Loss


class Binomial(Loss):
    """log(1 + exp(z)) - y z + y log y + (1 - y) log(1 - y), half the deviance of shares y of mean 1 / (1 + exp(-z))."""

    name = "binomial"
    code = 9
    link = SHARE
    of_shares = True
    curvature = 0.25
    half_deviance = True
    words = "binomial loss (half the deviance of shares)"
    refusal = (
        "the target has values below 0 or above 1, and the binomial loss is for shares: give successes beside their "
        "trials (trials), or take loss 'poisson' for counts without a limit"
    )
    formula = (
        "<mi>y</mi><mi>log</mi><mfrac><mi>y</mi><mi>p</mi></mfrac><mo>+</mo><mo>(</mo><mn>1</mn><mo>−</mo><mi>y</mi>"
        "<mo>)</mo><mi>log</mi><mfrac><mrow><mn>1</mn><mo>−</mo><mi>y</mi></mrow><mrow><mn>1</mn><mo>−</mo><mi>p</mi>"
        "</mrow></mfrac>"
    )

    def value(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        linear = xp.where(z > 0.0, (1.0 - y) * z, -y * z)  # what is left of log(1 + exp(z)) - y z keeps its digits
        return xp.log1p(xp.exp(-abs(z))) + linear + (xlogx(y) + xlogx(1.0 - y))

    def derivative(self, y: Array, z: Array) -> Array:
        return (1.0 - y) * expit(z) - y * expit(-z)

    def second_derivative(self, y: Array, z: Array) -> Array:
        return expit(z) * expit(-z)

    def conjugate(self, y: Array, u: Array) -> Array:
        p = namespace(u).clip(u + y, 0.0, 1.0)  # rounding may leave the interval by an ulp
        return xlogx(p) + xlogx(1.0 - p) - xlogx(y) - xlogx(1.0 - y)

    def constant(self, mean_y: Any) -> Any:
        return self.link.inverse(mean_y)

    def takes(self, y: Array) -> Array:
        return (y >= 0.0) & (y <= 1.0)

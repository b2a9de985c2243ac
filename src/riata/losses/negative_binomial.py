"""Counts that vary more than Poisson's."""

import numpy as np

from riata.arrays import Array, namespace
from riata.errors import OptionError
from riata.losses.functions import expit, xlogx
from riata.losses.log_link import LogLinkLoss
from riata.losses.numbered import NumberedLoss


class NegativeBinomial(NumberedLoss, LogLinkLoss):
    """Half the deviance of counts y >= 0 of mean m = exp(z) and variance m + m^2 / theta; theta is given."""

    family = "negative-binomial"
    code = 7
    predicted = "count"
    half_deviance = True
    refusal = "the target has negative values, and the negative binomial loss is for counts: take loss 'squared'"
    formula = (
        "<mi>y</mi><mi>log</mi><mfrac><mi>y</mi><msup><mi>e</mi><mi>z</mi></msup></mfrac><mo>−</mo>"
        "<mo>(</mo><mi>y</mi><mo>+</mo><mi>θ</mi><mo>)</mo><mi>log</mi>"
        "<mfrac><mrow><mi>y</mi><mo>+</mo><mi>θ</mi></mrow>"
        "<mrow><msup><mi>e</mi><mi>z</mi></msup><mo>+</mo><mi>θ</mi></mrow></mfrac>"
    )

    def __init__(self, theta: float = 1.0) -> None:
        if not 0.0 < theta < np.inf:
            raise OptionError(
                f"theta of a negative binomial loss is positive and finite, not {theta:g}; where counts vary as "
                "Poisson's do, take loss 'poisson'"
            )
        self.theta = self.parameter = float(theta)
        super().__init__(self.theta)

    @property
    def words(self) -> str:
        return f"negative binomial loss (half the deviance of counts, theta {self.theta:g})"

    def value(self, y: Array, z: Array) -> Array:
        """y log(y / m) - (y + theta) log((1 + y / theta) / (1 + m / theta)), which keeps its digits for large theta."""
        xp = namespace(z)
        x = z - float(np.log(self.theta))
        soft = xp.clip(x, 0.0, None) + xp.log1p(xp.exp(-abs(x)))  # log(1 + m / theta)
        return xlogx(y) - y * z + (y + self.theta) * (soft - xp.log1p(y / self.theta))

    def derivative(self, y: Array, z: Array) -> Array:
        return (y + self.theta) * expit(z - float(np.log(self.theta))) - y

    def second_derivative(self, y: Array, z: Array) -> Array:
        x = z - float(np.log(self.theta))
        return (y + self.theta) * expit(x) * expit(-x)

    def conjugate(self, y: Array, u: Array) -> Array:
        share = np.clip((u + y) / (y + self.theta), 0.0, 1.0)  # of theta / (mean + theta), what is left of 1
        entropy = xlogx(share) + xlogx(1.0 - share)
        return (y + self.theta) * (entropy + np.log(y + self.theta)) + (u - self.theta) * np.log(self.theta) - xlogx(y)

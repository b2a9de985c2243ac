"""Totals: sums of a random number of amounts, such as the cost of a year's claims, of which many are exactly 0."""

import numpy as np

from riata.arrays import Array, namespace
from riata.errors import OptionError
from riata.losses.formulas import fraction, row
from riata.losses.log_link import LogLinkLoss
from riata.losses.numbered import NumberedLoss

NEWTON_STEPS = 100  # to where the slope is u; each is at most 1 long, and the last ones double the digits


class Tweedie(NumberedLoss, LogLinkLoss):
    """Half the Tweedie deviance of y >= 0 of mean exp(z), whose variance is in proportion to mean**power."""

    power: float
    family = "tweedie"
    code = 6
    predicted = "total"
    refusal = "the target has negative values, and the Tweedie loss is for totals of 0 or more: take loss 'squared'"
    formula = (
        fraction(
            "<mrow><mi>y</mi><msup><mi>e</mi><mrow><mo>−</mo><mo>(</mo><mi>p</mi><mo>−</mo><mn>1</mn><mo>)</mo>"
            "<mi>z</mi></mrow></msup></mrow>",
            row("<mi>p</mi><mo>−</mo><mn>1</mn>"),
        )
        + "<mo>+</mo>"
        + fraction(
            "<msup><mi>e</mi><mrow><mo>(</mo><mn>2</mn><mo>−</mo><mi>p</mi><mo>)</mo><mi>z</mi></mrow></msup>",
            row("<mn>2</mn><mo>−</mo><mi>p</mi>"),
        )
        + "<mo>−</mo>"
        + fraction(
            "<msup><mi>y</mi><mrow><mn>2</mn><mo>−</mo><mi>p</mi></mrow></msup>",
            row("<mo>(</mo><mi>p</mi><mo>−</mo><mn>1</mn><mo>)</mo><mo>(</mo><mn>2</mn><mo>−</mo><mi>p</mi><mo>)</mo>"),
        )
    )

    def __init__(self, power: float = 1.5) -> None:
        if not 1.0 < power < 2.0:
            raise OptionError(
                f"the power of a Tweedie loss lies between 1 and 2, and {power:g} does not: at 1 take loss 'poisson', "
                "at 2 'gamma'"
            )
        self.power = self.parameter = float(power)
        super().__init__(self.power)

    @property
    def words(self) -> str:
        return f"Tweedie loss (half the deviance of totals, power {self.power:g})"

    def value(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        up, down = self.power - 1.0, 2.0 - self.power
        return y * xp.exp(-up * z) / up + xp.exp(down * z) / down - y**down / (up * down)

    def derivative(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        return xp.exp((2.0 - self.power) * z) - y * xp.exp((1.0 - self.power) * z)

    def second_derivative(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        up, down = self.power - 1.0, 2.0 - self.power
        return down * xp.exp(down * z) + up * y * xp.exp(-up * z)

    def conjugate(self, y: Array, u: Array) -> Array:
        """By Newton's method: the slope has no inverse in closed form."""
        y, u = np.broadcast_arrays(np.asarray(y, dtype=float), np.asarray(u, dtype=float))
        inside = (y > 0.0) | (u > 0.0)  # where some margin has the slope u; none has it for y = 0 and u <= 0
        of_zero = np.log(np.where((y == 0.0) & inside, u, 1.0)) / (2.0 - self.power)  # the answer for y = 0
        z = np.where(y > 0.0, np.log(np.where(y > 0.0, y, 1.0)), of_zero)
        for _ in range(NEWTON_STEPS):
            step = (self.derivative(y, z) - u) / self.second_derivative(y, z)
            z = z - np.clip(step, -1.0, 1.0)
        return np.where(inside, u * z - self.value(y, z), np.where(u < 0.0, np.inf, 0.0))

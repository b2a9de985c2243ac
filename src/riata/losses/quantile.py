"""Quantiles: what a given share of the targets lies below, such as the median or the ninety-fifth percentile.

The pinball loss has a kink, so that Newton steps minimise a smoothed one whose kink is rounded off over a width. Its
slopes are slopes of the pinball loss, too, and so certify a model for the pinball loss itself.
"""

import math
from statistics import NormalDist

from riata.arrays import Array, namespace
from riata.errors import OptionError
from riata.losses.formulas import LEFT, RESIDUAL, RIGHT, row
from riata.losses.loss import Loss
from riata.losses.numbered import NumberedLoss


class Quantile(NumberedLoss):
    """q r for r = y - z >= 0 and (q - 1) r for r < 0: the best constant is the q-quantile of the targets."""

    level: float
    family = "quantile"
    code = 8
    relative = True
    score = "pinball_loss"
    formula = (
        f"<mi>max</mi>{LEFT}<mi>q</mi>{LEFT}{RESIDUAL}{RIGHT}<mo>,</mo>"
        + row(f"{LEFT}<mi>q</mi><mo>−</mo><mn>1</mn>{RIGHT}{LEFT}{RESIDUAL}{RIGHT}")
        + RIGHT
    )

    def __init__(self, level: float = 0.5) -> None:
        if not 0.0 < level < 1.0:
            raise OptionError(
                f"the level of a quantile lies between 0 and 1, and {level:g} does not: the median is quantile:0.5, "
                "the ninety-fifth percentile quantile:0.95"
            )
        self.level = self.parameter = float(level)
        super().__init__(self.level)

    @property
    def words(self) -> str:
        return f"pinball loss (of the {self.level:g}-quantile)"

    @property
    def constant_words(self) -> str:  # type: ignore[override]
        return f"{self.level:g}-quantile"

    @property
    def curvature_by_spread(self) -> float:  # type: ignore[override]
        """That of the mean loss of normal targets at their quantile, times their mean distance from it."""
        normal = NormalDist()
        at = normal.inv_cdf(self.level)
        density = normal.pdf(at)
        return density * (at * (2.0 * self.level - 1.0) + 2.0 * density)

    @property
    def slopes(self) -> tuple[float, float]:
        """The least and the largest slope in z."""
        return -self.level, 1.0 - self.level

    def value(self, y: Array, z: Array) -> Array:
        return (z - y) * self.derivative(y, z)

    def derivative(self, y: Array, z: Array) -> Array:
        """One of the slopes; 0 at the kink, where all between the least and the largest are."""
        xp, (least, largest) = namespace(z - y), self.slopes
        zero = xp.zeros_like(z - y)
        return xp.where(z > y, zero + largest, xp.where(z < y, zero + least, zero))

    def conjugate(self, y: Array, u: Array) -> Array:
        xp, (least, largest) = namespace(u), self.slopes
        return xp.where((u >= least) & (u <= largest), u * y, float("inf"))

    def smoothed(self, width: float) -> "SmoothedQuantile":
        return SmoothedQuantile(self, width)


class SmoothedQuantile(Loss):
    """The pinball loss with its kink rounded off, by a barrier that keeps slopes within its own.

    With u = p - q, 0 < p < 1, it is the largest u (z - y) + width (log(p (1 - p)) - log(q (1 - q))), and closed forms
    follow from that: it is smooth, its curvature is nowhere 0, and a row costs at most about two widths too much.
    """

    relative = True
    stiff = True

    def __init__(self, of: Quantile, width: float) -> None:
        self.of, self.width = of, float(width)
        self.name = of.name
        self.curvature = 1.0 / (8.0 * self.width)

    def value(self, y: Array, z: Array) -> Array:
        t, s = self._distances(y, z)
        q, width = self.of.level, self.width
        bend = namespace(t).log((s + 2.0 * width) / (4.0 * width))
        return (0.5 - q) * t + 0.5 * (s - 2.0 * width) - width * (bend + math.log(4.0 * q * (1.0 - q)))

    def derivative(self, y: Array, z: Array) -> Array:
        t, s = self._distances(y, z)
        return 0.5 - self.of.level + 0.5 * t / (s + 2.0 * self.width)

    def second_derivative(self, y: Array, z: Array) -> Array:
        _, s = self._distances(y, z)
        return self.width / (s * (s + 2.0 * self.width))

    def conjugate(self, y: Array, u: Array) -> Array:
        xp, q = namespace(u), self.of.level
        p = u + q
        return self.of.conjugate(y, u) - self.width * (xp.log(p * (1.0 - p)) - math.log(q * (1.0 - q)))

    def ahead(self, width: float) -> Loss:
        return AheadOfQuantile(self.of, self.width, width)

    def _distances(self, y: Array, z: Array) -> tuple[Array, Array]:
        """z - y, and its size beside two widths."""
        t = z - y
        return t, namespace(t).sqrt(t * t + 4.0 * self.width**2)


class AheadOfQuantile(SmoothedQuantile):
    """The smoothed loss as a step to a smaller width sees it: slopes as they will be once margins have followed.

    From p = width / (distance from below) and its like for 1 - p, to first order in both the margin and the width.
    """

    def __init__(self, of: Quantile, width: float, next_width: float) -> None:
        super().__init__(of, width)
        self.fall = 1.0 - next_width / width

    def derivative(self, y: Array, z: Array) -> Array:
        return super().derivative(y, z) + self.fall * (z - y) * self.second_derivative(y, z)

"""Least squares that outliers move little."""

from riata.arrays import Array, namespace
from riata.losses.formulas import BAR, LEFT, RESIDUAL, RIGHT, fraction, row
from riata.losses.functions import one_where
from riata.losses.loss import Loss

HUBER_BEND = 1.35  # |r| where the line begins: 95 % as efficient as least squares under standard normal noise
_SIZE = f"{BAR}{RESIDUAL}{BAR}"


class Huber(Loss):
    """r^2 / 2 up to |r| = 1.35, a straight line beyond, r = y - z: divide y by the spread of its noise first."""

    name = "huber"
    code = 3
    relative = True
    curvature = 1.0
    least_curvature = 1e-4
    words = f"Huber loss (the squared error, but straight beyond {HUBER_BEND})"
    formula = (
        row(f"<mi>m</mi>{LEFT}{_SIZE}<mo>−</mo>", fraction("<mi>m</mi>", "<mn>2</mn>"), RIGHT)
        + '<mo>,</mo><mspace width="0.6em"/><mi>m</mi><mo>=</mo>'
        + f"<mi>min</mi>{LEFT}{_SIZE}<mo>,</mo><mn>{HUBER_BEND}</mn>{RIGHT}"
    )

    def value(self, y: Array, z: Array) -> Array:
        r = abs(y - z)
        near = namespace(r).clip(r, 0.0, HUBER_BEND)
        return near * (r - 0.5 * near)

    def derivative(self, y: Array, z: Array) -> Array:
        return namespace(z).clip(z - y, -HUBER_BEND, HUBER_BEND)

    def second_derivative(self, y: Array, z: Array) -> Array:
        return one_where(abs(y - z) < HUBER_BEND, z)

    def conjugate(self, y: Array, u: Array) -> Array:
        return u * y + 0.5 * u * u

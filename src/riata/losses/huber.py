"""Least squares that outliers move little."""

from riata.arrays import Array, namespace
from riata.errors import OptionError
from riata.losses.formulas import BAR, LEFT, RESIDUAL, RIGHT, fraction, row
from riata.losses.functions import one_where
from riata.losses.numbered import NumberedLoss

BEND = 1.35  # deviations of the noise: 95 % as efficient as least squares where it is normal
_SIZE = f"{BAR}{RESIDUAL}{BAR}"


class Huber(NumberedLoss):
    """r^2 / 2 up to |r| = bend, a straight line beyond; r = y - z, and the bend is in the unit of y."""

    family = "huber"
    by_spread = BEND
    code = 3
    relative = True
    curvature = 1.0
    least_curvature = 1e-4

    def __init__(self, bend: float | None = None) -> None:
        self.bend = self.parameter = BEND if bend is None else float(bend)
        if not 0.0 < self.bend < float("inf"):
            raise OptionError(f"the bend of a Huber loss is a positive number, in the unit of the target, not {bend:g}")
        super().__init__(bend)

    @property
    def words(self) -> str:
        return f"Huber loss (the squared error, but straight beyond {self.bend:g})"

    @property
    def formula(self) -> str:  # type: ignore[override]
        return (
            row(f"<mi>m</mi>{LEFT}{_SIZE}<mo>−</mo>", fraction("<mi>m</mi>", "<mn>2</mn>"), RIGHT)
            + '<mo>,</mo><mspace width="0.6em"/><mi>m</mi><mo>=</mo>'
            + f"<mi>min</mi>{LEFT}{_SIZE}<mo>,</mo><mn>{self.bend:g}</mn>{RIGHT}"
        )

    def value(self, y: Array, z: Array) -> Array:
        r = abs(y - z)
        near = namespace(r).clip(r, 0.0, self.bend)
        return near * (r - 0.5 * near)

    def derivative(self, y: Array, z: Array) -> Array:
        return namespace(z).clip(z - y, -self.bend, self.bend)

    def second_derivative(self, y: Array, z: Array) -> Array:
        return one_where(abs(y - z) < self.bend, z)

    def bent_at(self, times: float) -> "Huber":
        return Huber(times * self.bend)

    def conjugate(self, y: Array, u: Array) -> Array:
        return u * y + 0.5 * u * u

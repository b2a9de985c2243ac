"""Several quantiles of one target, such as the tenth, the fiftieth and the ninetieth percentile: a model of each."""

from collections.abc import Sequence

from riata.arrays import Array, namespace
from riata.errors import OptionError
from riata.losses.loss import Loss
from riata.losses.quantile import Quantile


class Quantiles(Loss):
    """The sum of the pinball losses of all levels, with a margin for each, which are fitted one after the other."""

    relative = True
    score = Quantile.score
    formula = Quantile.formula

    def __init__(self, levels: Sequence[float]) -> None:
        each = tuple(Quantile(level) for level in levels)
        self.each, self.levels = each, tuple(one.level for one in each)
        if len(self.levels) < 2 or any(a >= b for a, b in zip(self.levels, self.levels[1:], strict=False)):
            raise OptionError(
                f"several quantiles are levels that rise, such as quantile:0.1,0.5,0.9, and {self._listed} do not"
            )
        self.name = f"{Quantile.family}:{self._listed}"

    @property
    def _listed(self) -> str:
        return ",".join(f"{level!r}" for level in self.levels)

    @property
    def words(self) -> str:
        return f"pinball loss (of the quantiles {self._listed.replace(',', ', ')})"

    def value(self, y: Array, z: Array) -> Array:
        return sum(one.value(y, z[..., k]) for k, one in enumerate(self.each))

    def derivative(self, y: Array, z: Array) -> Array:
        return namespace(z).stack([one.derivative(y, z[..., k]) for k, one in enumerate(self.each)], axis=-1)

"""What losses of means exp(z) share: half deviances of targets that are never negative."""

from typing import Any

from riata.arrays import Array
from riata.losses.link import EXP
from riata.losses.loss import Loss


class LogLinkLoss(Loss):
    """A loss whose margins are logarithms of means; the best constant is the mean of the target."""

    link = EXP
    logarithms = True
    predicted: str  # what it is a mean of, in a word

    def constant(self, mean_y: Any) -> Any:
        return self.link.inverse(mean_y)

    def takes(self, y: Array) -> Array:
        return y >= 0

    def reading(self, of: str | None = None) -> str:
        return f"the logarithm of the expected {self.predicted}"

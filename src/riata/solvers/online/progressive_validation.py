"""Progressive validation: how good the predictions of rows were, each made before the row was learnt."""

from typing import NamedTuple

import numpy as np

from riata.losses import Loss


class ProgressiveValidation(NamedTuple):
    """Sums over rows of their weight, times what the names say."""

    rows: int = 0
    weight: float = 0.0
    loss: float = 0.0
    right: float = 0.0  # whether the sign was
    labelled: float = 0.0  # whether the target is -1 or +1
    error: float = 0.0  # squared
    y: float = 0.0
    squares: float = 0.0  # of y

    def plus(self, other: "ProgressiveValidation") -> "ProgressiveValidation":
        return ProgressiveValidation(self.rows + other.rows, *(a + b for a, b in zip(self[1:], other[1:], strict=True)))

    @property
    def mean_loss(self) -> float:
        return self.loss / max(self.weight, 1e-300)

    @property
    def accuracy(self) -> float | None:
        """The share of right signs, where all targets are labels."""
        return self.right / self.weight if self.weight > 0.0 and self.labelled == self.weight else None

    @property
    def r2(self) -> float | None:
        """How much smaller errors were than about the mean of all targets, where those are numbers."""
        spread = self.squares - self.y**2 / max(self.weight, 1e-300)
        numbers = self.labelled < self.weight and spread > 1e-12 * self.squares
        return 1.0 - self.error / spread if numbers else None


def progressive_validation(loss: Loss, y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> ProgressiveValidation:
    """Of rows with these targets, and the margins they had."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a method that diverges: the driver says so
        errors = loss.value(y, z), (z > 0) == (y > 0), np.abs(y) == 1.0, np.square(y - loss.mean(z))
        return ProgressiveValidation(len(y), *(float(weight @ part) for part in (np.ones_like(y), *errors, y, y * y)))

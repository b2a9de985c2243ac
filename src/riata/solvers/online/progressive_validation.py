"""Progressive validation: the quality of predictions of rows, each made before the row was learnt."""

from typing import NamedTuple

import numpy as np

from riata.losses import Loss


class ProgressiveValidation(NamedTuple):
    """The number of rows, the sum of their weights, and weighted sums of quantities of each row."""

    rows: int = 0
    weight: float = 0.0
    loss: float = 0.0
    right: float = 0.0  # 1 where the sign was right
    labelled: float = 0.0  # 1 where the target is -1 or +1
    error: float = 0.0  # squared error
    y: float = 0.0
    squares: float = 0.0  # y^2

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
        """1 less the squared errors over those of the mean of all targets, where targets are not labels."""
        spread = self.squares - self.y**2 / max(self.weight, 1e-300)
        numbers = self.labelled < self.weight and spread > 1e-12 * self.squares
        return 1.0 - self.error / spread if numbers else None


def progressive_validation(loss: Loss, y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> ProgressiveValidation:
    """The sums over rows with these targets, and the margins they had before they were learnt."""
    if loss.n_outputs > 1:
        return _of_classes(loss, y, z, weight)
    with np.errstate(over="ignore", invalid="ignore"):  # where a method diverges, the driver reports it
        values, z, y = loss.value(y, z), loss.whole_margins(y, z), loss.targets(y)
        errors = values, (z > loss.link.even) == (y > 0), np.abs(y) == 1.0, np.square(y - loss.mean(z))
        # not by BLAS, whose threads would take many times as long as these sums
        parts = (np.sum(weight), *(np.sum(weight * part) for part in (*errors, y, y * y)))
        return ProgressiveValidation(len(y), *map(float, parts))


def _of_classes(loss: Loss, y: np.ndarray, z: np.ndarray, weight: np.ndarray) -> ProgressiveValidation:
    """The same where targets are classes, each of which has a margin."""
    total, right = float(np.sum(weight)), float(np.sum(weight * (z.argmax(axis=1) == y)))
    return ProgressiveValidation(len(y), total, float(np.sum(weight * loss.value(y, z))), right, labelled=total)

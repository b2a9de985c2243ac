"""Predicted means of counts and amounts beside what came true, from the rows of lowest to those of highest prediction.

Rows are put in order by what the model predicts for an exposure of 1, such as claims a year, and count by exposure.
"""

from typing import NamedTuple

import numpy as np

from riata.model.quality.curves import SumsByScore

N_GROUPS = 10  # of about the same exposure


class Groups(NamedTuple):
    """What was predicted and what came true in groups of rows of like prediction, for an exposure of 1."""

    predicted: np.ndarray
    observed: np.ndarray


class MeansTable(SumsByScore):
    """Exposures, and sums of predictions and of targets, by prediction."""

    def add(self, y: np.ndarray, mean: np.ndarray, weight: np.ndarray, exposure: np.ndarray | float) -> None:
        """Add rows of these predicted means."""
        self.add_sums(mean / exposure, np.stack([weight * exposure, weight * mean, weight * y]))

    def groups(self) -> Groups:
        """Tenths of the exposure."""
        exposure, predicted, observed = self.sums
        before = (np.cumsum(exposure) - exposure) / exposure.sum()
        _, group = np.unique((N_GROUPS * before).astype(np.intp), return_inverse=True)
        size, predicted, observed = (np.bincount(group, part) for part in (exposure, predicted, observed))
        return Groups(predicted / size, observed / size)

    def lorenz(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the exposure, and of the sum of all targets, that rows of no higher prediction have."""
        exposure, _, observed = (np.concatenate([[0.0], np.cumsum(part)]) for part in self.sums)
        return exposure / exposure[-1], observed / observed[-1]

    @property
    def gini(self) -> float:
        """Twice the area between that curve and the diagonal: 0 where predictions tell nothing."""
        x, y = self.lorenz()
        return float(1.0 - np.sum(np.diff(x) * (y[1:] + y[:-1])))

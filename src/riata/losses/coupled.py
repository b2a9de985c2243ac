"""Losses that are no sum over single rows: what a row costs depends on sums over other rows, as over a risk set.

    f(z) = f(z, sums of z over the rows)

One pass at a point adds up those sums (`sums`). With them held fixed, f is a sum over rows after all, which has the
value and the slopes of f at that point (`settled`): a second pass is then like that of any other loss, wherever rows
are and in whatever order. Only differences of margins count: a constant added to all of them changes nothing.
"""

from abc import abstractmethod
from typing import Any

import numpy as np

from riata.arrays import Array
from riata.losses.loss import Loss


class SettledLoss(Loss):
    """A loss that couples rows, as a sum over rows that has its value and its slopes at one point."""

    @abstractmethod
    def shares(self, y: Array, z: Array) -> Array:
        """The second derivative of every row, divided among terms that couple rows: rows x terms.

        Each term has a curvature of its own, about its own means. Where z is that of the point, their sum is no less
        than the curvature of the loss itself.
        """

    def ties(self, y: Array, weight: Array) -> np.ndarray:
        """What these rows add to how stiffly the mean of each term is tied to that of the next; empty: they are not."""
        return np.empty(0)

    def check_values(self, y: Array, z: Array, values: Array) -> None:
        """They are those of riata's own losses, and never negative."""


class CoupledLoss(Loss):
    """A loss of rows that go together."""

    couples_rows = True
    n_sums: int  # how many numbers the sums are
    settles_for_others: bool = False  # whether other rows take what those learnt from settled, such as cutpoints

    @abstractmethod
    def sums(self, y: Array, z: Array, weight: Array) -> Any:
        """What some rows add to the sums over all: a tuple of numbers and arrays, which are added one by one."""

    @abstractmethod
    def total(self, sums: Any) -> float:
        """The loss of all rows, by their sums."""

    @abstractmethod
    def settled(self, sums: Any) -> SettledLoss:
        """The loss as a sum over rows, with the sums as they are at a point."""

    def constant(self, mean_y: Any) -> Any:
        return 0.0  # any other would be as good

    def value(self, y: Array, z: Array) -> Array:
        raise NotImplementedError(f"loss {self.name!r} is no sum over rows")

    derivative = second_derivative = value

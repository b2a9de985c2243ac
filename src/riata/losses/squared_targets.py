"""Least squares of several targets at once, each of which has a margin: what `squared` is for several columns."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.formulas import HALF, LEFT, RIGHT, row, square
from riata.losses.several_margins import Balanced, SeveralMargins

ZERO_ERROR = 1e-14  # of the first mean squared error: a smaller one is rounding


class SquaredTargets(SeveralMargins):
    """sum_k (y_k - z_k)^2 / 2 for targets y_1, ..., y_K and a margin z_k of each."""

    name = "squared"
    relative = True
    unit_curvature = True
    curvature = 1.0
    score = "mse"
    summed = " summed over targets"
    words = f"squared error{summed}"
    formula = (
        HALF
        + "<munder><mo>∑</mo><mi>k</mi></munder>"
        + square(row(LEFT, "<msub><mi>y</mi><mi>k</mi></msub><mo>−</mo><msub><mi>z</mi><mi>k</mi></msub>", RIGHT))
    )

    def __init__(self, n_outputs: int = 2) -> None:
        self.n_outputs = n_outputs
        self.score_factor = 2.0 / n_outputs  # the mean squared error, over rows and targets

    def value(self, y: Array, z: Array) -> Array:
        error = y - z
        return 0.5 * namespace(error).sum(error * error, axis=-1)

    def derivative(self, y: Array, z: Array) -> Array:
        return z - y

    def row_curvature(self, y: Array, z: Array) -> tuple[Array, None]:
        return namespace(z).ones_like(z), None

    def conjugate(self, y: Array, u: Array) -> Array:
        return namespace(u).sum(u * y + 0.5 * u * u, axis=-1)

    def indicators(self, y: Array, z: Array) -> Array:
        return y

    def constant(self, mean_y: Any) -> Any:
        return mean_y

    def balanced(self, by_b: np.ndarray, constant: np.ndarray, rise: float) -> Balanced:
        """Their means m are taken from all slopes u: the mean of conjugates u y + u^2 / 2 falls by m y + m^2 / 2."""
        return Balanced(1.0, 0.0, -by_b, rise - float(by_b @ (constant + 0.5 * by_b)))

    def deviance(self, mean_losses: np.ndarray, n_rows: int) -> np.ndarray:
        """The deviance of noise alike in K targets, of estimated variance: n K log(mean squared error)."""
        errors = self.score_factor * mean_losses
        least = max(ZERO_ERROR * errors[0], 1e-300)
        return n_rows * self.n_outputs * np.log(np.maximum(errors, least))

"""Least squares."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.formulas import HALF, LEFT, RESIDUAL, RIGHT, row, square
from riata.losses.loss import Loss
from riata.losses.squared_targets import ZERO_ERROR, SquaredTargets


class Squared(Loss):
    """(y - z)^2 / 2."""

    name = "squared"
    code = 0
    tasks = ("regression", "classification")
    relative = True
    quadratic = True
    curvature = 1.0
    score = "mse"
    score_factor = 2.0
    words = "squared error"
    formula = HALF + square(row(LEFT, RESIDUAL, RIGHT))

    def of_targets(self, n_targets: int) -> Loss:
        return self if n_targets == 1 else SquaredTargets(n_targets)

    def value(self, y: Array, z: Array) -> Array:
        error = y - z
        return 0.5 * error * error  # a power of a Python float raises where this is infinite

    def derivative(self, y: Array, z: Array) -> Array:
        return z - y

    def second_derivative(self, y: Array, z: Array) -> Array:
        return namespace(z).ones_like(z)

    def conjugate(self, y: Array, u: Array) -> Array:
        return u * y + 0.5 * u * u

    def constant(self, mean_y: Any) -> Any:
        return mean_y

    def deviance(self, mean_losses: np.ndarray, n_rows: int) -> np.ndarray:
        """The deviance of normal noise whose variance is estimated, too: n log(mean squared error)."""
        errors = 2.0 * mean_losses
        return n_rows * np.log(np.maximum(errors, max(ZERO_ERROR * errors[0], 1e-300)))

"""Support vector machines, with squared errors."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.formulas import HALF, LABELS, LEFT, RIGHT, row, square
from riata.losses.functions import one_where
from riata.losses.loss import Loss


class SquaredHinge(Loss):
    """max(1 - y z, 0)^2 / 2 for labels y in {-1, +1}: the L2 loss of support vector machines."""

    name = "squared-hinge"
    code = 2
    tasks = ("classification",)
    labels = True
    curvature = 1.0
    least_curvature = 1e-4
    words = "squared hinge loss"
    formula = (
        HALF
        + square(row(f"<mi>max</mi>{LEFT}<mn>1</mn><mo>−</mo><mi>y</mi><mi>z</mi><mo>,</mo><mn>0</mn>{RIGHT}"))
        + LABELS
    )

    def value(self, y: Array, z: Array) -> Array:
        return 0.5 * namespace(z).maximum(1.0 - y * z, namespace(z).zeros_like(z)) ** 2

    def derivative(self, y: Array, z: Array) -> Array:
        return -y * namespace(z).maximum(1.0 - y * z, namespace(z).zeros_like(z))

    def second_derivative(self, y: Array, z: Array) -> Array:
        return one_where(y * z < 1.0, z)

    def conjugate(self, y: Array, u: Array) -> Array:
        t = np.maximum(-u * y, 0.0)
        return 0.5 * t * t - t

    def constant(self, mean_y: Any) -> Any:
        return mean_y

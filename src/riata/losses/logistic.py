"""Logistic regression."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.formulas import LABELS, LEFT, RIGHT
from riata.losses.functions import expit, xlogx
from riata.losses.link import LOGISTIC
from riata.losses.loss import Loss


class Logistic(Loss):
    """log(1 + exp(-y z)) for labels y in {-1, +1}."""

    name = "logistic"
    code = 1
    link = LOGISTIC
    tasks = ("classification",)
    labels = True
    curvature = 0.25
    score = "log_loss"
    half_deviance = True
    words = "logistic loss (minus the logarithm of the probability given to the true class)"
    formula = (
        f"<mi>log</mi>{LEFT}<mn>1</mn><mo>+</mo>"
        f"<msup><mi>e</mi><mrow><mo>−</mo><mi>y</mi><mi>z</mi></mrow></msup>{RIGHT}{LABELS}"
    )

    def value(self, y: Array, z: Array) -> Array:
        m, xp = y * z, namespace(z)
        return xp.maximum(-m, xp.zeros_like(m)) + xp.log1p(xp.exp(-xp.abs(m)))  # half the time of logaddexp

    def derivative(self, y: Array, z: Array) -> Array:
        return -y * expit(-y * z)

    def second_derivative(self, y: Array, z: Array) -> Array:
        return expit(z) * expit(-z)

    def conjugate(self, y: Array, u: Array) -> Array:
        t = np.clip(-u * y, 0.0, 1.0)  # rounding may leave the interval by an ulp
        return xlogx(t) + xlogx(1.0 - t)

    def constant(self, mean_y: Any) -> Any:
        return self.link.inverse(mean_y)

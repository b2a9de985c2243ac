"""Softmax, or multinomial logistic regression: one model of all classes, a margin for each of them."""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.functions import xlogx
from riata.losses.link import SOFTMAX, softmax
from riata.losses.logistic import Logistic
from riata.losses.loss import Loss
from riata.losses.several_margins import Balanced, SeveralMargins

LEAST_SHARE = 1e-200  # of a class that has any rows


class Softmax(SeveralMargins):
    """log(sum_k exp(z_k)) - z_y for classes y = 0, 1, ..., K - 1 and a margin z_k of each."""

    name = "softmax"
    link = SOFTMAX
    tasks = ("classification",)
    curvature = 0.5
    steps_of_classes = True
    least_share = 0.01  # a row far on the wrong side has a slope of 1, and hardly any curvature
    score = "log_loss"
    half_deviance = True
    words = "softmax loss (minus the logarithm of the probability given to the true class)"
    formula = (
        "<mi>log</mi><munder><mo>∑</mo><mi>k</mi></munder><msup><mi>e</mi><msub><mi>z</mi><mi>k</mi></msub></msup>"
        "<mo>−</mo><msub><mi>z</mi><mi>y</mi></msub>"
    )

    def __init__(self, n_outputs: int = 3) -> None:
        self.n_outputs = n_outputs

    def of_classes(self, n_classes: int) -> Loss:
        """The loss of so many classes, with a margin for each; two need only one between them."""
        return Logistic() if n_classes == 2 else Softmax(n_classes)

    def value(self, y: Array, z: Array) -> Array:
        xp = namespace(z)
        top = xp.max(z, axis=-1)
        mine = xp.sum(self.indicators(y, z) * z, axis=-1)
        return xp.log(xp.sum(xp.exp(z - top[..., None]), axis=-1)) + (top - mine)

    def derivative(self, y: Array, z: Array) -> Array:
        return softmax(z) - self.indicators(y, z)

    def row_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        p = softmax(z)
        return p, p

    def conjugate(self, y: Array, u: Array) -> Array:
        """Minus the entropy of the probabilities u + 1_y."""
        xp = namespace(u)
        p = xp.clip(u + self.indicators(y, u), 0.0, 1.0)  # rounding may leave the interval by an ulp
        return xp.sum(xlogx(p), axis=-1)

    def indicators(self, y: Array, z: Array) -> Array:
        """1 for the class of each row, 0 for the others, in arrays like z."""
        xp = namespace(z)
        return xp.astype(y[..., None] == xp.arange(z.shape[-1], dtype=y.dtype), z.dtype)

    def constant(self, mean_y: Any) -> Any:
        """Logarithms of the shares of the classes, about their mean: to all margins the same may be added."""
        margins = self.link.inverse(mean_y)
        return margins - margins.mean()

    def centred(self, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_class = w.reshape(-1, self.n_outputs)
        return (by_class - by_class.mean(axis=1, keepdims=True)).ravel(), b - b.mean()

    def lacks(self, means: np.ndarray) -> bool:
        return bool(np.any(means == 0.0))

    def balanced(self, by_b: np.ndarray, constant: np.ndarray, rise: float) -> Balanced:
        """With shares q of the classes among the rows, mean probabilities p + (p - q) must become q.

        Probabilities of every row are mixed with those of a distribution r that all rows share: (1 - t) p_i + t r, with
        the least t for which there is an r that gives the right mean. Minus the entropy is convex.
        """
        shares = softmax(constant)
        means = shares + by_b
        there = shares > LEAST_SHARE  # a class without rows has a probability of nothing
        t = min(1.0, float(np.max(by_b[there] / means[there], initial=0.0)))
        if t <= np.finfo(float).eps:  # r would be made of rounding
            return Balanced(1.0, 0.0, np.zeros_like(by_b), rise)
        r = np.maximum(means - by_b / t, 0.0)
        r /= r.sum()
        return Balanced(1.0 - t, t, t * (r - shares), (1.0 - t) * rise + t * float(np.sum(xlogx(r))))

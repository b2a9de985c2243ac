"""Losses of several margins per row, one for each output: a class of softmax, or a target among several.

Coefficients are those of features x outputs, and solvers see them as one long vector, the outputs of the first feature
first; so penalties, working sets and certificates are those of any loss, over so many times as many coefficients.
"""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.loss import Loss

FLAT = 1e-12  # curvature where a class is certain: there is none in floating point, and the penalty must be heard


def by_margin(coef: np.ndarray, n_outputs: int) -> np.ndarray:
    """The coefficients of models, each in a row: margins x features, behind the other axes there may be."""
    return np.swapaxes(coef.reshape(*coef.shape[:-1], -1, n_outputs), -1, -2)


def n_features_in(coef: np.ndarray, n_outputs: int) -> int:
    """How many features a model uses."""
    return int(np.count_nonzero(coef.reshape(-1, n_outputs).any(axis=1)))


class Balanced(NamedTuple):
    """Slopes of the rows whose means are 0, as dual bounds with intercepts need them.

    The slopes g of the coefficients become `keep * g + empty * (those of the empty model) + (column means) x shift`.
    """

    keep: float
    empty: float
    shift: np.ndarray  # a number for each output
    rise: float  # the mean conjugate there, or more


class SeveralMargins(Loss):
    """z and the derivative have an entry for each output in their last axis."""

    unit_curvature: bool = False  # whether second derivatives are 1 in every margin, and 0 between them, everywhere
    least_share: float = 0.0  # of a slope: less curvature is replaced by it in Newton steps, which end within reach

    @abstractmethod
    def row_curvature(self, y: Array, z: Array) -> tuple[Array, Array | None]:
        """(d, r), rows x outputs: the second derivatives of a row are diag(d) - r r', and None for r stands for 0."""

    @abstractmethod
    def indicators(self, y: Array, z: Array) -> Array:
        """The targets as one number for each margin: their means tell the best constants."""

    @abstractmethod
    def balanced(self, by_b: np.ndarray, constant: np.ndarray, rise: float) -> Balanced:
        """What makes the slopes `by_b` of the intercepts 0, where `rise` is the mean conjugate.

        `constant` are the intercepts of the empty model.
        """

    def lacks(self, means: np.ndarray) -> bool:
        """Whether some output has nothing to learn from in rows whose targets have these means."""
        return False

    def centred(self, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients and intercepts of least squares among all that have the same loss in every row."""
        return w, b

    def directions(self) -> np.ndarray:
        """Orthonormal columns, of one feature's coefficients, that span all differences the loss sees."""
        K = self.n_outputs
        each, _ = self.centred(np.eye(K).ravel(), np.zeros(K))  # a projection, unless the loss centres nothing
        values, vectors = np.linalg.eigh(each.reshape(K, K))
        kept: np.ndarray = vectors[:, values > 0.5]
        return kept

    def newton_curvature(self, y: Array, z: Array) -> tuple[Array, Array | None]:
        """The curvature for Newton steps: no step of a row by itself leads farther than 1 / `least_share`."""
        d, r = self.row_curvature(y, z)
        if not self.least_share:
            return d, r
        xp = namespace(z)
        d = xp.maximum(d, self.least_share * abs(self.derivative(y, z)))
        return (d if r is None else xp.maximum(d, r * r + FLAT)), r

    def second_derivative(self, y: Array, z: Array) -> Array:
        """The second derivative in each margin alone."""
        d, r = self.row_curvature(y, z)
        return d if r is None else d - r * r

"""Coefficients that no row limits: those of a word or a level that rows of one class alone have, and their like.

The loss falls for ever as such a coefficient grows, and without a penalty its size says only where the solver stopped.
"""

from typing import TYPE_CHECKING

import numpy as np

from riata.arrays import to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.remote import Remote

if TYPE_CHECKING:
    from riata.model.model import Model

# Of one undecided row. Where a row speaks against a coefficient, the fit leaves about one row undecided; where none
# does, it goes on until none is left, but for the precision of the solver. A penalty stops it much earlier.
NOTHING = 1e-3


class Undecided:
    """How many rows, in all, are undecided along each feature of a model: the curvature of the loss in its coefficient.

    It is counted beside the intercept, and for the whole range of the feature: of an indicator these are rows with it,
    or rows without it.
    """

    def __init__(self, model: "Model", columns: np.ndarray) -> None:
        shape = model.coef.shape
        self._model, self._columns = model, columns
        self._by_x, self._by_square, self._curvature = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], 1))
        self._least, self._largest = np.full(shape[1], np.inf), np.full(shape[1], -np.inf)
        self._n_rows, self._weight = 0, 0.0

    @classmethod
    def of(cls, model: "Model", data: Dataset) -> "Undecided | None":
        """For these rows; None where an L1 penalty limits all coefficients, or the rows are elsewhere."""
        training = model.training
        without_l1 = training.k is not None or bool(training.parameters.get("debias"))
        if not without_l1 or not model.link_function.probabilities or isinstance(data, Remote):
            return None
        return cls(model, model.columns_in(data))

    def add(self, z: np.ndarray, chunk: Chunk) -> None:
        """Count some rows of these margins."""
        X, weight = chunk.X.unit_rows() if self._model.normalize == "rows" else chunk.X, chunk.weight
        p = self._model.link_function.mean(z.reshape(len(weight), -1))
        curvature = weight[:, None] * p * (1.0 - p)
        if len(self._curvature) == 1:  # of classes in an order, whose probabilities share one margin
            curvature = curvature.sum(axis=1, keepdims=True)
        for rows in X.blocks(2 * len(self._columns)):
            x, by_row = to_host(X.columns(self._columns, rows)), curvature[rows]
            self._by_x += by_row.T @ x
            self._by_square += by_row.T @ x**2
            self._curvature += by_row.sum(axis=0)[:, None]
            self._least = np.minimum(self._least, x.min(axis=0))
            self._largest = np.maximum(self._largest, x.max(axis=0))
        self._n_rows += len(weight)
        self._weight += float(weight.sum())

    def unlimited(self, but: list[int]) -> list[str]:
        """The features whose coefficients no row limits, in any margin but some."""
        model, reach = self._model, self._largest - self._least
        found, tiny = self._by_square, np.finfo(np.float64).tiny
        if model.training.parameters.get("fit_intercept", True):
            found = found - self._by_x**2 / np.maximum(self._curvature, tiny)
        varies = np.isfinite(reach) & (reach > 0.0)
        in_rows = found / np.where(varies, reach, 1.0) ** 2 * (self._n_rows / max(self._weight, tiny))
        nothing = varies & (model.coef != 0.0) & (in_rows < NOTHING)
        return [model.names[j] for j in np.flatnonzero(np.delete(nothing, but, axis=0).any(axis=0))]

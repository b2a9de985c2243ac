"""Coefficients that no row limits: those of a word or a level that rows of one class alone have, and their like.

Without a penalty the size of such a coefficient says only where the solver stopped.
"""

from typing import TYPE_CHECKING

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.model.quality.undecided_rows import TINY, UndecidedRows

if TYPE_CHECKING:
    from riata.model.model import Model

NOTHING = 1e-3  # of one undecided row; a penalty stops a coefficient much earlier


class Undecided:
    """The undecided rows along each feature of a model, by the probabilities that it gives."""

    def __init__(self, model: "Model", columns: np.ndarray) -> None:
        self._model, self._rows = model, UndecidedRows(columns, len(model.coef))
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
        if len(self._model.coef) == 1:  # of classes in an order, whose probabilities share one margin
            curvature = curvature.sum(axis=1, keepdims=True)
        self._rows.add(X, curvature)
        self._n_rows += len(weight)
        self._weight += float(weight.sum())

    def unlimited(self, but: list[int]) -> list[str]:
        """The features whose coefficients no row limits, in any margin but those of some classes."""
        if but and len(self._model.coef) == 1:  # which all classes share
            return []
        model, one_row = self._model, max(self._weight, TINY) / max(self._n_rows, 1)
        along = self._rows.along(model.training.parameters.get("fit_intercept", True))
        nothing = (model.coef != 0.0) & (along < NOTHING * one_row)
        return [model.names[j] for j in np.flatnonzero(np.delete(nothing, but, axis=0).any(axis=0)).tolist()]

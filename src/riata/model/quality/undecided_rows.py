"""How many rows, in all, are undecided along each feature: the curvature of the loss in its coefficient.

It is counted for the whole range of the feature: of an indicator these are rows with it, or rows without it. Where a
row speaks against a coefficient, a fit leaves about one row undecided; where none does, the loss falls for ever as the
coefficient grows, and a fit goes on until none is left, but for the precision of the solver.
"""

import numpy as np

from riata.arrays import to_host
from riata.matrices.matrix import Matrix

TINY = np.finfo(np.float64).tiny


class UndecidedRows:
    """The sums of some rows after the others that tell it, for some features and one margin or several."""

    def __init__(self, features: np.ndarray, n_margins: int = 1) -> None:
        shape = n_margins, len(features)
        self._features = features
        self._by_x, self._by_square, self._curvature = np.zeros(shape), np.zeros(shape), np.zeros((n_margins, 1))
        self._least, self._largest = np.full(len(features), np.inf), np.full(len(features), -np.inf)

    def add(self, X: Matrix, curvature: np.ndarray) -> None:
        """Count rows of these second derivatives of the loss (rows x margins), times their weights."""
        for rows in X.blocks(2 * len(self._features)):
            x, by_row = to_host(X.columns(self._features, rows)), curvature[rows]
            self._by_x += by_row.T @ x
            self._by_square += by_row.T @ x**2
            self._curvature += by_row.sum(axis=0)[:, None]
            self._least = np.minimum(self._least, x.min(axis=0))
            self._largest = np.maximum(self._largest, x.max(axis=0))

    def along(self, fit_intercept: bool = True) -> np.ndarray:
        """Margins x features: the curvature, beside that of the intercept; infinite of a feature that does not vary."""
        reach, found = self._largest - self._least, self._by_square
        if fit_intercept:
            found = found - self._by_x**2 / np.maximum(self._curvature, TINY)
        varies = np.isfinite(reach) & (reach > 0.0)
        return np.where(varies, found / np.where(varies, reach, 1.0) ** 2, np.inf)

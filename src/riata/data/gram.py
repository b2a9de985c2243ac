"""Second-order statistics of all columns: X'X, X'y, y'y about the means, in one pass and d^2 numbers."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

BLOCK_ROWS = 2048


@dataclass(frozen=True)
class Gram:
    """Weighted sums of products about the means."""

    weight: float
    mean: np.ndarray
    y_mean: float
    xx: np.ndarray
    xy: np.ndarray
    yy: float

    def normal(self, fit_intercept):
        """(A, c, q) with mean squared loss = (v'Av - 2 c'v + q) / 2 at the best intercept, or at none."""
        if fit_intercept:
            return self.xx / self.weight, self.xy / self.weight, self.yy / self.weight
        return (
            self.xx / self.weight + np.outer(self.mean, self.mean),
            self.xy / self.weight + self.mean * self.y_mean,
            self.yy / self.weight + self.y_mean**2,
        )


def gram_bytes(n_features: int) -> int:
    """What the statistics of so many columns need while they are made and used."""
    return 2 * 8 * n_features**2


def gram_of(data) -> Gram:
    """The statistics of a dataset: one pass (and the moments, to centre before multiplying)."""
    moments = data.moments
    d = data.n_features
    xx, xy = np.zeros((d, d)), np.zeros(d)
    for chunk in data.visit():
        for i in range(0, chunk.n_rows, BLOCK_ROWS):
            X, y, weight = chunk.rows(slice(i, i + BLOCK_ROWS))
            X = X.toarray() if sp.issparse(X) else X
            root = np.sqrt(weight)[:, None]
            centred = root * (X - moments.mean)
            xx += centred.T @ centred
            xy += centred.T @ (root[:, 0] * (y - moments.y_mean))
    return Gram(moments.weight, moments.mean, moments.y_mean, xx, xy, moments.y_squares)

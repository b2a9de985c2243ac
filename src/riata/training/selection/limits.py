"""Coefficients that no row limits, as that of a level all of whose rows are of one class.

The loss falls for ever as such a coefficient grows: its size says only where the solver stopped, and on other rows one
mistake costs as much.
"""

import numpy as np

from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.losses import Loss

UNDECIDED = 1e-3  # rows, at least: where one speaks against a coefficient, a fit leaves about one row undecided
CURVATURE = 0.25  # of the loss of a row of which nothing is known, about: that of the logistic loss


def without_limit(data: Dataset, loss: Loss, coef: np.ndarray, intercept: float) -> bool:
    """Whether some coefficient of a margin between two classes has no limit: a pass. Rows elsewhere are not asked."""
    support = np.flatnonzero(coef)
    if not len(support) or isinstance(data, Remote) or data.send is not None:
        return False
    total, by_x, by_square = 0.0, np.zeros(len(support)), np.zeros(len(support))
    least, largest = np.full(len(support), np.inf), np.full(len(support), -np.inf)
    for chunk in data.visit():
        curvature = chunk.weight * loss.second_derivative(chunk.y, chunk.X.margins(coef, intercept))
        for rows in chunk.X.blocks(len(support)):
            x = chunk.X.columns(support, rows)
            total += float(curvature[rows].sum())
            by_x += curvature[rows] @ x
            by_square += curvature[rows] @ x**2
            least, largest = np.minimum(least, x.min(axis=0)), np.maximum(largest, x.max(axis=0))
    varies = largest > least
    of_rows = (by_square - by_x**2 / max(total, np.finfo(np.float64).tiny))[varies] / (largest - least)[varies] ** 2
    one_row = CURVATURE * data.total_weight / data.n_observed
    return bool((of_rows < UNDECIDED * one_row).any())

"""Coefficients that no row limits, as that of a level all of whose rows are of one class.

The size of such a coefficient says only where the solver stopped, and on other rows one mistake costs as much.
"""

import numpy as np

from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.losses import Loss
from riata.model.quality.undecided_rows import UndecidedRows

NOTHING = 1e-3  # of one undecided row
CURVATURE = 0.25  # of the loss of a row of which nothing is known, about: that of the logistic loss


def without_limit(data: Dataset, loss: Loss, coef: np.ndarray, intercept: float) -> bool:
    """Whether some coefficient of a margin between two classes has no limit: a pass. Rows elsewhere are not asked."""
    support = np.flatnonzero(coef)
    if not len(support) or isinstance(data, Remote) or data.send is not None:
        return False
    undecided = UndecidedRows(support)
    for chunk in data.visit():
        curvature = chunk.weight * loss.second_derivative(chunk.y, chunk.X.margins(coef, intercept))
        undecided.add(chunk.X, curvature[:, None])
    one_row = CURVATURE * data.total_weight / data.n_observed
    return bool((undecided.along() < NOTHING * one_row).any())

"""Stability selection of an estimator."""

from typing import Any

import numpy as np
from sklearn.base import clone

from riata.data.dataset import Dataset
from riata.estimators.base import SparseLinear
from riata.estimators.input_checks import with_marks
from riata.training.selection.stability import Stability, check_counts_features, stability_of


def stability_selection(
    estimator: SparseLinear,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    groups: Any = None,
    rounds: int = 50,
    threshold: float = 0.75,
    seed: int = 0,
) -> Stability:
    """Fit clones of an estimator to both halves of the rows, `rounds` times, and count what they choose.

    Parameters
    ----------
    estimator : SparseRegressor or SparseClassifier
        With the k, the alpha or the alpha_ratio at which features are to be stable.
    X, y, sample_weight, offset, exposure
        What the estimator's `fit` takes; a `Dataset` brings its own target.
    groups : array, optional
        A label for each row, such as its customer: halves keep the rows of a group together.
    rounds : int, default=50
        Pairs of halves: twice as many fits.
    threshold : float, default=0.75
        The share of halves, above one half, from which on a feature is stable.
    seed : int, default=0
        Of the halves; what is random in their fits, ``random_state`` of the estimator seeds.

    Returns
    -------
    Stability
        How often each feature was chosen, which are stable, and how many of these are expected to be wrong at most.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> found = riata.stability_selection(riata.SparseRegressor(k=2), X, 3 * X[:, 4] - X[:, 7], rounds=5)
    >>> [int(j) for j in found.stable], round(found.error_bound, 2)
    ([4, 7], 0.4)
    """
    check_counts_features(estimator.solver)

    def coefficients(rows: Dataset) -> np.ndarray:
        return np.atleast_2d(clone(estimator).fit(rows).coef_)

    data = clone(estimator)._dataset(X, y, sample_weight, offset=offset, exposure=exposure)
    data = with_marks(data, X, sample_weight, groups=groups)
    return stability_of(data, coefficients, rounds=rounds, threshold=threshold, seed=seed)

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
    """Find the features that an estimator chooses again and again when it is fitted to random halves of the rows.

    Parameters
    ----------
    estimator : SparseRegressor or SparseClassifier
        With a number for k, alpha or alpha_ratio; clones of it are fitted.
    X, y, sample_weight, offset, exposure
        As for the estimator's `fit`; a `Dataset` has its own target.
    groups : array, optional
        A label per row, such as its customer: the rows of a group stay in one half.
    rounds : int, default=50
        How often the rows are cut into two halves; each half is a fit.
    threshold : float, default=0.75
        A feature is stable if at least this share of the halves choose it; more than 0.5.
    seed : int, default=0
        Seed of the halves. The ``random_state`` of the estimator seeds what is random in the fits.

    Returns
    -------
    Stability
        How often each feature was chosen, which features are stable, and a bound on how many of them are noise.

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

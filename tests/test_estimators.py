"""The estimators keep scikit-learn's conventions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import riata


@parametrize_with_checks(
    [
        riata.SparseRegressor(),
        riata.SparseClassifier(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

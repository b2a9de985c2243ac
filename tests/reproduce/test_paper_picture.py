"""The paper's picture on digits49 with rows of unit norm, within loose bounds (docs/paper.md has the table)."""

import numpy as np
import pytest

import riata
from riata.datasets import load_digits49

PAPER = {"loss": "squared", "normalize": "rows", "standardize": False, "fit_intercept": False, "random_state": 0}


@pytest.fixture(scope="module")
def digits():
    return load_digits49("train"), load_digits49("test")


def accuracy_and_features(digits, **options):
    train, test = digits
    model = riata.SparseClassifier(**PAPER, **options).fit(train.X, train.y)
    return model.score(test.X, test.y), np.count_nonzero(model.coef_)


def test_online_l1_is_accurate_or_sparse(digits):
    fobos, fobos_features = accuracy_and_features(digits, solver="fobos", alpha=1e-5)
    assert fobos >= 0.95
    assert fobos_features > 4500
    sparse, sparse_features = accuracy_and_features(digits, solver="fobos", alpha=1e-2)
    assert sparse_features < 2000
    assert sparse < fobos - 0.02
    subgradient, subgradient_features = accuracy_and_features(digits, solver="subgradient", alpha=1e-5)
    assert subgradient_features > 4900
    assert subgradient < fobos - 0.02


def test_l0_sgd_is_both(digits):
    accuracy, features = accuracy_and_features(digits, solver="l0-sgd", k=400)
    assert features == 400
    assert accuracy >= 0.94


def test_coordinate_descent_is_both(digits):
    accuracy, features = accuracy_and_features(digits, solver="cd", alpha_ratio=0.01, tol=0.05)
    assert features < 1000
    assert accuracy >= 0.96

"""Warnings point at the line of the user."""

import warnings

import pytest

import riata


def of_regressor(X, y):
    return riata.SparseRegressor(alpha_ratio=1e-4, max_passes=1, solver="cd").fit(X, y)


def of_classifier(X, y):
    return riata.SparseClassifier(alpha_ratio=1e-4, max_passes=1, solver="cd").fit(X, y > 0)


def of_train(X, y):
    return riata.train(riata.open(X, y), riata.Spec(alpha_ratio=1e-4, max_passes=1, solver="cd"))


@pytest.mark.parametrize("fit", [of_regressor, of_classifier, of_train])
def test_a_fit_that_stops_early_warns_of_the_line_that_asked_for_it(fit, rng):
    X = rng.normal(size=(60, 20)) + rng.normal(size=(60, 1))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit(X, X @ rng.normal(size=20) + rng.normal(size=60))
    (one,) = told
    assert "stopped before the tolerance" in str(one.message)
    assert (one.filename, one.lineno) == (__file__, fit.__code__.co_firstlineno + 1)

"""Warnings point at the line of the user, and say by their class what they are about."""

import errno
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import riata
from riata.errors import (
    DataWarning,
    ModelWarning,
    NotConvergedWarning,
    OptionWarning,
    OutputWarning,
    RiataWarning,
)
from riata.training.checkpoint import Checkpoints


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
    assert issubclass(one.category, NotConvergedWarning)
    assert issubclass(one.category, ConvergenceWarning) == (fit is not of_train)
    assert (one.filename, one.lineno) == (__file__, fit.__code__.co_firstlineno + 1)


def more_features_than_there_are(X, y, folder):
    riata.SparseRegressor(k=9).fit(X, y)


def further_than_there_are_features(X, y, folder):
    riata.SparseRegressor(k="auto", k_max=9).fit(X, y)


def a_column_that_hardly_varies(X, y, folder):
    riata.SparseRegressor(alpha=0.1).fit(np.column_stack([1e14 + X[:, 0], X[:, 1:]]), y)


def nothing_found_to_polish(X, y, folder):
    riata.SparseRegressor(solver="online", alpha=1e9, polish=True).fit(X, y)


def a_checkpoint_on_a_full_disk(X, y, folder):
    with patch.object(Checkpoints, "_write", side_effect=OSError(errno.ENOSPC, "no space left")):
        riata.SparseRegressor(k=2, solver="l0-sgd", checkpoint=str(folder), every=0).fit(X, y)


@pytest.mark.parametrize(
    ("fit", "category"),
    [
        (more_features_than_there_are, OptionWarning),
        (further_than_there_are_features, OptionWarning),
        (a_column_that_hardly_varies, DataWarning),
        (nothing_found_to_polish, ModelWarning),
        (a_checkpoint_on_a_full_disk, OutputWarning),
    ],
)
def test_only_a_fit_that_stopped_early_is_said_not_to_converge(fit, category, rng, tmp_path):
    X = rng.normal(size=(60, 3)) + rng.normal(size=(60, 1))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit(X, X @ np.array([1.0, 2.0, 0.0]) + rng.normal(size=60), tmp_path)
    assert told
    assert {one.category for one in told} == {category}
    assert not issubclass(category, ConvergenceWarning)
    assert issubclass(category, RiataWarning)

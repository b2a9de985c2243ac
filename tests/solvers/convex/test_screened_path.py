"""A path over the features that may be in its models has the models of the path over all features."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from convex_problems import make
from path_gaps import gaps_by_passes
from riata.data.in_memory import InMemory
from riata.objective import Problem, empty_start
from riata.solvers.convex import screened_path
from riata.training.paths.path import GrowingPath
from riata.training.spec import Spec
from riata.training.targets.outputs import of_coefficients

TOL = 1e-6


def wide(loss, layout=np.asarray):
    X, y = make(loss, n=60, d=200, seed=3)
    return InMemory(layout(np.hstack([X, X[:, :20] + 0.1 * X[:, 20:40]])), y)  # some go together


def models(data, spec, alphas, **how):
    path = GrowingPath(data, spec, alphas, **how)
    while path.grow():
        pass
    return path.models()


def alphas_of(data, spec):
    return GrowingPath(data, spec, length=23, reach=0.05).alphas


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "squared"},
        {"loss": "logistic", "standardize": False},
        {"loss": "poisson", "l1_ratio": 0.7},
        {"loss": "huber", "fit_intercept": False},
        {"loss": "logistic", "nonnegative": True},
        {"loss": "squared", "penalty_factors": np.r_[0.0, 0.0, np.linspace(0.5, 2.0, 218)]},
    ],
)
def test_all_models_are_those_of_the_path_over_all_features(options, layout):
    spec = Spec(tol=TOL, **options)
    data = wide(spec.loss, layout)
    alphas = alphas_of(data, spec)
    screened, full = (models(data, spec, alphas, only_scored=only) for only in (True, False))
    assert max(gaps_by_passes(data, spec, screened)) < 2 * TOL
    assert_allclose(screened.objectives, full.objectives, rtol=1e-5)
    assert_allclose(screened.coefs, full.coefs, atol=2e-2 * np.abs(full.coefs).max())


def test_a_feature_that_was_left_out_by_mistake_is_found_again(monkeypatch):
    spec, tried = Spec(loss="squared", tol=TOL), []
    data = wide("squared")
    alphas = alphas_of(data, spec)
    narrowed = screened_path._narrowed

    def without_most(problem, start, drop):
        return np.union1d(np.flatnonzero(start.w), [0])

    def seen(problem, start, features):
        tried.append(features)
        return narrowed(problem, start, features)

    monkeypatch.setattr(screened_path, "_possible", without_most)
    monkeypatch.setattr(screened_path, "_narrowed", seen)
    path = models(data, spec, alphas, only_scored=True)
    assert len(tried) > -(-len(alphas) // screened_path.AT_A_TIME)
    last = slice(screened_path.AT_A_TIME - 1, None, screened_path.AT_A_TIME)
    full = models(data, spec, alphas)
    assert_allclose(path.objectives[last], full.objectives[last], rtol=1e-5)


def test_where_most_features_may_be_in_all_are_read():
    data, spec = wide("squared"), Spec(loss="squared")
    problem = Problem(data, spec.loss_function, of_coefficients(spec, data.n_features).penalty_at(1e-9, 1.0))
    assert screened_path.can_be_screened(problem)
    assert_array_equal(screened_path._possible(problem, empty_start(problem), 1.1), np.arange(data.n_features))


def test_with_more_rows_than_features_nothing_is_left_out():
    X, y = make("logistic", n=80, d=30)
    spec = Spec(loss="logistic")
    problem = Problem(InMemory(X, y), spec.loss_function, of_coefficients(spec, 30).penalty_at(1.0, 1.0))
    assert not screened_path.can_be_screened(problem)

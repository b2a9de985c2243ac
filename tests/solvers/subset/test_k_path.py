"""The path over k: every size is swap-optimal and no worse than a fit of that size alone would have to be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_best_k import correlated, labels

from chunked import Chunked
from naive_l0 import best_subset, best_swap, refit
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.solvers.subset.best_per_size import best_per_size
from riata.training.fitting import make_problem, solver_options
from riata.training.spec import Spec


def path_of(data, k_max, **options):
    spec = Spec(k=k_max, **options)
    return best_per_size(make_problem(data, spec)[0], k_max, solver_options(spec))


def test_every_size_is_swap_optimal(rng):
    X, y = correlated(rng, d=25)
    path = path_of(InMemory(X, y), 6)
    assert [len(model.support) for model in path.models] == [1, 2, 3, 4, 5, 6]
    for model in path.models:
        F, w, b = refit(X, y, model.support)
        assert_allclose(model.objective, F, rtol=1e-9)
        assert_allclose(model.coef, w, rtol=1e-6)
        assert_allclose(model.intercept, b, atol=1e-7 * np.abs(y).max())
        assert best_swap(X, y, model.support) >= F - 1e-9 * y.var()


def test_small_sizes_are_the_best_of_all_subsets(rng):
    X, y = correlated(rng, d=12)
    best = [best_subset(X, y, k)[0] for k in (1, 2, 3)]
    assert_allclose(path_of(InMemory(X, y), 5).objectives[:3], best, rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_chunks_do_not_matter_and_passes_are_few(rng, loss):
    X, y = correlated(rng, d=200)
    y = labels(rng, y) if loss == "logistic" else y
    data = Chunked(X, y, 17)
    path, reference = path_of(data, 8, loss=loss), path_of(InMemory(X, y), 8, loss=loss)
    assert_allclose(path.objectives, reference.objectives, rtol=1e-8)
    assert (np.diff(path.objectives) <= 1e-12).all()
    assert data.passes <= 30


def test_a_path_ends_where_no_feature_is_of_use(rng):
    X = rng.normal(size=(40, 3))
    path = path_of(InMemory(np.hstack([X, X]), X @ [1.0, 2.0, 3.0]), 5)
    assert [len(model.support) for model in path.models] == [1, 2, 3]
    assert path.objectives[-1] < 1e-9


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_path_of_useless_features_is_the_empty_model(loss):
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    path = path_of(InMemory(np.ones((6, 3)), y), 2, loss=loss)
    assert [len(model.support) for model in path.models] == [0]
    assert_allclose(path.objectives, refit(np.ones((6, 3)), y, [], loss=LOSSES[loss])[0], rtol=1e-7)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_ridge_that_leaves_nothing_to_gain_makes_the_empty_model(rng, loss):
    """That no feature helps was an index out of bounds."""
    X, y = correlated(rng, d=12)
    y = labels(rng, y) if loss == "logistic" else y
    assert [len(model.support) for model in path_of(InMemory(X, y), 3, loss=loss, ridge=1e13).models] == [0]

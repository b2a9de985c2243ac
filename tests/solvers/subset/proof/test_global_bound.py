"""Bounds on all models of k features are never wrong: brute force on many small problems of every kind."""

import os
from dataclasses import replace

import numpy as np
import pytest

import riata
from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.outcome.proofs import GlobalBound, NoBound
from riata.outcome.sentences import how_much_better
from riata.training.fitting import fit
from riata.training.paths.k_paths import k_path_of_margin
from riata.training.spec import Spec
from subset_problems import CURVED, every_optimum, small_subset

FIRST = int(os.environ.get("RIATA_FIRST_CASE", "0"))
CASES = int(os.environ.get("RIATA_CASES", "60"))  # a few thousand of them take minutes
ROUNDED = 1e-9  # of the optimum: Newton's refits end so far above it, at most


@pytest.mark.parametrize("part", range(2))
def test_no_model_has_an_objective_below_its_bound(part):
    proved = 0
    for seed in range(FIRST + part, FIRST + CASES, 2):
        case = small_subset(seed)
        result = fit(case.data(), case.spec).result
        least, _ = every_optimum(case)
        if isinstance(result.bound, GlobalBound):
            assert result.bound.objective == result.objective
            assert result.bound.value <= least * (1 + ROUNDED), seed
            if result.bound.is_best:
                proved += 1
                assert result.objective <= least * (1 + 1e-7), seed
        else:
            assert isinstance(result.bound, NoBound)
    assert proved


@pytest.mark.parametrize("loss", CURVED)
def test_every_size_of_a_path_has_its_bound(loss):
    for seed in range(4):
        case = small_subset(seed, loss, groups=bool(seed % 2), ridge=0.1)
        found = k_path_of_margin(case.data(), case.spec, case.spec.k)
        for k in range(1, case.spec.k + 1):
            of_size = small_subset(seed, loss, groups=bool(seed % 2), ridge=0.1)
            of_size = type(case)(case.X, case.y, case.weight, Spec(**{**vars(of_size.spec), "k": k}))
            assert 0.0 <= found.bounds[k].value <= every_optimum(of_size)[0] * (1 + ROUNDED)
        assert np.all(np.diff(found.bound_values) <= 0.0)


def wide(rng, n=60, d=300):
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1))
    return X, X[:, 3] - X[:, 7] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_more_features_than_candidates_are_bounded_from_chunks_too(rng, loss):
    X, y = wide(rng)
    y = np.sign(y) if loss == "logistic" else y
    bounds = []
    for data in (InMemory(X, y), Chunked(X, y, 7)):
        result = fit(data, Spec(k=2, ridge=1.0, loss=loss)).result
        assert result.bound.value <= result.objective
        bounds.append(result.bound.gap)
    assert max(bounds) < 0.1


def test_the_bound_is_in_python_in_the_file_and_along_a_path(rng, tmp_path):
    X, y = wide(rng, 80, 9)
    model = riata.SparseRegressor(k=2, ridge=0.1).fit(X, y)
    assert isinstance(model.bound_, GlobalBound)
    assert model.how_much_better_ == how_much_better(model.bound_)
    model.to_model().save(tmp_path / "m.json")
    assert riata.load_model(tmp_path / "m.json").training.bound == [model.bound_]
    assert not hasattr(riata.SparseRegressor(alpha=0.1).fit(X, y), "bound_")
    auto = riata.SparseRegressor(k="auto", k_max=4, ridge=0.1).fit(X, y)
    assert auto.bound_ == auto.path_.bounds[auto.selection_.index]
    assert np.all(auto.path_.bound_values <= auto.path_.objectives)
    three = riata.SparseClassifier(k=2, ridge=0.1).fit(X, np.digitize(y, [-0.5, 0.5]))
    assert [type(bound) for bound in three.bound_] == [GlobalBound] * 3


def test_without_a_ridge_the_products_of_all_features_give_one(rng):
    X, y = wide(rng, 200, 20)
    bound = fit(InMemory(X, y), Spec(k=3)).result.bound
    assert isinstance(bound, GlobalBound)
    assert bound.gap < 0.2


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_path_names_a_ridge_for_its_largest_size_alone(rng, loss):
    """At the largest model all slopes of the others are next to nothing, and so would a ridge for a small one be."""
    X, y = wide(rng)
    y = y if loss == "squared" else np.sign(y)
    bounds = k_path_of_margin(InMemory(X, y), Spec(loss=loss), 3).bounds
    assert [bound.ridge is None for bound in bounds[1:]] == [True, True, False]


def test_without_a_ridge_and_with_few_rows_a_ridge_is_named_that_gives_one(rng):
    X, y = wide(rng)
    bound = fit(InMemory(X, y), Spec(k=2)).result.bound
    assert isinstance(bound, NoBound)
    with_ridge = fit(InMemory(X, y), Spec(k=2, ridge=float(f"{bound.ridge:.1g}"))).result.bound
    assert isinstance(with_ridge, GlobalBound)
    assert with_ridge.gap < 0.5


@pytest.mark.parametrize("loss", CURVED)
def test_a_single_feature_that_no_other_beats_is_the_best(loss):
    proved = 0
    for seed in range(12):
        case = small_subset(seed, loss, groups=False, ridge=[0.0, 1e-3][seed % 2] if loss == "squared" else 1e-3)
        case = replace(case, spec=replace(case.spec, k=1))
        result = fit(case.data(), case.spec).result
        least, _ = every_optimum(case)
        assert result.bound.value <= least * (1 + ROUNDED), seed
        assert result.objective <= least * (1 + 1e-7), seed
        proved += result.bound.is_best
    assert proved >= 11  # one may be within rounding of another


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", "cox"])
def test_models_of_all_features_or_of_one_of_few_are_said_to_be_the_best(rng, loss):
    X = rng.normal(size=(80, 4))
    z = X[:, 0] - X[:, 1] + rng.normal(size=80)
    if loss == "cox":
        y = np.array([(True, t) for t in np.exp(-z)], dtype=[("event", bool), ("time", float)])
        fits = [riata.SparseSurvival(k=k).fit(X, y) for k in (1, 4)]
    elif loss == "squared":
        fits = [riata.SparseRegressor(k=k).fit(X, z) for k in (1, 4)]
    else:
        fits = [riata.SparseClassifier(k=k, loss=loss).fit(X, np.digitize(z, [0.0])) for k in (1, 4)]
    assert [one.how_much_better_ for one in fits] == [
        f"this is the best model of {k} {name} there is" for k, name in ((1, "feature"), (4, "features"))
    ]

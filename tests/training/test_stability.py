"""Stability selection finds what is there, and its bound is the formula of the papers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import riata
from chunked import Chunked
from riata.errors import DataError, OptionError
from riata.training.selection.stability import Stability


def make(n=80, d=12, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 2 * X[:, 5] - 1.5 * X[:, 2] + rng.normal(size=n)


@pytest.mark.parametrize("strength", [{"k": 2}, {"alpha_ratio": 0.3}], ids=str)
def test_the_true_features_are_stable_and_noise_is_not(strength):
    X, y = make()
    found = riata.stability_selection(riata.SparseRegressor(**strength), X, y, rounds=8)
    assert_array_equal(np.sort(found.stable), [2, 5])
    assert found.n_halves == 16
    assert_allclose(found.q, found.frequencies.sum())


def test_classes_and_chunks():
    X, y = make()
    y = np.where(y > 0, "yes", "no")
    model = riata.SparseClassifier(k=2, tol=1e-4)
    found = riata.stability_selection(model, X, y, rounds=3, seed=5)
    data = Chunked(X, (y == "yes") * 1.0, 9, classes=np.array(["no", "yes"]))
    again = riata.stability_selection(model, data, rounds=3, seed=5)
    assert_array_equal(found.frequencies, again.frequencies)
    assert not hasattr(model, "coef_")


def test_frequencies_are_those_of_the_halves():
    """One round is two fits, to halves that have no row in common and leave none out."""
    X, y = make(n=31)
    seen = []

    class Recorder(riata.SparseRegressor):
        def fit(self, X, y=None, sample_weight=None, *, validation=None):
            seen.append(X.targets()[0])
            return super().fit(X, y, sample_weight)

    found = riata.stability_selection(Recorder(k=1), X, y, rounds=1)
    assert_allclose(np.sort(np.concatenate(seen)), np.sort(y))
    assert abs(len(seen[0]) - len(seen[1])) <= 1
    assert set(found.frequencies) <= {0.0, 0.5, 1.0}


def test_stable_features_have_names_with_categories_too(rng):
    size, kind = rng.normal(size=90), rng.choice(["a", "b", "c"], 90)
    frame = pd.DataFrame({"kind": kind, "noise": rng.normal(size=90), "size": size})
    y = 3.0 * size + 5.0 * (kind == "b") + 0.1 * rng.normal(size=90)
    found = riata.stability_selection(riata.SparseRegressor(k=2), frame, y, rounds=3)
    assert sorted(found.stable_names) == ["kind=b", "size"]
    numbers = riata.stability_selection(riata.SparseRegressor(k=1), frame[["noise", "size"]], y, rounds=2)
    assert numbers.stable_names == ["size"]
    assert riata.stability_selection(riata.SparseRegressor(k=1), frame[["size"]].to_numpy(), y).stable_names == ["x0"]


def test_a_bound_above_the_number_of_stable_features_is_said_to_say_nothing():
    few = Stability(np.ones(6), threshold=0.75, n_halves=10, q=6.0, spread=np.zeros((1, 6)))
    assert few.about_noise().endswith("the bound on that, 12, says nothing.")
    many = Stability(np.eye(100)[0], threshold=0.75, n_halves=10, q=1.0, spread=np.zeros((1, 100)))
    assert many.about_noise().startswith("At most 0.02 of them are expected to be noise")
    assert Stability(np.zeros(5), 0.75, 10, 0.0, np.zeros((1, 5))).about_noise() == ""


def test_the_bound_is_its_formula():
    found = Stability(np.full(100, 0.05), threshold=0.75, n_halves=10, q=5.0, spread=np.zeros((1, 100)))
    assert_allclose(found.error_bound, 5.0**2 / ((2 * 0.75 - 1) * 100))
    assert len(found.stable) == 0


def test_the_bound_holds_on_noise():
    """Of noise alone, as many features are stable as the bound allows, on average over targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30))
    runs = [
        riata.stability_selection(riata.SparseRegressor(k=2), X, rng.normal(size=40), rounds=4, threshold=0.7)
        for _ in range(10)
    ]
    assert np.mean([len(run.stable) for run in runs]) <= np.mean([run.error_bound for run in runs])


@pytest.mark.parametrize(("options", "sentence"), [
    ({"threshold": 0.5}, "threshold must lie above 0.5"),
    ({"rounds": 0}, "rounds must be at least 1"),
])  # fmt: skip
def test_bad_options(options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.stability_selection(riata.SparseRegressor(k=1), *make(), **options)


def test_a_solver_that_keeps_no_feature_by_itself_is_refused():
    with pytest.raises(OptionError, match="take another one"):
        riata.stability_selection(riata.SparseRegressor(k=1, solver="sketch"), *make())


def test_a_half_without_a_class_says_so():
    X, _ = make(n=20)
    y = np.r_[np.ones(19), 2.0]
    with pytest.raises(DataError, match=r"one class|no row"):
        riata.stability_selection(riata.SparseClassifier(k=1), X, y, rounds=1)


def test_the_spread_over_halves_is_the_standard_error():
    """About that of least squares, which is known."""
    X, y = make(n=400, d=6)
    found = riata.stability_selection(riata.SparseRegressor(k=6), X, y, rounds=100)
    centred = X - X.mean(axis=0)
    noise = np.var(y - riata.SparseRegressor(k=6).fit(X, y).predict(X), ddof=7)
    errors = np.sqrt(noise * np.diag(np.linalg.inv(centred.T @ centred)))
    assert_allclose(found.spread[0], errors, rtol=0.4)

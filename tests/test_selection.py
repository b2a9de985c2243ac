"""Choosing alpha: the folds are honest, the rules go the right way, the bounds are what the papers say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from riata import selection
from riata.data.memory import InMemory
from riata.data.part import Part, part_of
from riata.errors import OptionError
from riata.fitting import Spec
from riata.path import path
from riata.selection import by_criterion, cross_validated, path_losses, stable_features, validated
from test_exact import Chunks, make

GRID = {"length": 25, "reach": 0.01}


def test_parts_hold_every_row_once():
    X, y = make("squared", n=101, d=6)
    data = Chunks(X, y, chunk_rows=20)
    parts = [np.concatenate([chunk.y for chunk in Part(data, 5, part, 0).visit()]) for part in range(5)]
    assert_array_equal(np.sort(np.concatenate(parts)), np.sort(y))
    assert {len(part) for part in parts} <= {19, 20, 21, 22}
    for part in range(5):
        rest = np.concatenate([chunk.y for chunk in Part(data, 5, part, 0, without=True).visit()])
        assert_array_equal(np.sort(np.concatenate([rest, parts[part]])), np.sort(y))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("source", [InMemory, Chunks])
def test_scores_are_those_of_separate_fits(loss, source):
    X, y = make(loss, n=90, d=12)
    data, spec = source(X, y), Spec(loss=loss, tol=1e-9)
    found = cross_validated(data, spec, folds=3, seed=4, **GRID)
    expected = []
    for fold in range(3):
        models = path(part_of(data, 3, fold, 4, without=True), spec, found.path.alphas)
        expected.append(path_losses(models, part_of(data, 3, fold, 4), spec))
    assert_allclose(found.scores, np.mean(expected, axis=0), rtol=1e-5)
    assert_allclose(found.errors, np.std(expected, axis=0, ddof=1) / np.sqrt(3), rtol=1e-3)


def test_statistics_of_folds_take_one_pass_more_than_the_path():
    X, y = make("squared", n=200, d=12)
    alone, both = Chunks(X, y), Chunks(X, y)
    path(alone, Spec(), **GRID)
    cross_validated(both, Spec(), **GRID)
    assert both.passes == pytest.approx(alone.passes + 1)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_one_standard_error_goes_towards_the_sparser_model(loss):
    X, y = make(loss)
    best = cross_validated(InMemory(X, y), Spec(loss=loss), one_se=False, **GRID)
    sparser = cross_validated(InMemory(X, y), Spec(loss=loss), **GRID)
    assert sparser.best == best.chosen
    assert sparser.alpha > best.alpha
    assert np.count_nonzero(sparser.coef) <= np.count_nonzero(best.coef)
    assert sparser.scores[sparser.chosen] <= sparser.scores[sparser.best] + sparser.errors[sparser.best]


def test_the_model_is_the_one_of_the_path_on_all_rows():
    X, y = make("squared")
    found = cross_validated(InMemory(X, y), Spec(tol=1e-10), **GRID)
    expected = path(InMemory(X, y), Spec(tol=1e-10), found.path.alphas)
    assert_allclose(found.coef, expected.coefs[found.chosen], atol=1e-7)
    assert found.intercept == pytest.approx(expected.intercepts[found.chosen], abs=1e-6)


def test_criteria_are_their_formulas():
    X, y = make("squared")
    n = len(y)
    for name, cost in (("aic", 2.0), ("bic", np.log(n))):
        found = by_criterion(InMemory(X, y), Spec(), name, **GRID)
        k = found.path.n_selected
        squares = [np.mean((y - X @ w - b) ** 2) for w, b in zip(found.path.coefs, found.path.intercepts, strict=True)]
        assert_allclose(found.scores, n * np.log(squares) + cost * (k + 1), rtol=1e-6)
        assert found.chosen == np.argmin(found.scores)
    sizes = [
        np.count_nonzero(by_criterion(InMemory(X, y), Spec(), name, **GRID).coef) for name in ("aic", "bic", "ebic")
    ]
    assert sizes[0] >= sizes[1] >= sizes[2] > 0


def test_a_validation_set_decides():
    X, y = make("logistic", n=200)
    train, rest = InMemory(X[:100], y[:100]), InMemory(X[100:], y[100:])
    found = validated(train, rest, Spec(loss="logistic"), **GRID)
    assert found.scores[found.chosen] == path_losses(found.path, rest, Spec(loss="logistic")).min()


def test_stability_finds_the_features_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 50))
    y = X[:, :3] @ [3.0, -2.0, 2.0] + rng.normal(size=200)
    found = stable_features(InMemory(X, y), Spec(), q=5, threshold=0.8, pairs=5)
    assert set(found.selected) >= {0, 1, 2}
    assert found.frequencies.sum() <= 5 + 1e-9
    assert found.expected_errors == pytest.approx(5**2 / (0.6 * 50))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda data: cross_validated(data, Spec(), folds=1), "folds must lie between 2 and the number of rows, 120"),
        (lambda data: by_criterion(data, Spec(), "cp"), "criterion must be one of aic, bic, ebic, not 'cp'"),
        (lambda data: stable_features(data, Spec(), q=0), "q must lie between 1 and the number of features, 40"),
        (lambda data: stable_features(data, Spec(), q=2, threshold=0.5), r"threshold must lie in \(0.5, 1\]"),
    ],
    ids=["folds", "criterion", "q", "threshold"],
)
def test_what_is_refused(call, sentence):
    X, y = make("squared")
    with pytest.raises(OptionError, match=sentence):
        call(InMemory(X, y))


def test_wide_data_is_never_squared():
    X, y = make("squared", n=30, d=60)
    assert not selection._statistics_serve(InMemory(X, y), Spec(), 5)
    assert cross_validated(InMemory(X, y), Spec(), **GRID).path.converged

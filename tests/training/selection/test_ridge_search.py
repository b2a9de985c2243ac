"""k="auto" chooses a ridge with k: where classes can be separated it takes one, and says so everywhere."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import riata
from riata.data.in_memory import InMemory
from riata.training.selection.asked import Search
from riata.training.selection.ridge_search import Scored, sizes_to
from riata.training.selection.search import search_path
from riata.training.spec import Spec


@pytest.fixture(scope="module")
def separable():
    """Few rows of many weak features: ten of them separate the classes, and fifty matter a little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 200))
    y = np.where(X[:, :50].sum(axis=1) + 2.0 * rng.normal(size=400) > 0, "yes", "no")
    return X[:80], y[:80], X[80:], y[80:]


def log_loss(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), (y == model.classes_[1]).astype(int)]
    return -np.mean(np.log(p))


def test_a_ridge_is_chosen_where_classes_can_be_separated_and_it_pays(separable):
    X, y, X_test, y_test = separable
    chosen = riata.SparseClassifier(k="auto", select="cv").fit(X, y)
    without = riata.SparseClassifier(k="auto", ridge=0.0, select="cv").fit(X, y)
    assert chosen.path_.ridge > 0 == without.path_.ridge
    assert log_loss(chosen, X_test, y_test) < log_loss(without, X_test, y_test)


def test_softmax_takes_a_ridge_too():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 8))
    y = np.argmax(X[:, :3] + 0.1 * rng.normal(size=(300, 3)), axis=1)
    asked = {"k": "auto", "loss": "softmax", "select": "cv", "cv": 3, "k_max": 4}
    chosen, without = (riata.SparseClassifier(**asked, **more).fit(X[:60], y[:60]) for more in ({}, {"ridge": 0.0}))
    assert chosen.path_.ridge > 0 == without.path_.ridge
    losses = [-np.mean(np.log(one.predict_proba(X[60:])[np.arange(240), y[60:]])) for one in (chosen, without)]
    assert losses[0] < losses[1]
    assert "with a ridge of" in chosen.selection_.reason


def test_the_ridge_is_in_the_reason_the_formula_and_the_file(separable, tmp_path):
    X, y, *_ = separable
    model = riata.SparseClassifier(k="auto", select="cv").fit(X, y)
    path = model.path_
    assert f"with a ridge of {path.ridge:.3g}, its features chosen under one of {path.chosen_under:.3g}" in (
        model.selection_.reason
    )
    saved = model.to_model()
    assert f"the features chosen under a ridge of {path.chosen_under:.3g}" in saved.objective
    saved.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["training"]["ridge"] == path.ridge
    assert_array_equal(path.values, [0, *sizes_to(path.values[-1])])
    margins = np.where(y == "yes", 1.0, -1.0) * (path.coefs @ X.T + path.intercepts[:, None])
    assert_allclose(path.losses, np.logaddexp(0.0, -margins).mean(axis=1), rtol=1e-7)


@pytest.mark.parametrize("options", [{"ridge": 0.3}, {"select": "bic"}, {"groups": [0, 1] * 5}], ids=str)
def test_a_ridge_that_was_given_is_kept_and_criteria_have_none(options, rng):
    X = rng.normal(size=(60, 10))
    model = riata.SparseRegressor(k="auto", k_max=2, **options).fit(X, X[:, 0] + rng.normal(size=60))
    assert model.path_.ridge == options.get("ridge", 0.0)
    assert model.path_.chosen_under is None


def test_rows_that_do_not_fit_beside_each_other_choose_the_same(separable, monkeypatch):
    X, y, *_ = separable
    data = InMemory(X, np.where(y == "yes", 1.0, -1.0))
    spec, search = Spec(loss="logistic"), Search("k", cv=3, k_max=6)
    together = search_path(data, spec, search)
    monkeypatch.setattr("riata.training.selection.scored_folds.fits_side_by_side", lambda *_: False)
    one_by_one = search_path(data, spec, search)
    assert_allclose(together[1].scores, one_by_one[1].scores, rtol=1e-9)
    assert together[0].ridge == one_by_one[0].ridge


def test_paths_go_on_where_their_largest_models_are_the_best(rng):
    """A hundred features matter alike: fifty are not enough."""
    X = rng.normal(size=(300, 150))
    y = X[:, :100].sum(axis=1) + 5.0 * rng.normal(size=300)
    path = riata.SparseRegressor(k="auto", select="cv").fit(X, y).path_
    assert path.ridge == 0 or path.values[-1] > 50
    assert riata.SparseRegressor(k="auto", select="cv", k_max=20).fit(X, y).path_.values[-1] == 20


@pytest.mark.parametrize(
    ("by_fold", "goes_on"),
    [
        ([[9, 5, 3, 1], [9, 6, 4, 2]], True),  # the more, the better
        ([[9, 5, 1, 3], [9, 6, 2, 4]], False),  # the best is not among the largest
        ([[9, 2, 3, 0], [9, 2, 3, 3.9]], False),  # nor can folds tell it from one of half as many features
        ([[1, 5, 3, 2], [1, 6, 4, 2]], False),  # the empty one is the best
    ],
)
def test_larger_models_are_tried_where_the_largest_are_clearly_better_than_half(by_fold, goes_on):
    scored = Scored(1.0, 1.0, [1, 2, 3], np.array(by_fold, dtype=float), np.ones(2))
    assert scored.ends_too_early == goes_on

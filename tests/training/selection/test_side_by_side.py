"""Folds side by side choose what folds one after the other choose, and end where scores have turned."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from convex_problems import make
from riata.data.in_memory import InMemory
from riata.outcome.path_end import EndReason
from riata.training.selection import scored_folds, side_by_side
from riata.training.selection.asked import Search
from riata.training.selection.search import search_path
from riata.training.spec import Spec


def noise(n, d, seed):
    """Labels that depend on one column of many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", ["logistic", "huber"])
@pytest.mark.parametrize("rule", ["cv", "cv-1se"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_they_choose_what_folds_one_by_one_choose(loss, rule, layout, monkeypatch):
    X, y = make(loss, n=150, d=60)
    spec = Spec(loss=loss)
    path, selection = search_path(InMemory(layout(X), y), spec, Search("alpha", rule, n_alphas=40))
    monkeypatch.setattr(scored_folds, "fits_side_by_side", lambda *_: False)
    full_path, full = search_path(InMemory(layout(X), y), spec, Search("alpha", rule, n_alphas=40))
    assert selection.index == full.index
    assert_allclose(selection.fold_scores, full.fold_scores[:, : len(path)], rtol=5e-3)
    assert_allclose(path.coefs, full_path.coefs[: len(path)], atol=1e-3)


def test_they_end_where_scores_have_turned_and_say_so():
    X, y = noise(200, 300, 0)
    path, selection = search_path(InMemory(X, y), Spec(loss="logistic"), Search("alpha"))
    assert path.ended.reason is EndReason.TURNED
    assert len(path) < 100
    assert f"of 100 alphas the first {len(path)} have models" in path.reason
    scores = selection.scores
    assert np.all(scores[-side_by_side.PATIENCE :] > scores.min())
    assert path.converged


def test_what_all_folds_read_is_counted():
    X, y = noise(100, 30, 1)
    data = InMemory(X, y)
    path, _ = search_path(data, Spec(loss="logistic"), Search("alpha", n_alphas=10))
    assert data.passes > path.passes + 5 * 0.8 * len(path) / 2


def test_one_core_and_several_find_the_same(monkeypatch):
    X, y = noise(120, 200, 2)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(side_by_side, "n_cores", lambda cores=cores: cores)
        path, selection = search_path(InMemory(X, y), Spec(loss="logistic"), Search("alpha", n_alphas=30))
        found.append((path.coefs, selection.fold_scores))
    for one, several in zip(*found, strict=True):
        assert_array_equal(one, several)


def test_folds_that_do_not_fit_are_not_copied_at_once():
    X, y = noise(100, 50, 3)
    data = InMemory(X, y)
    assert side_by_side.fits_side_by_side(data, 5, None)
    assert not side_by_side.fits_side_by_side(data, 5, 2 * X.nbytes)

"""Columns that are watched beside a working set: those that are pulled most, for as many entries as it has."""

import numpy as np
import pytest
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, duality_gap, elastic_net, first_order, gap_unit
from riata.solvers.convex import alpha_path, inner_method, newton, watched
from riata.solvers.convex.compiled_paths import models_ahead
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec


def words(rng, n=400, d=1500):
    share = 0.3 / np.arange(1, d + 1) ** 0.7
    X = sp.csr_array((rng.uniform(size=(n, d)) < share).astype(float))
    return X, np.asarray(X[:, :40] @ rng.normal(size=40)).ravel() + 0.1 * rng.normal(size=n)


def test_the_most_pulled_columns_are_watched_up_to_the_entries_of_the_working_set(rng):
    X, y = words(rng)
    data = InMemory(X, y)
    problem = Problem(data, LOSSES["squared"], elastic_net(0.01))
    at = first_order(problem, np.zeros(X.shape[1]), float(y.mean()))
    features = np.array([3, 8, 200])
    others = watched.watched(problem, at, features, 0)
    assert not np.isin(features, others).any()
    assert 0 < data.stored(others) <= data.stored(features)
    left = np.setdiff1d(np.arange(X.shape[1]), np.concatenate([features, others]))
    pull = np.abs(at.by_w)
    assert pull[others].min() >= np.sort(pull[left])[-len(features) :].min()  # the next one may have too many entries
    assert pull[others].min() >= np.median(pull)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("lower", [0.0, -np.inf])
def test_with_them_the_minimum_is_the_same_in_fewer_passes(rng, loss, lower, monkeypatch):
    X, y = words(rng)
    y = y if loss == "squared" else np.where(y > np.median(y), 1.0, -1.0)
    largest = alpha_max(Problem(InMemory(X, y), LOSSES[loss], elastic_net(1.0)))
    found = []
    for share in (1.0, 0.0):
        monkeypatch.setattr(watched, "LOOKED_AT", share)
        data = InMemory(X, y)
        spec = Spec(loss=loss, alpha=largest / 200, tol=1e-8, standardize=False, nonnegative=lower == 0.0)
        found.append((fit(data, spec).result, data.passes))
    (with_them, passes), (without, passes_without) = found
    assert with_them.objective == pytest.approx(without.objective, rel=2e-8)
    assert passes <= passes_without
    assert newton.watched is watched.watched


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_path_with_them_is_certified_in_fewer_passes(rng, loss, monkeypatch):
    """The strong rule misses features of it: without them at hand, each time it does takes a pass more."""
    X, y = words(rng)
    y = y if loss == "squared" else np.where(y > np.median(y), 1.0, -1.0)
    largest = alpha_max(Problem(InMemory(X, y), LOSSES[loss], elastic_net(1.0)))
    monkeypatch.setattr(models_ahead, "FAILURES", 0)
    monkeypatch.setattr(inner_method, "_columns_cost", lambda *_: 0.0)
    passes = []
    for share in (0.2, 0.0):
        monkeypatch.setattr(alpha_path, "WATCHED", share)
        data = InMemory(X, y)
        alphas = largest * np.geomspace(1.0, 3e-4, 40)
        found = path_of_margin(data, Spec(loss=loss, tol=1e-7, standardize=False), alphas)
        for alpha, w, b in zip(alphas, found.coefs, found.intercepts, strict=True):
            problem = Problem(data, LOSSES[loss], elastic_net(alpha))
            assert duality_gap(problem, w, first_order(problem, w, b)) <= 1.01e-7 * gap_unit(problem)
        passes.append(found.passes)
    assert passes[0] < passes[1]


@pytest.mark.parametrize(("share", "rows", "all_of_them"), [(0.8, 400, True), (0.2, 400, False), (0.8, 60, False)])
def test_most_of_few_sparse_columns_are_pulled_or_not(rng, share, rows, all_of_them):
    """By thresholds between the pulls of the columns; never of more columns than rows."""
    X = sp.random_array((rows, 100), density=0.2, rng=rng, format="csr")
    y = rng.normal(size=rows)
    at = first_order(Problem(InMemory(X, y), LOSSES["squared"], elastic_net(1.0)), np.zeros(100), float(y.mean()))
    problem = Problem(InMemory(X, y), LOSSES["squared"], elastic_net(float(np.quantile(np.abs(at.by_w), 1.0 - share))))
    assert watched.most_are_pulled(problem, at) == all_of_them
    dense = Problem(InMemory(X.toarray(), y), problem.loss, problem.penalty)
    assert not watched.most_are_pulled(dense, at)

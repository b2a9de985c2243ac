"""Several targets at once: the minimum of a slow and obvious method, with a certificate, wherever the rows lie."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from convex_problems import Chunks
from host_place import Host
from naive import outputs_proximal_gradient
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.losses import SquaredTargets
from riata.objective import Problem, duality_gap, empty_start, first_order, objective
from riata.penalties import ElasticNet, GroupLasso
from riata.solvers.convex.quadratics import targets_curvature
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

K = 3


def make(n=100, d=10, seed=0):
    """Correlated columns of different scales and means; targets of different units, far from 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    X = X * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    W = np.zeros((d, K))
    W[:4] = rng.normal(size=(4, K)) / X[:, :4].std(axis=0)[:, None]
    Y = (X @ W + rng.normal(size=(n, K))) * [1.0, 3.0, 0.2] + [5.0, 0.0, -8.0]
    return X, Y, rng.uniform(0.5, 2.0, size=n)


PENALTIES = {
    "per target": ({"alpha": 0.1, "l1_ratio": 0.7}, lambda d: ElasticNet(0.07, 0.03)),
    "shared support": (
        {"alpha": 0.2, "shared_support": True},
        lambda d: GroupLasso(np.repeat(np.arange(d), K), alpha=0.2, weights=np.ones(d)),
    ),
    "sparse groups": (
        {"alpha": 0.2, "shared_support": True, "group_ratio": 0.6},
        lambda d: GroupLasso(np.repeat(np.arange(d), K), 0.6, alpha=0.2, weights=np.ones(d)),
    ),
    "pairs of features": (
        {"alpha": 0.2, "groups": np.arange(10) // 2},
        lambda d: GroupLasso(np.repeat(np.arange(d) // 2, K), alpha=0.2, weights=np.full(d // 2, 2**0.5)),
    ),
}


@pytest.mark.parametrize("few", [0, 512])  # coefficients up to which the curvature is one matrix of all of them
@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_minimum_is_that_of_proximal_gradient(name, fit_intercept, few, monkeypatch):
    monkeypatch.setattr(targets_curvature, "FEW", few)
    X, Y, weight = make()
    X = (X - np.average(X, axis=0, weights=weight)) / X.std(axis=0)
    options, penalty = PENALTIES[name]
    spec = Spec(loss=SquaredTargets(K), standardize=False, fit_intercept=fit_intercept, tol=1e-9, **options)
    found = fit(InMemory(X, Y, weight), spec).result
    assert found.converged
    W, b = outputs_proximal_gradient(X, lambda z: z - Y, weight, penalty(X.shape[1]), K, fit_intercept, 2000)
    problem = Problem(InMemory(X, Y, weight), SquaredTargets(K), penalty(X.shape[1]), fit_intercept)
    least = objective(problem, W, b)
    assert_allclose(found.objective, least, rtol=1e-9)
    assert found.objective - found.gap * empty_start(problem).at.loss <= least + 1e-12  # the bound is below every model
    at = first_order(problem, 0.5 * W, b + 0.3)  # and so it is elsewhere
    assert at.loss + problem.penalty.value(0.5 * W) - duality_gap(problem, 0.5 * W, at) <= least + 1e-9


def strict():
    return Host(pytest.importorskip("array_api_strict"))


PLACES = {
    "csr": lambda X, y, s: InMemory(sp.csr_array(X), y, s),
    "chunks": Chunks,
    "device": lambda X, y, s: on_device(InMemory(X, y, s), strict()),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_model_is_the_same_wherever_the_rows_lie(place):
    X, Y, weight = make()
    for shared in (False, True):
        spec = Spec(loss=SquaredTargets(K), alpha_ratio=0.1, tol=1e-10, shared_support=shared)
        here, there = (fit(rows(X, Y, weight), spec).result for rows in (InMemory, PLACES[place]))
        assert there.converged
        assert_allclose(there.objective, here.objective, rtol=1e-9)
        assert_allclose(there.coef, here.coef, rtol=1e-3, atol=1e-4 * abs(here.coef).max())


@pytest.mark.parametrize("rows", [InMemory, Chunks])
def test_a_path_has_the_minimum_of_every_alpha(rows, monkeypatch):
    monkeypatch.setattr(targets_curvature, "FEW", 12)
    X, Y, weight = make()
    spec = Spec(loss=SquaredTargets(K), shared_support=True)
    found = path_of_margin(rows(X, Y, weight), spec, length=6, reach=0.02)
    assert found.converged
    for i in (2, 5):
        alone = fit(InMemory(X, Y, weight), Spec(loss=SquaredTargets(K), alpha=found.alphas[i], shared_support=True))
        assert_allclose(found.objectives[i], alone.result.objective, rtol=2e-6)

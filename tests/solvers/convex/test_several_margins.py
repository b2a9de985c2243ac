"""One model of several classes: the minimum of a slow and obvious method, with a certificate, wherever the rows lie."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from convex_problems import Chunks
from host_place import Host
from naive import softmax_proximal_gradient
from riata.data import sample
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.losses import Softmax
from riata.objective import Problem, duality_gap, empty_start, first_order, objective
from riata.penalties import ElasticNet, GroupLasso
from riata.solvers.convex.columns import outputs_columns
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

K = 4


def make(n=150, d=12, seed=0):
    """Correlated columns of different scales and means; classes of unequal shares."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    X = X * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    W = np.zeros((d, K))
    W[:4] = 1.5 * rng.normal(size=(4, K)) / X[:, :4].std(axis=0)[:, None]
    z = (X - X.mean(axis=0)) @ W + np.array([0.0, 0.5, 1.0, -1.0]) + rng.gumbel(size=(n, K))
    return X, z.argmax(axis=1).astype(float), rng.uniform(0.5, 2.0, size=n)


PENALTIES = {
    "lasso": ({"alpha": 0.02}, lambda d: ElasticNet(0.02)),
    "elastic net": ({"alpha": 0.03, "l1_ratio": 0.5}, lambda d: ElasticNet(0.015, 0.015)),
    "shared support": (
        {"alpha": 0.04, "shared_support": True},
        lambda d: GroupLasso(np.repeat(np.arange(d), K), alpha=0.04, weights=np.ones(d)),
    ),
    "sparse groups": (
        {"alpha": 0.04, "shared_support": True, "group_ratio": 0.6},
        lambda d: GroupLasso(np.repeat(np.arange(d), K), 0.6, alpha=0.04, weights=np.ones(d)),
    ),
    "factors": (
        {"alpha": 0.03, "penalty_factors": [0.0, 2.0, *[1.0] * 10]},
        lambda d: ElasticNet(0.03 * np.repeat([0.0, 2.0, *[1.0] * 10], K)),
    ),
    "nonnegative": ({"alpha": 0.02, "nonnegative": True}, lambda d: ElasticNet(0.02).within(0.0, np.inf)),
}


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_minimum_is_that_of_proximal_gradient(name, fit_intercept):
    X, y, weight = make()
    X = (X - np.average(X, axis=0, weights=weight)) / X.std(axis=0)
    options, penalty = PENALTIES[name]
    spec = Spec(loss=Softmax(K), standardize=False, fit_intercept=fit_intercept, tol=1e-9, **options)
    found = fit(InMemory(X, y, weight), spec).result
    assert found.converged
    W, b = softmax_proximal_gradient(X, y.astype(int), weight, penalty(X.shape[1]), K, fit_intercept, 4000)
    problem = Problem(InMemory(X, y, weight), Softmax(K), penalty(X.shape[1]), fit_intercept)
    least = objective(problem, W, b)
    assert_allclose(found.objective, least, rtol=1e-8)
    assert found.objective - found.gap * empty_start(problem).at.loss <= least + 1e-12  # the bound is below every model
    at = first_order(problem, 0.5 * W, b)  # and so it is elsewhere
    assert at.loss + problem.penalty.value(0.5 * W) - duality_gap(problem, 0.5 * W, at) <= least + 1e-9


def strict():
    return Host(pytest.importorskip("array_api_strict"))


PLACES = {
    "csr": lambda X, y, s: InMemory(sp.csr_array(X), y, s),
    "chunks": Chunks,
    "chunks of csr": lambda X, y, s: Chunks(sp.csr_array(X), y, s),
    "device": lambda X, y, s: on_device(InMemory(X, y, s), strict()),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_model_is_the_same_wherever_the_rows_lie(place):
    X, y, weight = make()
    X[:, 4:] *= np.random.default_rng(1).random((len(X), 8)) < 0.4
    for options in ({"alpha_ratio": 0.1}, {"alpha_ratio": 0.2, "shared_support": True}):
        spec = Spec(loss=Softmax(K), tol=1e-9, **options)
        here, there = (fit(rows(X, y, weight), spec).result for rows in (InMemory, PLACES[place]))
        assert there.converged
        assert_allclose(there.objective, here.objective, rtol=1e-9)
        if "shared_support" in options:  # of single coefficients there may be several minima
            assert_allclose(there.coef, here.coef, rtol=1e-3, atol=1e-4 * abs(here.coef).max())


@pytest.mark.parametrize("rows", [InMemory, Chunks])
@pytest.mark.parametrize("shared", [False, True])
def test_a_path_has_the_minimum_of_every_alpha(rows, shared):
    X, y, weight = make()
    spec = Spec(loss=Softmax(K), shared_support=shared)
    found = path_of_margin(rows(X, y, weight), spec, length=6, reach=0.05)
    assert found.converged
    assert found.n_selected[0] == 0
    assert np.all(np.diff(found.n_selected) >= 0)
    for i in (2, 5):
        single = fit(InMemory(X, y, weight), Spec(loss=Softmax(K), alpha=found.alphas[i], shared_support=shared)).result
        assert_allclose(found.objectives[i], single.objective, rtol=2e-6)
    if shared:
        by_feature = (found.coefs[-1] != 0).reshape(-1, K)
        assert_array_equal(by_feature.any(axis=1), by_feature.all(axis=1))


def words(n=200, d=400, seed=0):
    """Rare indicators of classes, many of them alike: more columns than rows, and rows that they separate."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n).astype(float)
    often = 0.3 / np.arange(1, d + 1) ** 0.7 * (1.0 + 3.0 * (rng.integers(0, K, d) == y[:, None]))
    return (rng.random((n, d)) < np.minimum(often, 0.9)).astype(float), y


@pytest.mark.parametrize("layout", [sp.csr_array, np.asarray])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"l1_ratio": 0.7},
        {"fit_intercept": False},
        {"nonnegative": True},
        {"shared_support": True},
        {"shared_support": True, "group_ratio": 0.6, "fit_intercept": False, "penalty_factors": [0.0, *[1.0] * 399]},
    ],
)
def test_descent_along_columns_ends_where_matrices_do(layout, options, monkeypatch):
    X, y = words()
    spec, found = Spec(loss=Softmax(K), alpha_ratio=0.1, tol=1e-8, **options), []
    for visits in (0.0, np.inf):  # what decides between the two
        monkeypatch.setattr(outputs_columns, "VISITS", visits)
        found.append(fit(InMemory(layout(X), y), spec).result)
    assert all(result.converged for result in found)
    assert_allclose(found[0].objective, found[1].objective, rtol=1e-8)


def test_sweeps_that_have_cost_as_much_as_the_matrix_give_way_to_it(monkeypatch):
    """Columns that are much alike: descent along them takes steps without end, Newton steps by the matrix few."""
    X, y = words()
    rng = np.random.default_rng(0)
    rows = InMemory(sp.csr_array(np.hstack([X, X * (1.0 + 1e-3 * rng.normal(size=X.shape))])), y)
    spec = Spec(loss=Softmax(K), alpha_ratio=0.01, tol=1e-8)
    expected, by_matrix = fit(rows, spec).result, []
    newton_steps = outputs_columns._minimise
    monkeypatch.setattr(outputs_columns, "VISITS", 0.0)  # so that all begin along the columns
    monkeypatch.setattr(outputs_columns, "_minimise", lambda *given: by_matrix.append(1) or newton_steps(*given))
    found = fit(rows, spec).result
    assert by_matrix
    assert found.converged
    assert_allclose(found.objective, expected.objective, rtol=1e-8)


def test_a_coefficient_comes_back_from_where_its_class_is_certain(monkeypatch):
    """There the loss has neither slope nor curvature in floating point, and the penalty alone pulls."""
    X, y = words()
    X = np.hstack([X, (y == 2.0)[:, None] * (np.arange(len(y)) < 40)[:, None]])
    problem = Problem(InMemory(sp.csr_array(X), y), Softmax(K), ElasticNet(0.02))
    problem = replace(problem, empty=empty_start(problem))
    w, b = np.zeros(problem.n_coefficients), problem.empty.b
    w[-K + 2] = 60.0
    monkeypatch.setattr(outputs_columns, "VISITS", 0.0)  # so that it goes along the columns
    columns = outputs_columns.output_columns(problem, np.arange(problem.n_coefficients))
    columns.looks_left = np.inf
    w, b = columns.minimum(problem, first_order(problem, w, b), (w, b), (w, b), 1e-13, 1e-9)
    assert duality_gap(problem, w, first_order(problem, w, b)) <= 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_what_sweeps_have_moved_stays_in_play_for_the_matrix(seed):
    X, y = words(n=60, d=100, seed=seed)
    assert fit(InMemory(sp.csr_array(X), y), Spec(loss=Softmax(K), alpha_ratio=0.03)).result.converged


def test_the_curvature_of_a_sample_leads_to_the_minimum_of_all_rows(monkeypatch):
    X, y, weight = make(n=2000)
    spec = Spec(loss=Softmax(K), alpha_ratio=0.05, tol=1e-8)
    expected = fit(InMemory(X, y, weight), spec).result
    monkeypatch.setattr(sample, "LEAST_ROWS", 20)
    for rows in (InMemory, lambda *data: Chunks(*data, chunk_rows=50)):
        monkeypatch.setattr(outputs_columns, "LARGEST_COPY", 2000)
        found = fit(rows(X, y, weight), spec).result
        assert found.converged
        assert_allclose(found.objective, expected.objective, rtol=1e-8)


@pytest.mark.parametrize("ratio", [0.3, 0.01])
def test_constant_columns_alone_leave_the_empty_model_certified(ratio):
    """Their slopes are rounding, and so is the largest alpha: a share of it would call the empty model unsolved."""
    y = np.array([0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 2.0, 1.0, 1.0])
    result = fit(InMemory(np.full((9, 2), 7.0), y), Spec(loss=Softmax(3), alpha_ratio=ratio)).result
    assert result.converged
    assert not result.coef.any()

"""SVRG, SAGA and the two batch methods under a cardinality constraint."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import naive_online as naive
from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.kernels.losses import code_of
from riata.kernels.variance_reduced import RowSteps, drift, saga_sweep, soft, svrg_sweep
from riata.losses import LOSSES
from riata.matrices.host import as_matrix
from riata.outcome.reasons import StopReason
from riata.solvers.iterate import Options
from riata.solvers.registry import SOLVERS
from riata.solvers.stochastic.hsg_ht import hsg_ht
from riata.solvers.stochastic.svrg_ht import svrg_ht
from riata.training.fitting import fit, make_problem
from riata.training.spec import Spec

ETA, L1 = 0.05, 0.05
BOUNDED = [name for name, loss in LOSSES.items() if np.isfinite(loss.curvature)]


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture(params=BOUNDED)
def loss(request):
    return LOSSES[request.param]


@pytest.fixture
def rows(rng):
    """Sparse rows, labels and uneven weights of mean one."""
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < 0.4)
    y = np.where(X @ rng.normal(size=12) + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    weight = rng.uniform(0.5, 1.5, size=60)
    return X, y, weight / weight.mean()


moderate = st.floats(-3, 3).map(lambda v: round(v, 3))


@given(moderate, st.integers(0, 40), moderate, st.floats(0, 1).map(lambda v: round(v, 3)))
def test_many_steps_at_once_are_the_steps_one_by_one(w, steps, mean, l1):
    one_by_one = w
    for _ in range(steps):
        one_by_one = soft(one_by_one - 0.1 * mean, 0.1 * l1)
    assert_allclose(drift(w, steps, 0.1, mean, l1), one_by_one, atol=1e-9)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_svrg_steps_are_the_slow_ones(rows, loss, rng, layout):
    X, y, weight = rows
    scale, visits = rng.uniform(0.5, 2.0, size=12), rng.integers(60, size=150)
    w, anchor = rng.normal(size=12), rng.normal(size=12)
    mean, mean_b = naive.slope(loss, X / scale, y, weight, anchor, 0.1)
    expected = naive.svrg(X / scale, y, weight, visits, loss, ETA, L1, anchor, 0.1, w, 0.2)
    data = as_matrix(layout(X)).row_layout(scale)
    steps = RowSteps(data, y, weight, visits, code_of(loss), ETA, L1, 1.0)
    b = svrg_sweep(steps, anchor, 0.1, mean, mean_b, w, 0.2)
    assert_allclose(w, expected[0], atol=1e-10)
    assert_allclose(b, expected[1], atol=1e-10)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_saga_steps_are_the_slow_ones(rows, loss, rng, layout):
    X, y, weight = rows
    scale, visits = rng.uniform(0.5, 2.0, size=12), rng.integers(60, size=150)
    expected = naive.saga(X / scale, y, weight, visits, loss, ETA, L1)
    w, mean, slopes = np.zeros(12), np.zeros(12), np.zeros(60)
    data = as_matrix(layout(X)).row_layout(scale)
    steps = RowSteps(data, y, weight, visits, code_of(loss), ETA, L1, 1.0)
    _, b = saga_sweep(steps, 1 / 60, slopes, mean, 0.0, w, 0.0)
    assert_allclose(w, expected[0], atol=1e-10)
    assert_allclose(b, expected[1], atol=1e-10)
    assert_allclose(mean, (X / scale).T @ slopes / 60, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("solver", ["svrg", "saga"])
def test_they_reach_the_minimum(rng, solver, loss):
    X = rng.normal(size=(200, 20)) + 1.0
    y = np.sign((X - 1.0)[:, :3] @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=200))
    exact = fit(InMemory(X, y), Spec(alpha_ratio=0.2, loss=loss, solver="cd", tol=1e-9)).result
    found = fit(
        InMemory(X, y), Spec(alpha_ratio=0.2, loss=loss, solver=solver, max_passes=800, tol=1e-7, seed=0)
    ).result
    assert_allclose(found.objective, exact.objective, rtol=1e-6)
    assert set(np.flatnonzero(found.coef)) == set(np.flatnonzero(exact.coef))


@pytest.mark.parametrize("solver", ["saga", "svrg", "hsg-ht", "svrg-ht", "l0-sgd", "fobos"])
@pytest.mark.parametrize("max_steps", [1, 3, 70])
def test_they_take_no_more_steps_than_they_may(rows, solver, max_steps):
    X, y, weight = rows
    strength = {"k": 2} if "k" in SOLVERS[solver].takes else {"alpha": 0.01}
    result = fit(Chunked(X, y, 23, weight), Spec(solver=solver, max_steps=max_steps, seed=0, **strength)).result
    assert result.steps == max_steps
    assert result.stop.reason is StopReason.LAST_STEP


def test_what_they_cannot_do_is_said(rows):
    X, y, weight = rows
    for options, words in [
        ({"loss": "poisson"}, "needs a bound on the curvature"),
        ({"batch": 4}, "one row a step"),
        ({"memory": 100, "solver": "saga"}, "a number per row"),
    ]:
        with pytest.raises(OptionError, match=words):
            fit(InMemory(X, np.abs(y), weight), Spec(**{"alpha": 0.1, "solver": "svrg", **options}))


def test_hsg_ht_steps_are_the_slow_ones(rows, loss):
    X, y, weight = rows
    name = next(key for key, value in LOSSES.items() if value is loss)
    problem, _ = make_problem(InMemory(X, y, weight), Spec(k=3, loss=name, standardize=False))
    options = Options(2, batch=10, step=0.3, order="sequential")
    iterates = hsg_ht(problem, options)
    next(iterates)
    point = next(iterates)
    sizes = [int(10 * 1.02**t) for t in range(12)]
    order = np.split(np.tile(np.arange(60), 2), np.cumsum(sizes))[: point.steps]
    w, b = naive.thresholded(X, y, weight, order, loss, 0.3, 3)
    assert_allclose(point.coef, w, atol=1e-10)
    assert_allclose(point.intercept, b, atol=1e-10)


def test_svrg_ht_steps_are_the_slow_ones(rows, loss):
    X, y, weight = rows
    name = next(key for key, value in LOSSES.items() if value is loss)
    problem, _ = make_problem(InMemory(X, y, weight), Spec(k=3, loss=name, standardize=False))
    iterates = svrg_ht(problem, Options(2, batch=20, step=0.3, order="sequential"))
    w, b = np.zeros(12), 0.0
    for _ in range(2):
        anchor = (w, b, *naive.slope(loss, X, y, weight, w, b))
        w, b = naive.thresholded(X, y, weight, np.split(np.arange(60), 3), loss, 0.3, 3, anchor)
        point = next(iterates)
        assert_allclose(point.coef, w, atol=1e-10)
        assert_allclose(point.intercept, b, atol=1e-10)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("solver", ["hsg-ht", "svrg-ht"])
def test_the_planted_features_are_found(rng, solver, layout):
    X = rng.normal(size=(2000, 100)) * rng.uniform(0.1, 10.0, size=100)
    truth = rng.choice(100, 5, replace=False)
    y = X[:, truth] / X[:, truth].std(axis=0) @ np.array([1.0, -1.0, 1.0, 1.0, -1.0]) + 0.5 * rng.normal(size=2000)
    found = fit(InMemory(layout(X), y), Spec(k=5, solver=solver, max_passes=10, seed=0)).result
    assert set(np.flatnonzero(found.coef)) == set(truth)

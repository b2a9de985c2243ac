"""The paper's algorithms against the slow versions in naive.py, dense and sparse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive
from problems import LAYOUTS, small
from riata.losses import LOSSES
from riata.objective import Problem, elastic_net
from riata.penalties import Cardinality
from riata.solvers.iterate import Options
from riata.solvers.registry import SOLVERS
from riata.solvers.stochastic.fobos import fobos
from riata.solvers.stochastic.l0_sgd import l0_sgd
from riata.solvers.stochastic.subgradient import subgradient
from riata.solvers.stochastic.visits import ORDERS

PASSES = 3
TOLERANCE = {"rtol": 1e-6, "atol": 1e-9}  # float32 rows keep their values but round their products


def solve(start, problem, **options):
    """The iterate after PASSES passes."""
    iterates = start(problem, Options(max_passes=PASSES, **options))
    for _ in range(PASSES):
        point = next(iterates)
    return point.coef, point.intercept


def reference(problem, method, **options):
    """What naive.py needs: the scaled rows, the batches a solver visits, and the steps."""
    chunk = next(iter(problem.data.visit()))
    X = chunk.X.toarray().astype(float)
    A, y, s = X / problem.scale, chunk.y, chunk.weight / chunk.weight.mean()
    batch = min(options.get("batch", 1), len(y))
    rng, batches = np.random.default_rng(options.get("seed", 0)), []
    for _ in range(PASSES):
        rng.permutation(1)  # the order of the one chunk
        visits = ORDERS[options.get("order", "uniform")](len(y), batch, rng)
        batches += [visits[i : i + batch] for i in range(0, len(visits), batch)]
    t = np.arange(1, len(batches) + 1)
    etas = {"1/t": 1 / t, "1/sqrt(t)": 1 / np.sqrt(t), "constant": np.ones(len(t))}[method]
    learn_b = float(problem.fit_intercept)
    if "step" in options:
        return A, y, s, batches, etas * options["step"], learn_b
    return A, y, s, batches, naive.safe_etas(A, s, problem.loss, batches, etas, learn_b), learn_b


def problem_of(loss, layout, penalty, standardize):
    case = small(loss)
    data = case.data(layout)
    scale = data.moments.scale if standardize else 1.0
    if penalty == "k":
        return Problem(data, LOSSES[loss], Cardinality(4), True, scale)
    return Problem(data, LOSSES[loss], elastic_net(*penalty, scale=scale), True, scale)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("options", [{}, {"batch": 7}, {"order": "shuffled"}, {"step": 0.05}], ids=str)
class TestStochastic:
    def test_subgradient(self, loss, layout, options):
        problem = problem_of(loss, layout, (0.02,), standardize=True)
        A, y, s, batches, etas, learn_b = reference(problem, "1/t", **options)
        x, b = naive.subgradient(A, y, s, problem.loss, 0.02, batches, etas, learn_b)
        coef, intercept = solve(subgradient, problem, **options)
        assert_allclose(coef * problem.scale, x, **TOLERANCE)
        assert_allclose(intercept, b, **TOLERANCE)

    @pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
    def test_fobos(self, loss, layout, options, l1_ratio):
        problem = problem_of(loss, layout, (0.4, l1_ratio), standardize=True)
        A, y, s, batches, etas, learn_b = reference(problem, "1/sqrt(t)", **options)
        l1, l2 = 0.4 * l1_ratio, 0.4 * (1 - l1_ratio)
        x, b = naive.fobos(A, y, s, problem.loss, l1, l2, batches, etas, learn_b)
        coef, intercept = solve(fobos, problem, **options)
        assert_allclose(coef * problem.scale, x, **TOLERANCE)
        assert_allclose(intercept, b, **TOLERANCE)

    def test_l0_sgd(self, loss, layout, options):
        problem = problem_of(loss, layout, "k", standardize=False)
        A, y, s, batches, etas, learn_b = reference(problem, "constant", **options)
        x, b = naive.l0_sgd(A, y, s, problem.loss, 4, batches, etas, learn_b)
        coef, intercept = solve(l0_sgd, problem, **options)
        assert np.count_nonzero(coef) == 4
        assert_allclose(coef, x, **TOLERANCE)
        assert_allclose(intercept, b, **TOLERANCE)


def test_rounds_take_half_the_penalty_in_the_first_half():
    problem = problem_of("squared", "csr", (0.1,), standardize=False)
    A, y, s, batches, etas, learn_b = reference(problem, "1/sqrt(t)")
    l1 = np.where(np.arange(len(etas)) < len(etas) // 2, 0.05, 0.1)
    x, _ = naive.fobos(A, y, s, problem.loss, l1, 0.0, batches, etas, learn_b)
    assert_allclose(solve(fobos, problem, rounds=True)[0], x, **TOLERANCE)


def test_strong_ridge_does_not_underflow():
    problem = problem_of("squared", "csr", (50.0, 0.001), standardize=False)
    A, y, s, batches, etas, learn_b = reference(problem, "1/sqrt(t)", step=20.0)
    x, _ = naive.fobos(A, y, s, problem.loss, 0.05, 49.95, batches, etas, learn_b)
    assert_allclose(solve(fobos, problem, step=20.0)[0], x, **TOLERANCE)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_coordinate_descent(layout):
    case = small()
    data = case.data(layout)
    problem = Problem(data, LOSSES["squared"], elastic_net(0.1), fit_intercept=False)
    root = np.sqrt(case.weight / case.weight.mean())[:, None]  # weights by rows, as the paper has none
    x = naive.coordinate_descent(root * case.X, root[:, 0] * case.y, 0.1, PASSES)
    assert_allclose(solve(SOLVERS["cd"].start, problem)[0], x, **TOLERANCE)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("memory", [None, 1], ids=["gram", "passes"])
def test_full_subgradient(layout, memory):
    case = small()
    root = np.sqrt(case.weight / case.weight.mean())[:, None]
    problem = Problem(case.data(layout), LOSSES["squared"], elastic_net(0.1), fit_intercept=False)
    x = naive.full_subgradient(root * case.X, root[:, 0] * case.y, 0.1, 0.2, PASSES)
    coef, _ = solve(subgradient, problem, batch="full", step=0.2, memory=memory)
    assert_allclose(coef, x, **TOLERANCE)


def test_full_subgradient_with_intercept_reaches_the_lasso():
    problem = problem_of("squared", "dense", (0.1,), standardize=True)
    iterates = subgradient(problem, Options(max_passes=5000, batch="full", step=0.01))
    best = [next(iterates).objective for _ in range(5000)]
    exact = SOLVERS["cd"].start(problem, Options(max_passes=500))
    optimum = [next(exact).objective for _ in range(500)][-1]
    assert np.all(np.diff(best) <= 0)
    assert optimum - 1e-12 <= best[-1] <= optimum + 2e-3

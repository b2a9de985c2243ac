import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, duality_gap, elastic_net, empty_start, first_order, gap_unit
from riata.penalties import ElasticNet
from riata.small_work import is_small
from riata.solvers.convex.compiled_paths import column_path
from riata.solvers.convex.compiled_paths import first_model as loop
from riata.solvers.convex.compiled_paths.first_model import first_model
from riata.solvers.convex.exact import exact
from riata.solvers.iterate import Options
from riata.training.driver import run

TOL = 1e-6
BOUNDS = {"plain": {}, "elastic": {"l2": 0.01}, "nonnegative": {"lower": 0.0}, "bounded": {"lower": -0.1, "upper": 0.2}}


def problem_of(rng, loss, sparse, more, share_of_largest):
    X = rng.normal(size=(150, 400)) * (rng.random((150, 400)) < (0.1 if sparse else 1.0))
    y = X[:, :8].sum(axis=1) + 0.5 * rng.normal(size=150)
    y = y if loss == "squared" else np.where(y > 0.0, 1.0, -1.0)
    data = InMemory(sp.csr_array(X) if sparse else X, y, rng.uniform(0.5, 2.0, 150))
    alpha = share_of_largest * alpha_max(Problem(data, LOSSES[loss], elastic_net(1.0), True))
    return Problem(data, LOSSES[loss], ElasticNet(alpha, **more), True)


def certified_gap(problem, w, b):
    return duality_gap(problem, w, first_order(problem, w, b)) / gap_unit(problem)


@pytest.mark.parametrize("more", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_pass_certifies_what_the_loop_found(rng, loss, sparse, more):
    problem = problem_of(rng, loss, sparse, more, share_of_largest=0.3)
    assert certified_gap(problem, *first_model(problem, Options(100, tol=TOL), empty_start(problem))) <= TOL
    result = run(problem, exact(problem, Options(100, tol=TOL)), max_passes=100, tol=TOL)
    assert result.converged
    assert len(result.history) == 2


@pytest.mark.parametrize("more", [{}, {"l2": 0.01}], ids=["plain", "elastic"])
def test_products_take_the_place_of_columns_where_many_sweeps_are_needed(rng, more, monkeypatch):
    X = rng.normal(size=(150, 130))
    y = X @ rng.normal(size=130) + rng.normal(size=150)
    data, models = InMemory(X, y, rng.uniform(0.5, 2.0, 150)), []
    alpha = alpha_max(Problem(data, LOSSES["squared"], elastic_net(1.0), True)) / 500.0
    problem = Problem(data, LOSSES["squared"], ElasticNet(alpha, **more), True)
    for most in (column_path.MOST_PRODUCTS, 64):
        monkeypatch.setattr(column_path, "MOST_PRODUCTS", most)
        w, b = first_model(problem, Options(100, tol=TOL), empty_start(problem))
        assert np.count_nonzero(w) > 64
        assert certified_gap(problem, w, b) <= TOL
        models.append(w)
    assert not np.array_equal(*models)  # the second one is by columns alone
    assert_allclose(*models, atol=0.02)


@pytest.mark.parametrize("work", [-np.inf, 2e4, loop.WORK])
@pytest.mark.parametrize("more", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_usual_steps_go_on_where_the_loop_ended_on_the_way(rng, loss, sparse, more, work, monkeypatch):
    """Many more columns are pulled at first than may join at a time."""
    monkeypatch.setattr(loop, "WORK", work)
    for passes in ("PASSES", "PASSES_OF_QUADRATIC"):
        monkeypatch.setattr(loop, passes, min(work, 2.0))
    problem = problem_of(rng, loss, sparse, more, share_of_largest=1.0 / 15.0)
    gap = certified_gap(problem, *first_model(problem, Options(100, tol=TOL), empty_start(problem)))
    assert gap > TOL or work > 0.0
    result = run(problem, exact(problem, Options(100, tol=TOL)), max_passes=100, tol=TOL)
    assert result.converged
    assert certified_gap(problem, result.coef, result.intercept) <= TOL
    assert (len(result.history) == 2) == (gap <= TOL)


def few_columns(rng, sparse, n=1100, d=100):
    """Two copies, a constant, and a column that nearly is another one."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < (0.3 if sparse else 1.0)) + (0.0 if sparse else 1.0)
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], 2.0 * X[:, 0], 1.0
    X[:, 4] = X[:, 5] + 1e-3 * X[:, 6]
    y = X[:, :60] @ rng.normal(size=60) + rng.normal(size=n)
    return InMemory(sp.csr_array(X) if sparse else X, y, rng.uniform(0.5, 2.0, n))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("more", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("sparse", [False, True])
def test_products_of_few_columns_tell_the_model(rng, sparse, more, fit_intercept, monkeypatch):
    monkeypatch.setattr(loop, "along_columns", None)  # is not asked
    data = few_columns(rng, sparse)
    alpha = 0.003 * alpha_max(Problem(data, LOSSES["squared"], elastic_net(1.0), fit_intercept))
    problem = Problem(data, LOSSES["squared"], ElasticNet(alpha, **more), fit_intercept)
    first_model(problem, Options(100, tol=TOL), empty_start(problem))
    result = run(problem, exact(problem, Options(100, tol=TOL)), max_passes=100, tol=TOL)
    assert result.converged
    assert certified_gap(problem, result.coef, result.intercept) <= TOL
    assert "lower" in more or len(result.history) == 2


def test_without_room_for_either_the_usual_steps_do(rng):
    data = few_columns(rng, sparse=False)
    problem = Problem(data, LOSSES["squared"], elastic_net(0.5), True)
    for memory, served in ((None, True), (400_000, False)):
        options = Options(100, tol=TOL, memory=memory)
        assert (first_model(problem, options, empty_start(problem)) is not None) == served
        assert run(problem, exact(problem, options), max_passes=100, tol=TOL).converged


def test_it_does_not_serve_without_a_tolerance_or_from_a_model(rng):
    data = InMemory(rng.normal(size=(60, 80)), rng.normal(size=60))
    problem = Problem(data, LOSSES["squared"], elastic_net(0.01), True)
    start = empty_start(problem)
    assert first_model(problem, Options(100, tol=TOL), start) is not None
    assert first_model(problem, Options(100), start) is None
    assert first_model(problem, Options(100, tol=TOL), start._replace(w=np.ones(80))) is None


def test_what_may_be_interpreted_goes_the_usual_way_when_compiled_too(rng):
    data = InMemory(rng.normal(size=(60, 10)), rng.normal(size=60))
    assert is_small(data)
    problem = Problem(data, LOSSES["squared"], elastic_net(0.01), True)
    assert first_model(problem, Options(100, tol=TOL), empty_start(problem)) is None

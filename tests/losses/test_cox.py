"""Cox's loss against its definition: value, slopes, conjugate and curvature, in any order and cut into any chunks."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from chunked import Chunked
from naive import cox_loss
from riata.coupled_passes import by_rows
from riata.losses.cox import TERMS, Cox, Efron
from riata.objective import Problem, elastic_net, first_order, mean_loss
from riata.solvers.convex.working_set import WorkingSetState, read
from riata.training.targets.risk_sets import RiskSets
from survival_problems import make

LOSSES = {"breslow": Cox, "efron": Efron}


@pytest.fixture(params=LOSSES)
def loss(request):
    return LOSSES[request.param]


def problem(rows, loss, chunk_rows=1000, X=np.asarray):
    times = np.unique(rows.time[rows.event])
    data = Chunked(X(rows.X), rows.signed, chunk_rows, rows.weight)
    sets = RiskSets.of_times(times, loss)
    return Problem(sets.rows(data), sets.loss, elastic_net(0.1))


def point(rows, seed=1):
    w = np.random.default_rng(seed).normal(size=rows.X.shape[1]) / rows.X.std(axis=0) / 3
    return w, float(-rows.X.mean(axis=0) @ w)


@pytest.mark.parametrize("ties", [True, False])
def test_value_and_slopes_are_those_of_the_definition(loss, ties):
    rows = make(60, 6, ties=ties)
    w, b = point(rows)

    def f(w):
        return cox_loss(rows.X @ w + b, rows.time, rows.event, rows.weight, loss.efron)

    for chunk_rows, layout in ((1000, np.asarray), (7, sp.csr_array), (1, np.asarray)):
        own = problem(rows, loss, chunk_rows, layout)
        at = first_order(own, w, b)
        assert_allclose([at.loss, mean_loss(own, w, b), mean_loss(own, w, b + 3.0)], f(w), rtol=1e-11)
        assert_allclose(at.by_w, approx_fprime(w, f, 1e-7), atol=1e-5)
        assert_allclose(at.by_b, 0.0, atol=1e-14)  # an intercept is in every risk set


def test_margins_that_fall_with_time_have_no_loss(loss):
    rows = make(50, 3)
    _, rank = np.unique(rows.time - 0.5 * rows.event, return_inverse=True)
    rows = rows._replace(X=-12.0 * rank[:, None].astype(float))
    assert 0.0 <= mean_loss(problem(rows, loss), np.ones(1), 300.0) < 1e-3


def test_shrunk_slopes_bound_every_value_from_below(loss):
    """conjugate(t u) <= t (u . z - f(z)) for 0 <= t <= 1, so that f(v) >= t u . v - t (u . z - f(z)) at any v."""
    rows, rng = make(40, 4), np.random.default_rng(0)
    own = problem(rows, loss)
    w, b = point(rows)
    [settled] = by_rows(own.data, own.loss, [(w, b)])
    z, (y, weight) = rows.X @ w + b, own.data.targets()
    u = weight * settled.derivative(y, z)
    total = weight @ settled.value(y, z)
    for scale in (0.1, 1.0, 10.0):
        for t in (0.0, 0.5, 0.9, 1.0):
            v = z + scale * rng.normal(size=len(z))
            value = cox_loss(v, rows.time, rows.event, weight, loss.efron) * weight.sum()
            assert value >= t * (u @ v) - t * (u @ z - total) - 1e-9


@pytest.mark.parametrize("n_times", [8, 1000])
def test_the_curvature_of_terms_is_that_of_the_loss_or_a_little_more(loss, n_times):
    rows = make(80, 4, ties=False)
    rows = rows._replace(time=np.ceil(rows.time * n_times / rows.time.max()))
    own = problem(rows, loss, chunk_rows=9)
    w, b = point(rows)
    state = WorkingSetState(w, b, np.arange(4))
    found = read(own, state, first=False, second=True)[1]

    def slopes(w):
        return first_order(own, w, b).by_w

    exact = np.array([(slopes(w + h) - slopes(w - h)) / 2e-5 for h in 1e-5 * np.eye(4)])
    more = np.linalg.eigvalsh(found.H - exact)
    assert more.min() > -1e-7
    if len(np.unique(rows.time[rows.event])) <= TERMS and not loss.efron:
        assert_allclose(found.H, exact, atol=1e-7)
    else:
        assert more.max() < 0.1 * np.linalg.eigvalsh(exact).max()


def test_margins_beyond_floating_point_are_no_gain(loss):
    """Where exp(z) overflows, what rounding leaves of the loss was negative, and steps went there."""
    rows = make(40, 3)
    own = problem(rows, loss)
    w, b = point(rows)
    for far in (300.0, 3000.0):
        value = first_order(own, far * w, far * b).loss
        assert not value < 0.0

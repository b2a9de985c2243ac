"""Online methods against their slow versions, and the properties that all of them share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import naive_online as naive
from riata.data.chunk import Chunk
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.solvers.online.ftrl import Ftrl
from riata.solvers.online.rda import Rda
from riata.solvers.online.truncated import Truncated
from riata.solvers.stochastic.method import Stepper, first_state
from riata.solvers.stochastic.schedules import constant
from riata.training.fitting import fit
from riata.training.spec import Spec

ETA, L1, L2 = 0.05, 0.05, 0.03
METHODS = {
    "ftrl": (Ftrl(L1, L2), lambda *rows: naive.ftrl(*rows, ETA, L1, L2)),
    "rda": (Rda(L1, L2), lambda *rows: naive.rda(*rows, ETA, L1, L2)),
    "truncated": (Truncated(L1, ceiling=0.2, every=3), lambda *rows: naive.truncated(*rows, ETA, L1, 0.2, 3)),
}


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param][0]


@pytest.fixture(params=[name for name, loss in LOSSES.items() if loss.has >= {"compiled", "no kink"}])
def loss(request):
    return LOSSES[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def chunk(rng, loss):
    """Sparse rows in which every feature comes and goes, uneven weights, and a target that suits every loss."""
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < 0.4)
    sign = np.where(X @ rng.normal(size=12) + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    y = sign if loss.takes(sign).all() else 1.5 + sign
    return Chunk(X, y, rng.uniform(0.5, 1.5, size=60))


def learned(method, loss, chunk, pieces, *, batch=1, scale=1.0, safe=False):
    """The state after some runs of visits, one `advance` each."""
    stepper = Stepper(method, loss, constant(1.0 if safe else ETA), safe, batch, True, scale)
    state = first_state(method, chunk.X.shape[1])
    for visits in pieces:
        stepper.advance(state, chunk, visits)
    return state


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("name", METHODS)
def test_a_sweep_is_the_slow_method(name, loss, chunk, batch, rng):
    method, slow = METHODS[name]
    visits, scale = rng.integers(60, size=200), rng.uniform(0.5, 2.0, size=12)
    state = learned(method, loss, chunk, [visits], batch=batch, scale=scale)
    w, b = slow(chunk.X.array / scale, chunk.y, chunk.weight, visits, batch, loss)
    assert_allclose(state.w, w, atol=1e-10)
    assert_allclose(state.b, b, atol=1e-10)
    assert 0 < np.count_nonzero(state.w)


def test_sparse_rows_learn_what_dense_rows_learn(method, loss, chunk, rng):
    visits = rng.integers(60, size=200)
    dense = learned(method, loss, chunk, [visits], safe=True)
    sparse = learned(method, loss, chunk._replace(X=chunk.X.as_csr()), [visits], safe=True)
    assert_allclose(sparse.w, dense.w, atol=1e-12)
    assert_allclose(sparse.b, dense.b, atol=1e-12)


@pytest.mark.parametrize("safe", [False, True])
def test_rows_in_one_call_or_one_by_one_give_the_same_state(method, loss, chunk, rng, safe):
    visits = rng.permutation(60)
    at_once = learned(method, loss, chunk, [visits], safe=safe)
    one_by_one = learned(method, loss, chunk, visits[:, None], safe=safe)
    assert_allclose(one_by_one.w, at_once.w, atol=1e-12)
    assert one_by_one.steps == at_once.steps
    for name, values in at_once.memory.items():
        assert_allclose(one_by_one.memory[name], values, atol=1e-12)


@pytest.mark.parametrize("solver", METHODS)
@pytest.mark.parametrize("loss", [LOSSES["squared"]])
def test_a_row_of_weight_zero_changes_nothing(solver, chunk, loss):
    spec = Spec(alpha_ratio=0.1, solver=solver, max_passes=3, order="sequential", seed=1)
    odd = np.arange(60) % 2 == 1
    with_zeros = fit(InMemory(chunk.X, chunk.y, np.where(odd, chunk.weight, 0.0)), spec).result
    without = fit(InMemory(chunk.X[odd], chunk.y[odd], chunk.weight[odd]), spec).result
    assert_array_equal(with_zeros.coef, without.coef)
    assert with_zeros.steps == without.steps


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("solver", ["ftrl", "rda"])
def test_many_passes_approach_the_minimum_and_its_sparsity(solver, loss, rng):
    X = rng.normal(size=(400, 30))
    y = np.sign(X[:, :3] @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=400))
    exact = fit(InMemory(X, y), Spec(alpha_ratio=0.3, loss=loss, solver="cd", tol=1e-8)).result
    online = fit(InMemory(X, y), Spec(alpha_ratio=0.3, loss=loss, solver=solver, max_passes=100, tol=0.0)).result
    assert online.objective - exact.objective < 0.01 * exact.objective
    assert np.count_nonzero(online.coef) <= np.count_nonzero(exact.coef) + 2

"""Solver 'online': the slow version, indifference to units and portions, exactly k, and what it reaches on digits49."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import naive_online as naive
from riata import SparseClassifier, SparseRegressor
from riata.data.chunk import Chunk
from riata.data.in_memory import InMemory
from riata.datasets import load_digits49
from riata.errors import OptionError
from riata.losses import LOSSES
from riata.solvers.online.candidate_rows import curvature_above
from riata.solvers.online.online import NOISE_WITH_ALPHA, NOISES, RATE, RATES, Online
from riata.solvers.online.top_k import backward
from riata.solvers.stochastic.method import first_state, make_stepper
from riata.training.fitting import fit
from riata.training.spec import Spec
from riata.training.streaming.streams import open_stream

MODES = {"its own alpha": {}, "alpha": {"alpha": 0.05}, "k": {"k": 3}}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture(params=[name for name, loss in LOSSES.items() if "compiled" in loss.has])
def loss(request):
    return LOSSES[request.param]


@pytest.fixture
def chunk(rng):
    """Rows in which every feature comes and goes, the first of them empty, and labels."""
    X = rng.normal(size=(300, 10)) * (rng.random((300, 10)) < 0.5)
    X[0] = 0.0
    y = np.where(X[:, :4] @ [2.0, -2.0, 1.0, 1.0] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    return Chunk(X, y, rng.uniform(0.5, 1.5, size=300))


def learned(chunk, mode, *, portion=None, loss="logistic", fit_intercept=True):
    """(coef, intercept) after the rows came in order, in portions."""
    asked = Spec(solver="online", loss=loss, fit_intercept=fit_intercept, **MODES[mode])
    stream = open_stream(asked, chunk.X.shape[1])
    portion = portion or chunk.n_rows
    for i in range(0, chunk.n_rows, portion):
        stream.learn(chunk.rows(slice(i, i + portion)))
    return stream.coef, stream.intercept


@pytest.mark.parametrize("alpha", [None, 0.03])
def test_every_lane_is_the_slow_method(chunk, loss, alpha):
    y = chunk.y if loss.takes(chunk.y).all() else 1.5 + chunk.y
    method = Online(alpha, distinct=200.0)
    stepper = make_stepper(method, loss, None, 1, True)
    state = first_state(method, 10)
    margins = stepper.advance(state, chunk._replace(y=y), np.arange(300))
    assert np.isfinite(margins).all()
    noises, rates = (NOISES, np.full(4, RATE)) if alpha is None else (np.full(4, NOISE_WITH_ALPHA), RATES)
    w, b = naive.online(chunk.X.array, y, chunk.weight, loss, noises, rates, alpha or 0.0, 200.0)
    for lane in range(4):
        state.memory["lane"][0] = lane
        found, intercept = method.model(state)
        assert_allclose(found, w[lane], atol=1e-9)
        assert_allclose(intercept, b[lane], atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_it_does_not_matter_which_row_comes_first(mode, rng):
    """Columns are counted from the first row at first, which may be far from their means."""
    X = rng.normal(size=(20_000, 3))
    y = np.where(rng.random(20_000) < 1 / (1 + np.exp(1.0 - X[:, 0])), 1.0, -1.0)
    slopes = []
    for far in (0.0, 3.0, -3.0):
        X[0] = far
        slopes.append(learned(Chunk(X.copy(), y, np.ones(20_000)), mode)[0][0])
    assert_allclose(slopes[1:], slopes[0], rtol=0.02)


@pytest.mark.parametrize("mode", MODES)
def test_units_do_not_matter(chunk, mode, rng):
    coef, intercept = learned(chunk, mode)
    factors = 2.0 ** rng.integers(-10, 10, size=10)
    scaled, same = learned(chunk._replace(X=chunk.X.array * factors), mode)
    if mode == "k":  # its statistics are solved as a system, in another order of rounding
        assert_allclose(scaled * factors, coef, rtol=1e-8)
    else:
        assert_array_equal(scaled * factors, coef)
        assert same == intercept
    moved, _ = learned(chunk._replace(X=1000.0 * chunk.X.array + 7.0), mode)
    assert_allclose(moved * 1000.0, coef, rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(coef)


@pytest.mark.parametrize("loss", ["squared", "quantile:0.8"])
@pytest.mark.parametrize("mode", ["its own alpha", "k"])
def test_units_of_the_target_do_not_matter(chunk, mode, loss):
    y = chunk.y + np.sin(np.arange(300.0))  # without ties, at which the slope of a quantile is a matter of rounding
    coef, intercept = learned(chunk._replace(y=y), mode, loss=loss)
    scaled, moved = learned(chunk._replace(y=1024.0 * y + 512.0), mode, loss=loss)
    assert_allclose(scaled, 1024.0 * coef, rtol=1e-6, atol=1e-9)
    assert_allclose(moved, 1024.0 * intercept + 512.0, rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_rows_in_one_portion_or_many_give_the_same_model(chunk, mode):
    coef, intercept = learned(chunk, mode)
    for portion in (1, 7):
        again, b = learned(chunk, mode, portion=portion)
        assert_allclose(again, coef, atol=1e-10)
        assert_allclose(b, intercept, atol=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_sparse_rows_learn_what_dense_rows_learn(chunk, mode):
    """To the last digits without an intercept; with it, dense columns are counted from their means."""
    both = chunk, chunk._replace(X=chunk.X.as_csr())
    dense, sparse = (learned(one, mode, fit_intercept=False) for one in both)
    assert_allclose(sparse[0], dense[0], atol=1e-10)
    dense, sparse = (learned(one, mode) for one in both)
    assert_allclose(sparse[0], dense[0], atol=0.02)
    assert_allclose(sparse[1], dense[1], atol=0.02)


@pytest.mark.parametrize("mode", MODES)
def test_a_row_of_weight_zero_changes_nothing(chunk, mode):
    odd = np.arange(300) % 2 == 1
    silenced = learned(chunk._replace(weight=np.where(odd, chunk.weight, 0.0)), mode)
    without = learned(chunk.rows(odd), mode)
    assert_array_equal(silenced[0], without[0])


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "quantile"])
def test_exactly_the_planted_features_are_found(rng, loss):
    X = rng.normal(size=(4000, 200)) * rng.uniform(0.01, 100.0, size=200) + 5.0
    truth = np.sort(rng.choice(200, 5, replace=False))
    z = (X - 5.0)[:, truth] / X[:, truth].std(axis=0) @ np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    y = z + 0.5 * rng.normal(size=4000)
    y = np.sign(y) if LOSSES[loss].labels else y
    result = fit(InMemory(X, y), Spec(k=5, solver="online", loss=loss, seed=0)).result
    assert_array_equal(np.flatnonzero(result.coef), truth)
    assert result.passes == 1


def test_a_quantile_learnt_in_one_pass_is_nearly_the_best(rng):
    X, level = rng.normal(size=(6000, 20)), 0.9
    y = 1e4 * (X[:, 1] - X[:, 4] + (1.0 + (X[:, 1] > 0.0)) * rng.normal(size=6000))
    loss, half = LOSSES["quantile"].__class__(level), slice(3000, None)
    found = [
        SparseRegressor(loss=loss, random_state=0, **how).fit(X[:3000], y[:3000])
        for how in ({"solver": "online"}, {"alpha": 1.0})
    ]
    online, exact = (loss.value(y[half], model.predict(X[half])).mean() for model in found)
    constant = loss.value(y[half], np.quantile(y[:3000], level)).mean()
    assert constant - online > 0.9 * (constant - exact)
    assert abs((y[half] <= found[0].predict(X[half])).mean() - level) < 0.05


def test_many_passes_with_an_alpha_approach_its_minimum(rng):
    X = rng.normal(size=(500, 30))
    y = np.sign(X[:, :3] @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=500))
    spec = Spec(alpha=0.05, loss="logistic", tol=1e-8)
    exact = fit(InMemory(X, y), spec).result
    online = fit(InMemory(X, y), Spec(alpha=0.05, loss="logistic", solver="online", max_passes=200, tol=0.0)).result
    assert online.objective - exact.objective < 0.01 * exact.objective


def test_a_target_that_never_changes_gives_the_empty_model(rng):
    result = fit(InMemory(rng.normal(size=(50, 4)), np.full(50, 3.0)), Spec(solver="online")).result
    assert_array_equal(result.coef, 0.0)
    assert result.intercept == 3.0


def test_backward_elimination_solves_what_is_left(rng):
    X, y = rng.normal(size=(50, 8)), rng.normal(size=50)
    kept, v = backward(X.T @ X, X.T @ y, 3, 7)
    assert len(kept) == 4
    assert 7 in kept
    assert_allclose(v, np.linalg.lstsq(X[:, kept], y)[0])


@pytest.mark.parametrize("how", [{}, {"k": 2}], ids=str)
def test_a_half_life_lets_the_features_change(rng, how):
    X = rng.normal(size=(6000, 8))
    y = np.where(np.arange(6000) < 3000, X[:, 0] - X[:, 1], X[:, 2] + X[:, 3]) + 0.3 * rng.normal(size=6000)
    supports = {}
    for half_life in (None, 300.0):
        stream = open_stream(Spec(solver="online", half_life=half_life, **how), 8)
        stream.learn(Chunk(X, y, np.ones(6000)))
        supports[half_life] = np.flatnonzero(np.abs(stream.coef) > 0.1)
    assert_array_equal(supports[300.0], [2, 3])
    if not how:
        assert {0, 1} & set(supports[None])
    with pytest.raises(OptionError, match="half_life"):
        open_stream(Spec(solver="ftrl", alpha=0.1, half_life=10.0), 8)


@pytest.mark.parametrize("solver", ["online", "fobos", "ftrl"])
def test_the_unit_of_weights_does_not_matter_to_partial_fit(rng, solver):
    X, weight = rng.normal(size=(400, 8)), rng.uniform(0.1, 3.0, size=400)
    y = 2.0 * X[:, 1] - X[:, 3] + 0.5 * rng.normal(size=400)
    model = SparseRegressor(solver=solver, alpha=0.1, standardize=False)
    expected = clone(model).partial_fit(X, y, sample_weight=weight).coef_
    assert np.count_nonzero(expected)
    assert_allclose(clone(model).partial_fit(X, y, sample_weight=1000.0 * weight).coef_, expected, rtol=1e-9)
    in_parts = clone(model)
    for rows in np.split(np.arange(400), [1, 2, 250]):
        in_parts.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    assert_allclose(in_parts.coef_, expected, atol=1e-10)


def test_partial_fit_needs_neither_scaling_nor_an_alpha(chunk):
    labels = np.where(chunk.y > 0, "yes", "no")
    at_once = SparseClassifier(solver="online").partial_fit(chunk.X.array, labels, classes=["no", "yes"])
    one_by_one = SparseClassifier(solver="online")
    for x, label in zip(chunk.X.array, labels, strict=True):
        one_by_one.partial_fit(x[None], [label], classes=["no", "yes"])
    assert_allclose(one_by_one.coef_, at_once.coef_, atol=1e-10)
    assert_allclose(one_by_one.intercept_, at_once.intercept_, atol=1e-10)
    assert at_once.score(chunk.X.array, labels) > 0.8


@pytest.mark.parametrize("mode", MODES)
def test_without_an_intercept_there_is_none(chunk, mode):
    spec = Spec(solver="online", fit_intercept=False, **MODES[mode])
    result = fit(InMemory(chunk.X.array + 1.0, chunk.y + 3.0, chunk.weight), spec).result
    assert result.intercept == 0.0
    assert np.count_nonzero(result.coef)


def test_batches_are_refused(chunk):
    with pytest.raises(OptionError, match="one row a step"):
        fit(InMemory(*chunk), Spec(solver="online", batch=8))


@pytest.mark.parametrize(("options", "accuracy", "features"), [({}, 0.96, 400), ({"k": 50}, 0.955, 50)])
def test_one_pass_over_digits49(options, accuracy, features):
    train, test = load_digits49(), load_digits49("test")
    model = SparseClassifier(solver="online", random_state=0, **options).fit(train.X, train.y)
    assert model.n_passes_ <= 2  # the labels are counted first
    assert np.count_nonzero(model.coef_) <= features
    assert model.score(test.X, test.y) >= accuracy


def test_a_level_that_only_clicks_have_does_not_go_far_beyond_what_its_rows_tell(rng):
    """Six rows, all of them clicks among 6 % of clicks: the curvature of the loss itself would take it to about 15."""
    n = 3000
    level, x = np.zeros(n), rng.normal(size=n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(3.0 - x)), 1.0, -1.0)
    level[np.flatnonzero(y > 0)[::10][-6:]] = 1.0
    X = sp.csr_array(np.column_stack([level, x]))
    model = SparseClassifier(k=2, solver="online", loss="logistic", random_state=0).fit(X, y)
    assert model.coef_[0, 1] > 0.5
    assert 1.0 < model.coef_[0, 0] < 8.0


def test_the_parabola_lies_above_the_loss():
    loss, y, to = LOSSES["logistic"], np.repeat([1.0, -1.0], 24), np.linspace(-9, 9, 37)[:, None]
    z = np.tile(np.linspace(-6, 6, 24), 2)
    u = loss.derivative(y, z)
    parabola = loss.value(y, z) + u * (to - z) + 0.5 * curvature_above(loss, y, z, u) * (to - z) ** 2
    assert (parabola >= loss.value(y, to) - 1e-12).all()

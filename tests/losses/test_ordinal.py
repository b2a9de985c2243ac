"""The ordinal loss against its definition: value, slopes, curvature and bounds, cut into any chunks."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize

from chunked import Chunked
from naive import ordinal_loss
from riata.coupled_passes import by_rows
from riata.losses import Ordinal, known_loss, on_grid
from riata.losses.link import between_cutpoints
from riata.objective import Problem, elastic_net, first_order, mean_loss
from riata.solvers.convex.working_set import WorkingSetState, read

K = 4


def rows(n=70, d=3, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, d) + 1.0
    w = spread * rng.normal(size=d) / X.std(axis=0)
    z = (X - X.mean(axis=0)) @ w
    k = np.digitize(z + rng.logistic(size=n), [-1.0, 0.3, 2.0])
    k[:K] = np.arange(K)
    return X, k, rng.uniform(0.5, 2.0, n), w, float(-X.mean(axis=0) @ w)


def best(z, k, weight):
    """The least loss over cutpoints, by their distances: a search without slopes, from several starts."""

    def loss(v):
        return ordinal_loss(z, k, np.cumsum(np.concatenate([v[:1], np.exp(v[1:])])), weight)

    share = np.cumsum(np.bincount(k, weight, K))[:-1] / weight.sum()
    t = z.mean() + (np.log(share) - np.log1p(-share)) * np.sqrt(1.0 + z.var() / 3.0)
    start = np.concatenate([t[:1], np.log(np.diff(t))])
    for _ in range(4):
        start = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000}).x
    return loss(start)


def problem(X, k, weight, chunk_rows=1000, layout=np.asarray):
    return Problem(Chunked(layout(X), k.astype(float), chunk_rows, weight), Ordinal(K), elastic_net(0.1))


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("spread", [0.0, 1.0, 20.0])
def test_value_and_slopes_are_those_of_the_definition(spread, few, monkeypatch):
    if not few:
        monkeypatch.setattr(on_grid, "FEW_ROWS", 3)
    X, k, weight, w, b = rows(spread=spread)
    value = best(X @ w + b, k, weight)
    for chunk_rows, layout in ((1000, np.asarray), (7, sp.csr_array), (1, np.asarray)):
        own = problem(X, k, weight, chunk_rows, layout)
        at = first_order(own, w, b)
        assert_allclose([at.loss, mean_loss(own, w, b), mean_loss(own, w, b + 3.0)], value, rtol=1e-9)
        slopes = approx_fprime(w, lambda w, own=own: mean_loss(own, w, b), 1e-7)
        assert_allclose(at.by_w, slopes, atol=2e-6 * np.abs(X).max())
        assert_allclose(at.by_b, 0.0, atol=1e-13)  # the cutpoints follow


def test_rows_on_the_grid_have_the_sums_of_single_rows():
    rng = np.random.default_rng(0)
    z, weight, place = 30.0 * rng.standard_t(2, size=500), rng.uniform(size=500), rng.integers(0, K, 500)
    z = z.clip(-500.0, 500.0)
    grid = on_grid.on_grid(z, weight, place, K)
    for t in (-40.0, 0.0, 0.03, 7.7):
        for u in (lambda z, t=t: np.logaddexp(0.0, z - t), lambda z, t=t: 1.0 / (1.0 + np.exp(z - t))):
            exact = np.bincount(place, weight * u(z), K)
            assert_allclose(grid @ u(on_grid.NODES), exact, atol=1e-12 * weight.sum() * 500.0)


def test_margins_beyond_the_grid_cost_as_much_as_they_should():
    rng = np.random.default_rng(0)
    n = 2 * on_grid.FEW_ROWS
    z, k = 3.0 * rng.normal(size=n), rng.integers(0, K, n)
    z[:40] *= 1000.0
    weight = np.ones(n)
    loss = Ordinal(K)
    [settled] = [loss.settled(loss.sums(k.astype(float), z, weight))]
    total = loss.total(loss.sums(k.astype(float), z, weight))
    assert_allclose(total, settled.value(k.astype(float), z).sum(), rtol=1e-12)


def test_shrunk_slopes_bound_every_value_from_below():
    """conjugate(t u) <= t (u . z - f(z)) for 0 <= t <= 1, so that f(v) >= t u . v - t (u . z - f(z)) at any v."""
    X, k, weight, w, b = rows()
    rng, own = np.random.default_rng(0), problem(X, k, weight)
    [settled] = by_rows(own.data, own.loss, [(w, b)])
    z, y = X @ w + b, k.astype(float)
    u, total = weight * settled.derivative(y, z), weight @ settled.value(y, z)
    for scale in (0.1, 1.0, 10.0):
        for t in (0.0, 0.5, 0.9, 1.0):
            v = z + scale * rng.normal(size=len(z))
            value = own.loss.total(own.loss.sums(y, v, weight))
            assert value >= t * (u @ v) - t * (u @ z - total) - 1e-9


def test_the_curvature_is_that_of_the_loss():
    X, k, weight, w, b = rows(n=150)
    for chunk_rows in (1000, 11):
        own = problem(X, k, weight, chunk_rows)
        state = WorkingSetState(w, b, np.arange(3))
        curvature = read(own, state, first=False, second=True)[1]
        step, H = 1e-4 / X.std(axis=0), np.empty((3, 3))
        for j in range(3):
            e = step[j] * np.eye(3)[j]
            H[:, j] = (first_order(own, w + e, b).by_w - first_order(own, w - e, b).by_w) / (2.0 * step[j])
        assert_allclose(curvature.H, H, rtol=1e-5, atol=1e-7 * np.abs(H).max())


def test_offsets_move_margins():
    X, k, weight, w, b = rows()
    offset = np.random.default_rng(1).normal(size=len(k))
    loss, z = Ordinal(K), X @ w + b
    beside = np.column_stack([k, offset])
    assert_allclose(loss.total(loss.sums(beside, z, weight)), loss.total(loss.sums(k, z + offset, weight)), rtol=1e-13)
    settled = loss.settled(loss.sums(beside, z, weight))
    for of in (settled.value, settled.derivative, settled.second_derivative, settled.shares):
        assert_allclose(of(beside, z), of(k, z + offset))
    assert_allclose(settled.ties(beside, weight), settled.ties(k, weight))


def test_a_class_without_rows_leaves_the_others_as_they_are():
    X, k, weight, w, b = rows()
    few, gap = Ordinal(K), Ordinal(K + 2)
    places = np.array([0, 1, 3, 4])[k].astype(float)  # neither 2 nor 5 has a row
    z = X @ w + b
    with_gaps = gap.settled(gap.sums(places, z, weight))
    assert_allclose(gap.total(gap.sums(places, z, weight)), few.total(few.sums(k.astype(float), z, weight)), rtol=1e-6)
    cutpoints = few.settled(few.sums(k.astype(float), z, weight)).cutpoints
    assert_allclose(with_gaps.cutpoints[[0, 2, 3]], cutpoints, atol=1e-3)
    assert np.all(np.diff(with_gaps.cutpoints) > 0.0)


def test_probabilities_have_their_digits_at_either_end():
    t = np.array([-1.0, 0.0, 2.0])
    for z in (0.3, 60.0, -60.0):
        p = between_cutpoints(t, np.array([z]))[0]
        assert_allclose(p.sum(), 1.0, rtol=1e-14)
        with np.errstate(divide="ignore"):
            expected = [np.exp(-ordinal_loss(np.array([z]), np.array([k]), t, np.ones(1))) for k in range(K)]
        if abs(z) < 1.0:
            assert_allclose(p, expected, rtol=1e-12)
    assert_allclose(between_cutpoints(t, np.array([60.0]))[0, 0], np.exp(-61.0), rtol=1e-12)
    assert_allclose(between_cutpoints(t, np.array([-60.0]))[0, 3], np.exp(-62.0), rtol=1e-12)
    assert_allclose(between_cutpoints(t, np.array([60.0]))[0, 1], np.exp(-60.0) - np.exp(-61.0), rtol=1e-12)


def test_names_of_orders():
    assert known_loss("ordinal:low<mid<high").order == ("low", "mid", "high")
    assert known_loss("ordinal: low < mid").order == ("low", "mid")
    for wrong in ("ordinal:", "ordinal:low", "ordinal:low<<high", "ordinal:a<b<a", "ordinal:2.5"):
        assert known_loss(wrong) is None

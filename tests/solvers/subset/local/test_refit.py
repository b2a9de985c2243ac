"""The least objective with given features: Newton's method from starts near and far."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, gap_unit
from riata.penalties import Cardinality
from riata.solvers.subset.local.refit import SCORED_PRECISION, Refits, least


@pytest.mark.parametrize("start", [0.0, 10.0, 40.0, -40.0])
def test_a_start_where_the_loss_has_no_curvature_costs_few_steps(rng, monkeypatch, start):
    """At a coefficient of 40 nearly all rows seem certain, and Newton's step is too long by many powers of ten."""
    n = 5000
    level = rng.random(n) < 0.01
    y = np.where(rng.random(n) < np.where(level, 0.5, 0.01), 1.0, -1.0)
    refits = Refits(
        Problem(InMemory(level[:, None].astype(float), y), LOSSES["logistic"], Cardinality(1)), np.arange(1)
    )
    steps = []
    second_order = refits._second_order
    monkeypatch.setattr(refits, "_second_order", lambda *now: steps.append(1) or second_order(*now))
    (found,) = refits.fit([np.arange(1)], [(np.array([start]), -5.0)])
    share = [np.mean(y[rows] > 0) for rows in (level, ~level)]
    log_odds = np.log(np.divide(share, np.subtract(1, share)))
    assert_allclose([found.coef[0], found.intercept], [log_odds[0] - log_odds[1], log_odds[1]], rtol=1e-6)
    assert len(steps) < 15


@pytest.mark.parametrize("loss", ["logistic", "poisson", "squared"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_that_stay_sparse_have_the_fit_of_a_dense_copy(rng, loss, fit_intercept):
    """A category of 40 levels, and two columns of numbers; the rows have weights, and the coefficients a ridge."""
    n, levels = 400, rng.integers(0, 40, 400)
    X = np.column_stack([np.eye(40)[levels], 5.0 + rng.normal(size=(n, 2))])
    z = rng.normal(size=40)[levels] + X[:, 40] - 5.0
    y = {"squared": z, "logistic": np.where(z + rng.logistic(size=n) > 0, 1.0, -1.0), "poisson": rng.poisson(np.exp(z))}
    weight, supports = rng.uniform(0.5, 2.0, n), [np.arange(0, 42, 2), np.arange(1, 42)]
    found = []
    for rows in (X, sp.csr_array(X)):
        data = InMemory(rows, y[loss], weight)
        refits = Refits(Problem(data, LOSSES[loss], Cardinality(41, l2=0.01), fit_intercept), np.arange(42))
        assert refits._sparse(np.arange(42)) is sp.issparse(rows)
        found.append(refits.fit(supports, [(np.zeros(len(support)), 0.0) for support in supports]))
    for dense, sparse in zip(*found, strict=True):
        assert_allclose(sparse.coef, dense.coef, rtol=1e-6, atol=1e-8)
        assert_allclose([sparse.intercept, sparse.objective], [dense.intercept, dense.objective], rtol=1e-8, atol=1e-9)


def test_columns_far_from_zero_are_copied(rng):
    """Products that are not about the mean would lose all digits of their deviations."""
    X = sp.csr_array(np.column_stack([np.eye(40)[rng.integers(0, 40, 400)], 1e7 + rng.normal(size=400)]))
    refits = Refits(Problem(InMemory(X, rng.normal(size=400)), LOSSES["squared"], Cardinality(1)), np.arange(41))
    assert refits._sparse(np.arange(40))
    assert not refits._sparse(np.arange(41))


def test_the_least_of_a_quadratic_whose_weights_make_up_for_each_other(rng):
    """A row that is 10,000 times as far out as the others: the ridge that solving adds must not count."""
    X = rng.normal(size=(49, 3))
    X[0] *= 1e4
    y = rng.normal(size=49)
    H, h = X.T @ X / 49 + 0.003 * np.eye(3), X.T @ y / 49
    unit = np.sqrt(H.diagonal())
    H, h = H / np.outer(unit, unit), h / unit
    w, reduction = least(H, h)
    assert np.abs(h - H @ w).max() < 2e-15 * np.abs(w).max()
    assert_allclose(reduction, h @ w, rtol=1e-10)


def test_fits_that_are_scored_only_end_sooner_and_close(rng):
    X = rng.normal(size=(300, 6))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    problem, support = Problem(InMemory(X, y), LOSSES["logistic"], Cardinality(6)), np.arange(6)
    start = [(np.zeros(6), 0.0)]
    [exact] = Refits(problem, support).fit([support], start)
    [scored] = Refits(problem, support, precision=SCORED_PRECISION).fit([support], start)
    assert exact.objective <= scored.objective <= exact.objective + SCORED_PRECISION * gap_unit(problem)
    assert scored.objective > exact.objective

"""Columns that are nearly alike: what leaves in a Newton step must not come back in the next sweep, for ever."""

import numpy as np
import pytest
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, elastic_net
from riata.solvers.convex.columns import column_quadratic
from riata.solvers.convex.columns.column_quadratic import minimise_along_columns
from riata.solvers.convex.columns.columns import one_by_one
from riata.solvers.convex.quadratics.quadratic import minimise_quadratic

NEARLY = 1e-3  # how far columns are from one another


@pytest.mark.parametrize("seed", range(10))
def test_a_quadratic_by_its_matrix_is_minimised_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    n, different, d = 400, 6, 24
    X = rng.normal(size=(n, different))[:, np.arange(d) % different] + NEARLY * rng.normal(size=(n, d))
    y = X[:, :different] @ rng.normal(size=different) + 0.5 * rng.normal(size=n)
    H, h, endless = X.T @ X / n, X.T @ y / n, np.full(d, np.inf)
    l1 = np.full(d, np.abs(h).max() / 250)
    v = minimise_quadratic(H, -h, l1, -endless, endless, np.zeros(d), 1e-10)
    slopes = H @ v - h
    off = np.where(v != 0.0, np.abs(slopes + np.sign(v) * l1), np.maximum(np.abs(slopes) - l1, 0.0))
    assert off.max() < 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_a_quadratic_along_columns_is_minimised_in_some_hundred_rounds(seed, monkeypatch):
    monkeypatch.setattr(column_quadratic, "MAX_ROUNDS", 500)
    rng = np.random.default_rng(seed)
    n, different, d = 800, 40, 200
    some = sp.random_array((n, different), density=0.03, rng=rng, data_sampler=rng.standard_normal).tocsc()
    X = some[:, np.arange(d) % different].copy()
    X.data *= 1.0 + NEARLY * rng.normal(size=len(X.data))
    y = X[:, :different] @ rng.normal(size=different) + 0.1 * rng.normal(size=n)
    alpha, data = np.abs(X.T @ y / n).max() / 30, InMemory(X.tocsr(), y)
    problem = Problem(data, LOSSES["squared"], elastic_net(alpha), fit_intercept=False)
    columns, _ = one_by_one(data.chunk.X, None)
    v, _ = minimise_along_columns(problem, columns, -y / n, np.full(n, 1.0 / n), np.zeros(d), 1e-9)
    left = y - X @ v
    dual = left / max(1.0, np.abs(X.T @ left / n).max() / alpha)
    gap = (left @ left - y @ y + (y - dual) @ (y - dual)) / (2 * n) + alpha * np.abs(v).sum()
    assert gap < 1.1e-9

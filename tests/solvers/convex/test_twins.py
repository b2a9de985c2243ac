"""Copies of a column: what rounding leaves for a copy is no coefficient."""

import numpy as np
import pytest
import scipy.sparse as sp

from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.losses import Softmax
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec


def rows_with_copies(seed):
    """Columns of any units, three of which are there twice; the second of one of them in other units."""
    rng = np.random.default_rng(seed)
    n, d = rng.choice([60, 300, 1500]), rng.choice([5, 20, 80])
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d)
    if seed % 3 == 0:
        X[:, 1:4] = rng.integers(0, 2, (n, 3))
    X = np.column_stack([X, X[:, :2], 2.5 * X[:, 2]])[:, rng.permutation(d + 3)]
    w = np.zeros(d + 3)
    w[:6] = rng.normal(size=6)
    return X, (X / X.std(axis=0)) @ w, rng


def check(w, X):
    effects = np.abs(w) * X.std(axis=0)
    assert effects.max() > 0.0
    assert np.all((effects == 0.0) | (effects > 1e-11 * effects.max()))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("seed", range(8))
def test_a_coefficient_that_is_rounding_is_zero(seed, loss):
    X, z, rng = rows_with_copies(seed)
    y = z + rng.normal(size=len(z)) if loss == "squared" else np.where(z + rng.logistic(size=len(z)) > 0, 1.0, -1.0)
    for rows in (X, sp.csr_array(X)):
        for data in (InMemory(rows, y), Chunked(rows, y, 50)):
            result = fit(data, Spec(loss=loss, alpha_ratio=0.03)).result
            check(result.coef, X)
            assert result.gap <= 1e-6
            along = path_of_margin(data, Spec(loss=loss), length=8, reach=0.03)
            check(along.coefs[-1], X)
            assert along.gaps.max() <= 1e-6


def test_a_small_coefficient_without_a_penalty_stays(rng):
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 1e-12, 0.0]
    spec = Spec(alpha=1e-13, penalty_factors=np.array([1.0, 0.0, 1.0]), fit_intercept=False)
    assert fit(InMemory(X, y), spec).result.coef[1] == pytest.approx(1e-12, rel=0.5)


@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
def test_a_stricter_gap_is_still_reached(tol):
    X, z, rng = rows_with_copies(1)
    result = fit(InMemory(X, z + rng.normal(size=len(z))), Spec(alpha_ratio=0.03, tol=tol)).result
    assert result.gap <= tol


@pytest.mark.parametrize("seed", [4, 5, 7])
def test_without_an_intercept_a_nearly_constant_column_takes_its_place(seed):
    """Its coefficients have an effect by its size, however little it varies: they are no rounding."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([7.0 + 1e-7 * rng.normal(size=17), rng.normal(size=17) > 0])
    y = rng.integers(0, 3, size=17).astype(float)
    spec = Spec(loss=Softmax(3), alpha_ratio=0.001, fit_intercept=False, standardize=False)
    result = fit(InMemory(X, y), spec).result
    assert result.converged, result.reason

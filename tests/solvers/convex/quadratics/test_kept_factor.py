"""One factorisation serves for coordinates that come and go, as exactly as one of its own for each."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.positive import Factor
from riata.solvers.convex.quadratics.kept_factor import KeptFactor


@pytest.fixture
def factorisations(monkeypatch):
    """The sizes of all matrices that are factorised."""
    sizes, of = [], Factor.of

    def counted(H):
        sizes.append(len(H))
        return of(H)

    monkeypatch.setattr(Factor, "of", counted)
    return sizes


def correlated(rng, m, correlation):
    X = rng.normal(size=(4 * m, m))
    for j in range(1, m):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    return X.T @ X / len(X)


@pytest.mark.parametrize("correlation", [0.0, 0.95, 0.9999])
def test_coordinates_come_and_go(correlation, rng, factorisations):
    H, factor = correlated(rng, 200, correlation), KeptFactor()
    inside, n_solved = rng.random(200) < 0.6, 30
    for turn in range(n_solved):
        turned = rng.choice(200, size=3, replace=False)
        inside[turned] = ~inside[turned]
        S, known = np.flatnonzero(inside), H[: 150 + turn, : 150 + turn]  # whose end grows
        S = S[S < len(known)]
        right = rng.normal(size=len(S))
        expected = np.linalg.solve(known[np.ix_(S, S)], right)
        assert_allclose(factor.solve(known, S, right), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert 1 < len(factorisations) < n_solved / 2


def test_what_comes_and_leaves_again_needs_nothing_new(rng, factorisations):
    H, factor, right = correlated(rng, 100, 0.5), KeptFactor(), rng.normal(size=100)
    for S in (np.arange(90), np.arange(92), np.arange(90), np.arange(91), np.arange(1, 92), np.arange(90)):
        assert_allclose(factor.solve(H, S, right[S]), np.linalg.solve(H[np.ix_(S, S)], right[S]), rtol=1e-10)
    assert factorisations == [90]


@pytest.mark.parametrize("twin", [0, 79, 80])
def test_equal_columns_are_left_to_others(twin, rng):
    H, factor = correlated(rng, 100, 0.5), KeptFactor()
    H[81], H[:, 81] = H[twin], H[:, twin]
    H[81, 81] = H[81, twin] = H[twin, 81] = H[twin, twin]
    S, right = np.arange(80), rng.normal(size=100)
    assert factor.solve(H, S, right[S]) is not None
    both = np.append(S, 81)
    found = factor.solve(H, both, right[both])
    if twin == 80:  # a column whose twin is not among them
        assert_allclose(H[np.ix_(both, both)] @ found, right[both], atol=1e-8)
    else:
        assert found is None
    without = np.setdiff1d(both, [81])
    expected = np.linalg.solve(H[np.ix_(without, without)], right[without])
    assert_allclose(factor.solve(H, without, right[without]), expected, rtol=1e-8)


def test_few_coordinates_are_not_worth_it(rng, factorisations):
    assert KeptFactor().solve(np.eye(10), np.arange(10), np.ones(10)) is None
    assert factorisations == []

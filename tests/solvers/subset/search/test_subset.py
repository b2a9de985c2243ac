"""A set of columns that is changed one by one has the fit of one that is set as a whole, and of least squares."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.solvers.subset.search.subset import Subset

SIZES = (0, 1, 3, 4, 5, 8, 11)  # columns are taken four at a time


@pytest.fixture(name="columns")
def correlated_columns(rng):
    """Of unit norm, all correlated with each other, and a target."""
    X = rng.normal(size=(60, 15)) + rng.normal(size=(60, 1))
    return X / np.linalg.norm(X, axis=0), rng.normal(size=60)


def searches(X, y):
    return Subset(X.T @ X, X.T @ y, 15, 0.0), Subset(X.T @ X, X.T @ y, 15, 0.0)


def assert_same_fit(moved, anew, X, y):
    """Of everything that a search goes by: weights, what is left of the target and of each column, and their roles."""
    places = np.array([int(np.flatnonzero(moved.members == column)[0]) for column in anew.members], dtype=np.int64)
    assert sorted(moved.members) == sorted(anew.members)
    assert_allclose(moved.weights[places], anew.weights, atol=1e-9)
    assert_allclose(moved._c, anew._c, atol=1e-9)
    assert_allclose(moved._v, anew._v, atol=1e-9)
    assert_allclose(moved._W[places], anew._W[: anew.size], atol=1e-9)
    assert_allclose(moved._A[np.ix_(places, places)], anew._A[: anew.size, : anew.size], atol=1e-8)
    assert_allclose(anew.weights, np.linalg.lstsq(X[:, anew.members], y, rcond=None)[0], atol=1e-9)


@pytest.mark.parametrize("size", SIZES)
def test_columns_added_one_by_one(columns, size, rng):
    X, y = columns
    moved, anew = searches(X, y)
    members = rng.permutation(15)[:size]
    for column in members:
        moved._add(int(column))
    anew.restart(members)
    assert_same_fit(moved, anew, X, y)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n_others", [0, 1, 2, 4])
def test_moving_to_other_members(columns, size, n_others, rng):
    """Whether few of them differ, or all."""
    X, y = columns
    moved, anew = searches(X, y)
    order = rng.permutation(15)
    moved.restart(order[:size])
    others = order[n_others : n_others + size]
    moved.move_to(others)
    anew.restart(others)
    assert_same_fit(moved, anew, X, y)

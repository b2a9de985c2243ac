"""Sums by which a checkpoint knows its rows again: the same in any order of additions, other with any row."""

import numpy as np
import pytest

from riata.data.in_memory import InMemory
from riata.training.row_sums import same_sums, sums_of_rows


def sums(X, y):
    data = InMemory(X, y)
    _ = data.moments
    return sums_of_rows(data)


@pytest.fixture
def table(rng):
    X = rng.normal(size=(2000, 6)) * [1.0, 1e-8, 1e8, 1.0, 1.0, 0.0] + [0.0, 1.0, 0.0, 1e9, 0.1, 0.1]
    return X, rng.normal(size=2000)


def test_rows_in_another_order_are_the_same(table, rng):
    X, y = table
    order = rng.permutation(len(y))
    assert same_sums(sums(X, y), sums(X[order], y[order]))


@pytest.mark.parametrize("change", [(5, 0), (1999, 2), (7, 4)])
def test_one_changed_number_is_noticed(table, change):
    X, y = table
    other = X.copy()
    other[change] *= 1.01
    assert not same_sums(sums(X, y), sums(other, y))


def test_a_changed_target_is_noticed(table):
    X, y = table
    assert not same_sums(sums(X, y), sums(X, np.where(np.arange(len(y)) == 9, y + 0.01, y)))


def test_what_is_not_known_is_no_difference(table):
    X, y = table
    assert sums_of_rows(InMemory(X, y)) is None
    assert same_sums(None, [1.0])
    assert same_sums([1.0], None)
    assert not same_sums([1.0], ["1"])

"""Statistics of candidates in half a matrix: as the whole matrix has them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from riata.data.mixed_bits import GOLDEN, mixed_bits
from riata.kernels.candidates import OF_MARK, add_products, eliminate, move_products, rows_that_count, unpack
from riata.kernels.rows import CsrRows

D = 40  # features


def whole(xx, n):
    """The symmetric matrix."""
    A = np.zeros((n, n))
    A[np.tril_indices(n)] = xx
    return A + np.tril(A, -1).T


@pytest.fixture
def rows(rng):
    """Sparse rows, some of whose features are out of order, and the same rows as a matrix."""
    X = rng.normal(size=(60, D)) * (rng.random((60, D)) < 0.3)
    X[5] = 0.0
    features = [rng.permutation(np.flatnonzero(row)) if i % 2 else np.flatnonzero(row) for i, row in enumerate(X)]
    indptr = np.concatenate([[0], np.cumsum([len(its) for its in features])]).astype(np.int32)
    indices = np.concatenate(features).astype(np.int32)
    data = np.concatenate([X[i, its] for i, its in enumerate(features)])
    return CsrRows(indptr, indices, data, np.ones(D)), X


def test_products_of_candidates_are_those_of_their_columns(rows, rng):
    csr, X = rows
    candidates = np.array([1, 3, 7, 8, 15, 16, 31, 39])
    m = len(candidates) + 2  # one place is empty
    marks, place_of = np.zeros(-(-D // OF_MARK), np.uint16), np.full(D, -1, np.int32)
    np.bitwise_or.at(marks, candidates // OF_MARK, (1 << candidates % OF_MARK).astype(np.uint16))
    place_of[candidates] = np.arange(len(candidates))
    visits, h, u = rng.permutation(60)[:50], rng.random(50), rng.normal(size=50)
    xx, xy = np.zeros(m * (m + 1) // 2), np.zeros(m)
    add_products(csr, True, visits, marks, place_of, h, u, xx, xy)
    its = np.column_stack([X[np.ix_(visits, candidates)], np.zeros(50), np.ones(50)])
    assert_allclose(whole(xx, m), its.T @ (h[:, None] * its), atol=1e-12)
    assert_allclose(xy, its.T @ u, atol=1e-12)
    seen = np.flatnonzero(X[visits].any(axis=0))
    assert_array_equal([j for j in range(D) if marks[j // OF_MARK] >> (8 + j % OF_MARK) & 1], seen)


@pytest.mark.parametrize(
    ("old", "new"), [([0, 2, 5], [0, 2, 5]), ([0, 2, 5], [1, 4, 5]), ([3, 4, 5], [0, 1, 5]), ([], [])]
)
def test_columns_that_move_keep_their_products(old, new, rng):
    xx = rng.normal(size=21)
    before, wanted = whole(xx, 6), np.zeros((6, 6))
    wanted[np.ix_(new, new)] = before[np.ix_(old, old)]
    move_products(xx, np.array(old, dtype=np.int64), np.array(new, dtype=np.int64), 6)
    assert_array_equal(whole(xx, 6), wanted)


def test_some_columns_over_their_scales(rng):
    xx, places, scale, A = rng.normal(size=21), np.array([1, 2, 5]), np.array([1.0, 2.0, 4.0]), np.empty((3, 3))
    unpack(xx, places, scale, A)
    assert_allclose(A, whole(xx, 6)[np.ix_(places, places)] / np.outer(scale, scale))


@pytest.mark.parametrize("n_drop", [0, 1, 5, 9])
def test_the_cheapest_variable_is_dropped_one_after_the_other(n_drop, rng):
    X, y = rng.normal(size=(50, 9)), rng.normal(size=50)
    A, c = X.T @ X, X.T @ y
    left = list(range(9))
    for _ in range(n_drop):  # the one whose absence costs least, by fits without each

        def gain_without(j):
            its = [i for i in left if i != j]
            return c[its] @ np.linalg.solve(A[np.ix_(its, its)], c[its]) if its else 0.0

        left.remove(max(left, key=gain_without))
    P = np.linalg.inv(A)
    v, alive = P @ c, np.ones(9, bool)
    n = eliminate(P, v, alive, np.empty(n_drop, np.int64), np.empty((n_drop, 9)))
    assert n == n_drop
    assert_array_equal(np.flatnonzero(alive), left)
    assert_allclose(v[left], np.linalg.lstsq(X[:, left], y)[0], atol=1e-12)


def test_rows_count_by_the_bits_of_their_numbers_and_as_often_as_others_do_not():
    rng = np.random.default_rng(0)
    slopes, first, n_whole, least = rng.normal(size=5000) * rng.random(5000), 70_000, 100, 0.05
    taken, times = np.empty(5000, np.int64), np.empty(5000)
    n = rows_that_count(slopes, first, n_whole, least, 0.5, taken, times)
    shares = np.clip(0.5 * np.abs(slopes), least, 1.0)
    shares[:n_whole] = 1.0
    with np.errstate(over="ignore"):
        bits = mixed_bits(np.arange(first, first + 5000, dtype=np.uint64) * GOLDEN)
    chosen = np.flatnonzero(bits / 2.0**64 < shares)
    assert_array_equal(taken[:n], chosen)
    assert_allclose(times[:n], 1.0 / shares[chosen], rtol=1e-12)
    assert n_whole < n < 2500  # most rows tell little

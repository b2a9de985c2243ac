"""Columns that are multiples of one another are found, and no others."""

import numpy as np
import pytest
import scipy.sparse as sp

from riata.matrices.multiples import positive_multiples


def slow_first(X):
    """The first column that each is a positive multiple of, by looking at every pair."""
    X = X.toarray()
    size = np.linalg.norm(X, axis=0)
    unit = X / np.where(size > 0, size, 1.0)
    return [
        next(k for k in range(j + 1) if k == j or (size[j] > 0 and np.abs(unit[:, k] - unit[:, j]).max() < 1e-12))
        for j in range(X.shape[1])
    ]


def test_words_of_one_or_two_rows(rng):
    X = sp.random_array(
        (12, 80), density=0.12, rng=rng, data_sampler=lambda size: rng.integers(1, 3, size).astype(float)
    )
    X = sp.csr_array(X @ sp.diags_array(rng.uniform(0.3, 3.0, 80)))
    found = positive_multiples(X)
    assert found.first.tolist() == slow_first(X)
    assert np.count_nonzero(found.first != np.arange(80)) > 10
    np.testing.assert_allclose(found.length, np.linalg.norm(X.toarray(), axis=0))


def test_what_is_nearly_alike_or_points_the_other_way_is_no_copy():
    column = np.array([1.0, 2.0, 0.0, 3.0])
    X = np.column_stack(
        [
            column,
            2.0 * column,
            -column,
            column + np.array([0.0, 1e-9, 0.0, 0.0]),
            column[::-1],
            np.zeros(4),
            np.zeros(4),
        ]
    )
    assert positive_multiples(sp.csr_array(X)).first.tolist() == [0, 0, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1)])
def test_nothing_has_no_copies(shape):
    assert positive_multiples(sp.csr_array(shape)).first.tolist() == list(range(shape[1]))

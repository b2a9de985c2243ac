"""Of columns that are copies of one another, one takes the coefficients of all."""

import numpy as np
from numpy.testing import assert_allclose

from riata.penalties import Strengths
from riata.solvers.convex.columns.copies import without_copies


def test_margins_stay_and_the_penalty_does_not_grow():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 20))
    A[3], A[4], A[5] = A[0], -2.5 * A[0], A[1]
    strengths = Strengths(np.ones(6), np.zeros(6), np.full(6, -np.inf), np.full(6, np.inf))
    v = np.array([1.0, 2.0, 3.0, 1.0, -0.5, -0.5])
    found = without_copies(A, strengths, v)
    assert_allclose(found @ A, v @ A)
    assert np.abs(found).sum() <= np.abs(v).sum()
    assert np.flatnonzero(found).tolist() == [1, 2, 4]  # the copy in the largest units costs least


def test_a_bound_or_a_ridge_keeps_them_apart():
    A = np.ones((3, 4))
    free, bound = np.full(3, np.inf), np.full(3, 1.5)
    v = np.array([1.0, 1.0, 0.0])
    for l2, upper in ((np.zeros(3), bound), (np.ones(3), free)):
        assert_allclose(without_copies(A, Strengths(np.ones(3), l2, -free, upper), v), v)

"""Candidates that become more have the products and slopes that passes over the data would give."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from riata.data.in_memory import InMemory
from riata.objective import empty_intercept
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.proof.growing_candidates import GrowingCandidates
from riata.training.fitting import make_problem
from riata.training.spec import Spec


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "rows",
    [
        lambda X: X,
        lambda X: X.astype(np.float32),
        np.asfortranarray,
        sp.csr_array,
    ],
)
def test_candidates_that_become_more_have_the_products_of_passes(rng, rows, intercept):
    n, d = 15, 40
    X = (rng.normal(size=(n, d)) * rng.uniform(0.1, 10.0, d) + 3.0).astype(np.float32).astype(np.float64)
    X[:, 7] = 2.0  # does not vary
    data = InMemory(rows(X), rng.normal(size=n), rng.uniform(0.5, 2.0, n))
    problem, _ = make_problem(data, Spec(k=3, ridge=0.1, fit_intercept=intercept))
    first, more, last = np.array([3, 30]), np.array([7, 1, 12, 5, 33]), np.array([0, 39])
    model = LocalQuadratic.at(problem, np.zeros(d), empty_intercept(problem), first)
    growing = GrowingCandidates(model)
    growing.add(more)
    growing.add(last)
    everyone = np.concatenate([first, more, last])
    obvious = LocalQuadratic.at(problem, np.zeros(d), empty_intercept(problem), everyone)
    assert_array_equal(growing.columns, everyone)
    assert_allclose(growing.among(everyone), obvious.products, atol=1e-12)
    some, weights = np.array([30, 12, 39]), rng.normal(size=3)
    assert_allclose(growing.pulls(some, weights), obvious.pulls(some, weights), atol=1e-12)
    assert_allclose(growing.times(some, weights), obvious.products[:, [1, 4, 8]] @ weights, atol=1e-12)
    assert_allclose(growing.quadratic_of(some).G, obvious.among_candidates().among(np.array([1, 4, 8])).G, atol=1e-12)
    assert_array_equal(growing.places(np.array([39, 2, 3])), [8, -1, 0])

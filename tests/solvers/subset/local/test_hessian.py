"""Entries, rows and products of the Hessian, against the matrix written out."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem
from riata.penalties import Cardinality
from riata.solvers.subset.local.local_quadratic import LocalQuadratic

D, RIDGE = 7, 0.03


def rows_of(kind, rng):
    """Columns of other scales, one of them constant."""
    X = (rng.normal(size=(60, D)) * (rng.random((60, D)) < 0.6)) * 10.0 ** rng.uniform(-2, 2, D)
    X[:, 5] = 4.0
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    held = {"dense": lambda: InMemory(X, y), "CSR": lambda: InMemory(scipy.sparse.csr_array(X), y)}
    return X, y, held.get(kind, lambda: Chunked(X, y, 13))()


def written_out(X, y, loss, w, b, intercept, always):
    """H of the others in the units of the data: the intercept and those that are always in explain their part."""
    z = X @ w + b
    design = np.column_stack([X[:, always], np.ones(len(X))] if intercept else [X[:, always]])
    curvature = loss.second_derivative(y, z) / len(y)
    whole = X.T @ (curvature[:, None] * X) + RIDGE * np.eye(D)
    if not design.shape[1]:
        return whole
    beside = X.T @ (curvature[:, None] * design)
    own = design.T @ (curvature[:, None] * design) + RIDGE * np.diag([1.0] * len(always) + [0.0] * intercept)
    beside[always, np.arange(len(always))] += RIDGE
    return whole - beside @ np.linalg.solve(own, beside.T)


@pytest.mark.parametrize("kind", ["dense", "CSR", "from disk"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("always", [[], [1, 4]])
@pytest.mark.parametrize("at_once", [None, 2])
def test_everything_asked_of_it_is_the_matrix_written_out(kind, loss, intercept, always, at_once, rng):
    X, y, data = rows_of(kind, rng)
    problem = Problem(data, LOSSES[loss], Cardinality(3, RIDGE, np.array(always) if always else None), intercept)
    w = np.array([0.01, 0.0, -0.02, 0.0, 0.0, 0.0, 0.03])
    quadratic = LocalQuadratic.at(problem, w, 0.2, at_once=at_once)
    hessian, others = quadratic.hessian, np.setdiff1d(np.arange(D), always)
    H = written_out(X, y, LOSSES[loss], w, 0.2, intercept, always) / np.outer(hessian.unit, hessian.unit)
    near = {"rtol": 1e-6, "atol": 1e-7}  # the damping of losses that are not quadratic
    assert_allclose(hessian.diagonal[others], H.diagonal()[others], **near)
    left, right = others[:2], others[2:]
    assert_allclose(hessian.between(left, right), H[np.ix_(left, right)], **near)
    assert_allclose(hessian.among(others), H[np.ix_(others, others)], **near)
    blocks = np.hstack([rows for _, rows in hessian.row_blocks(left)])
    assert_allclose(blocks[:, right], H[np.ix_(left, right)], **near)
    weights = rng.normal(size=2)
    assert_allclose(hessian.times(left, weights)[others], H[np.ix_(others, left)] @ weights, **near)
    W = np.zeros((D, 3))
    W[others] = rng.normal(size=(len(others), 3))
    assert_allclose(hessian.times_columns(W)[others], (H @ W)[others], **near)
    if at_once is None:
        hessian.keep(left[:1])
        assert hessian.n_rows == 1
        assert_allclose(hessian.rows_of(left)[:, right], H[np.ix_(left, right)], **near)

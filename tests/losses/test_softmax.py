"""Softmax: its derivatives, its conjugate, and the probabilities of its link."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from riata.losses import LINKS, Softmax, SquaredTargets, against_rest, probabilities

N, K = 15, 4


@pytest.fixture
def case(rng):
    return Softmax(K), rng.integers(0, K, N).astype(float), 2.0 * rng.normal(size=(N, K))


def by_differences(f, z, h=1e-6):
    """The derivative of f in each margin: rows x ... x margins."""
    steps = h * np.eye(z.shape[1])
    return np.stack([(f(z + step) - f(z - step)) / (2 * h) for step in steps], axis=-1)


def test_derivatives_are_those_of_the_value(case):
    loss, y, z = case
    assert_allclose(loss.derivative(y, z), by_differences(lambda z: loss.value(y, z), z), atol=1e-8)
    d, r = loss.row_curvature(y, z)
    second = d[:, :, None] * np.eye(K) - r[:, :, None] * r[:, None, :]
    assert_allclose(second, by_differences(lambda z: loss.derivative(y, z), z), atol=1e-8)
    assert_allclose(loss.second_derivative(y, z), np.diagonal(second, axis1=1, axis2=2))
    assert np.linalg.eigvalsh(second).max() <= loss.curvature


def test_the_conjugate_is_the_largest_difference(case):
    loss, y, z = case
    u = loss.derivative(y, z)
    assert_allclose(loss.value(y, z) + loss.conjugate(y, u), np.sum(u * z, axis=1), atol=1e-12)
    assert_allclose(loss.conjugate(y, np.zeros_like(u)), 0.0)
    for i in range(3):  # by search, too: sup_z u . z - value
        found = minimize(lambda z, i=i: loss.value(y[i], z) - u[i] @ z, np.zeros(K), tol=1e-12)
        assert_allclose(loss.conjugate(y[i], u[i]), -found.fun, atol=1e-8)


def test_slopes_that_are_balanced_are_those_of_probabilities(case, rng):
    """Whatever the mean slopes: they become 0, and the mean conjugate is no more than what is said."""
    loss, y, z = case
    shares = np.bincount(y.astype(int), minlength=K) / N
    for size in (0.0, 1e-9, 0.1, 5.0):
        u = loss.derivative(y, loss.constant(shares) + size * z)
        of_empty = loss.derivative(y, np.broadcast_to(loss.constant(shares), z.shape))
        by = loss.balanced(u.mean(axis=0), loss.constant(shares), loss.conjugate(y, u).mean())
        balanced = by.keep * u + by.empty * of_empty + by.shift
        assert_allclose(balanced.mean(axis=0), 0.0, atol=1e-14)
        p = balanced + loss.indicators(y, z)
        assert_allclose(p.sum(axis=1), 1.0)
        assert p.min() >= -1e-15
        assert loss.conjugate(y, balanced).mean() <= by.rise + 1e-12
        assert_allclose(by.keep, 1.0, atol=1e-6) if size < 1e-6 else None


def test_mean_slopes_that_are_rounding_are_left_alone():
    by = Softmax(3).balanced(np.array([2.0, 1.0, 2.0]) * 2.0**-56, np.log([0.4, 0.2, 0.4]), -1.0)
    assert (by.keep, by.empty, by.rise) == (1.0, 0.0, -1.0)
    assert_array_equal(by.shift, 0.0)


def test_margins_that_are_huge_stay_finite():
    loss, z = Softmax(3), np.array([[1e4, -1e4, 0.0]])
    assert_allclose(loss.value(np.array([1.0]), z), 2e4)
    assert_allclose(loss.derivative(np.array([1.0]), z), [[1.0, -1.0, 0.0]])


def test_probabilities_are_the_models_own(case):
    _, _, z = case
    p = probabilities(LINKS["softmax"], z)
    assert_allclose(p, np.exp(z) / np.exp(z).sum(axis=1, keepdims=True))
    assert_allclose(against_rest(LINKS["softmax"], z), np.log(p / (1 - p)), rtol=1e-9)


def test_directions_span_what_the_loss_tells_apart(case):
    """All differences of margins, without what may be added to all of them."""
    loss, y, z = case
    Q = loss.directions()
    assert_allclose(Q.T @ Q, np.eye(K - 1), atol=1e-12)
    assert_allclose(Q.sum(axis=0), 0.0, atol=1e-12)
    assert_allclose(loss.value(y, z @ Q @ Q.T), loss.value(y, z))
    assert_allclose(SquaredTargets(3).directions() @ SquaredTargets(3).directions().T, np.eye(3), atol=1e-12)

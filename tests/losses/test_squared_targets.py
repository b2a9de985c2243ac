"""Least squares of several targets: the sum over targets of the loss of one, its conjugate, slopes that balance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from riata.errors import OptionError
from riata.losses import EVERY, SquaredTargets, loss_of

N, K = 15, 3


@pytest.fixture
def case(rng):
    return SquaredTargets(K), rng.normal(size=(N, K)) + 5.0, 2.0 * rng.normal(size=(N, K))


def test_it_is_the_sum_of_the_squared_loss(case):
    loss, y, z = case
    one = loss_of("squared")
    assert_allclose(loss.value(y, z), one.value(y, z).sum(axis=1))
    assert_allclose(loss.derivative(y, z), one.derivative(y, z))
    assert_allclose(loss.second_derivative(y, z), 1.0)
    assert one.of_targets(K) == loss
    assert_allclose(loss.score_factor * loss.value(y, z).mean(), np.mean((y - z) ** 2))


def test_the_conjugate_is_the_largest_difference(case):
    loss, y, z = case
    u = loss.derivative(y, z)
    assert_allclose(loss.value(y, z) + loss.conjugate(y, u), np.sum(u * z, axis=1), atol=1e-12)
    assert_allclose(loss.conjugate(y, np.zeros_like(u)), 0.0)
    found = minimize(lambda z: loss.value(y[0], z) - u[0] @ z, np.zeros(K), tol=1e-12)
    assert_allclose(loss.conjugate(y[0], u[0]), -found.fun, atol=1e-8)


def test_slopes_are_balanced_exactly(case):
    loss, y, z = case
    u = loss.derivative(y, z)
    by = loss.balanced(u.mean(axis=0), y.mean(axis=0), loss.conjugate(y, u).mean())
    balanced = by.keep * u + by.shift
    assert_allclose(balanced.mean(axis=0), 0.0, atol=1e-14)
    assert_allclose(by.rise, loss.conjugate(y, balanced).mean())


@pytest.mark.parametrize("name", [name for name in EVERY if name != "squared"])
def test_other_losses_are_of_one_target(name):
    assert loss_of(name).of_targets(1) == loss_of(name)
    with pytest.raises(OptionError, match="is of one target, and there are 2: take loss 'squared'"):
        loss_of(name).of_targets(2)

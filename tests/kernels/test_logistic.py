"""The logistic loss by polynomials against that of arrays, in loops that the compiler vectorises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.kernels.losses import LOGISTIC
from riata.kernels.restricted import losses_of_rows
from riata.kernels.row_terms import loss_along, quadratic_of_rows
from riata.losses import LOSSES

LOSS = LOSSES["logistic"]
SMALL = 10.0 ** np.arange(-300.0, 1.0, 7.0)
MARGINS = np.concatenate([np.linspace(-45.0, 45.0, 1001), -SMALL, SMALL, [0.0, 600.0, -600.0, 1e5, -1e5]])


def of_rows(y, z):
    """(loss, slope, curvature) of one row after the other."""
    n, one = len(z), np.ones(1)
    found = np.empty((3, n))
    for i in range(n):
        u, D = np.empty((2, 1))
        found[0, i] = losses_of_rows(LOGISTIC, y[i : i + 1], z[i : i + 1], one, 0.0, u, D)
        found[1:, i] = u[0], D[0]
    return found


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_polynomials_are_the_loss_to_the_last_digits(label):
    y = np.full(len(MARGINS), label)
    cost, slope, curvature = of_rows(y, MARGINS)
    assert_allclose(cost, LOSS.value(y, MARGINS), rtol=2e-15, atol=1e-290)
    assert_allclose(slope, LOSS.derivative(y, MARGINS), rtol=4e-15, atol=1e-290)
    assert_allclose(curvature, LOSS.second_derivative(y, MARGINS), rtol=6e-15, atol=1e-290)


def test_many_rows_at_once_are_as_one_after_the_other(rng):
    z, step, weight = 3.0 * rng.normal(size=(3, 1003))
    y, weight = np.where(rng.random(1003) < 0.5, -1.0, 1.0), weight**2
    cost, slope, curvature = of_rows(y, z)
    u, D = np.empty((2, 1003))
    for total in (
        losses_of_rows(LOGISTIC, y, z, weight, 0.0, u, D),
        quadratic_of_rows(LOGISTIC, y, weight, z, 0.0, np.inf, u, D),
    ):
        assert_allclose(total, weight @ cost, rtol=1e-13)
        assert_allclose(u, weight * slope, rtol=1e-14)
        assert_allclose(D, weight * curvature, rtol=1e-14)
    assert_allclose(loss_along(LOGISTIC, y, weight, z, step, 0.3), weight @ of_rows(y, z + 0.3 * step)[0], rtol=1e-13)


@pytest.mark.parametrize("margin", [np.nan, np.inf, -np.inf])
def test_divergence_is_seen(margin):
    y, z = np.ones(9), np.zeros(9)
    z[4] = margin
    u, D = np.empty((2, 9))
    total = losses_of_rows(LOGISTIC, y, z, np.ones(9), 0.0, u, D)
    if np.isnan(margin):
        assert np.isnan(total)
        assert np.isnan(u[4])
    else:
        assert np.isinf(total) == (margin < 0.0)
        assert u[4] == (0.0 if margin > 0.0 else -1.0) or abs(u[4]) < 1e-290

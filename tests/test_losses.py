"""Every loss: derivatives by finite differences, the conjugate by Fenchel and Young, the compiled twin too."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from riata.kernels import losses as compiled
from riata.losses import LOSSES

Z = np.linspace(-4.0, 4.0, 23)  # meets no kink of the second derivatives


def targets(name, rng):
    if LOSSES[name].labels:
        return rng.choice([-1.0, 1.0], size=len(Z))
    return rng.poisson(2.0, size=len(Z)).astype(float) if name == "poisson" else rng.normal(size=len(Z))


@pytest.fixture(params=LOSSES)
def case(request):
    rng = np.random.default_rng(0)
    return LOSSES[request.param], targets(request.param, rng), rng


def test_derivatives_are_those_of_the_value(case):
    loss, y, _ = case
    h = 1e-6
    assert_allclose(loss.derivative(y, Z), (loss.value(y, Z + h) - loss.value(y, Z - h)) / (2 * h), atol=1e-7)
    slopes = (loss.derivative(y, Z + h) - loss.derivative(y, Z - h)) / (2 * h)
    assert_allclose(loss.second_derivative(y, Z), slopes, atol=1e-7)
    assert np.all(loss.second_derivative(y, Z) <= loss.curvature)


def test_fenchel_young_holds_with_equality_at_the_derivative(case):
    loss, y, rng = case
    u = loss.derivative(y, Z)
    assert_allclose(loss.value(y, Z) + loss.conjugate(y, u), u * Z, atol=1e-12)
    assert_allclose(loss.conjugate(y, np.zeros_like(y)), 0.0, atol=1e-15)
    elsewhere = rng.normal(size=len(Z))
    assert np.all(loss.value(y, elsewhere) + loss.conjugate(y, u) >= u * elsewhere - 1e-12)


def test_the_constant_is_the_best_one(case):
    loss, y, _ = case
    if loss.constant(y.mean()) is None:
        pytest.skip("the mean of the target does not tell")
    best = minimize_scalar(lambda z: np.mean(loss.value(y, z)))
    assert_allclose(loss.constant(y.mean()), best.x, atol=1e-6)


@njit
def _each(code, y, z, out):
    for i in range(len(y)):
        out[0, i] = compiled.value(code, y[i], z[i])
        out[1, i] = compiled.derivative(code, y[i], z[i])
        out[2, i] = compiled.second_derivative(code, y[i], z[i])
        out[3, i], out[4, i] = compiled.value_and_derivative(code, y[i], z[i])


def test_the_compiled_twin_is_the_same(case):
    loss, y, _ = case
    for z in (Z, 50.0 * Z):
        out = np.empty((5, len(y)))
        _each(loss.code, y, z, out)
        expected = [loss.value(y, z), loss.derivative(y, z), loss.second_derivative(y, z)]
        assert_allclose(out, [*expected, *expected[:2]], rtol=1e-12, atol=1e-300)


def test_margins_that_overflow_stay_finite(case):
    loss, y, _ = case
    out = np.empty((5, len(y)))
    _each(loss.code, y, np.full(len(y), 1e4), out)
    assert np.isfinite(out).all()

"""Large quadratics on a device have the minimum that the host finds, and fits with them their certificate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from host_place import Host
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.penalties import Strengths
from riata.solvers.convex.quadratics import curvature
from riata.solvers.convex.quadratics import on_device as there
from riata.solvers.convex.quadratics.on_device import minimise_on_device
from riata.solvers.convex.quadratics.quadratic import minimise_quadratic
from riata.training.fitting import fit
from riata.training.spec import Spec

PRECISION = 1e-12
SHAPES = {  # columns, rows
    "neighbours": (90, 400),
    "nearly as many rows": (90, 95),
    "fewer rows": (90, 60),
    "independent": (90, 400),
    "twins": (90, 400),
    "a constant": (90, 400),
    "one": (1, 10),
}


@pytest.fixture(params=["numpy", "strict"])
def xp(request, monkeypatch):
    monkeypatch.setattr(there, "BLOCK", 16)
    return np if request.param == "numpy" else pytest.importorskip("array_api_strict")


def columns_of(shape, rng):
    m, n = SHAPES[shape]
    X = rng.normal(size=(n, m))
    if shape != "independent":
        for j in range(1, m):
            X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1.0 - 0.95**2) * X[:, j]
    if shape == "twins":
        X[:, 1::2] = X[:, ::2]
    if shape == "a constant":
        X[:, 3] = 0.0
    return X - X.mean(axis=0)


def bounds_of(kind, m):
    lower, upper = np.full(m, -np.inf), np.full(m, np.inf)
    if kind == "nonnegative":
        lower[:] = 0.0
    if kind == "bounds":
        lower[::2], upper[::3] = -0.02, 0.05
    return lower, upper


@pytest.mark.parametrize("kind", ["free", "nonnegative", "bounds", "some unpenalised"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_minimum_is_that_of_the_host(shape, kind, xp, rng):
    X = columns_of(shape, rng)
    n, m = X.shape
    y = X @ np.where(np.arange(m) % 7 == 0, rng.normal(size=m), 0.0) + rng.normal(size=n)
    H, slope, squares = X.T @ X / n, -X.T @ y / n, float(np.mean(y**2))
    (lower, upper), order = bounds_of(kind, m), rng.permutation(m)
    for ratio in (0.3, 0.03, 0.003):
        l1 = np.full(m, ratio * np.abs(slope).max())
        if kind == "some unpenalised":
            l1[::9] = 0.0
        start = np.clip(rng.normal(size=m), lower, upper)
        here = slope + H @ start
        v = minimise_on_device(
            H, here, Strengths(l1, np.zeros(m), lower, upper), start, PRECISION, 0.0, squares, order, xp.asarray
        )
        known = minimise_quadratic(H, here, l1, lower, upper, start, PRECISION)
        assert np.all(v >= lower)
        assert np.all(v <= upper)

        def value(v, l1=l1):
            return slope @ v + 0.5 * v @ H @ v + l1 @ np.abs(v)

        assert value(v) <= value(known) + 1e-11 * squares
        if shape in ("neighbours", "independent"):
            assert_allclose(v, known, atol=1e-8)


def test_it_ends_where_it_is_near_enough(xp, rng):
    X = columns_of("nearly as many rows", rng)
    n, m = X.shape
    y = X[:, ::5].sum(axis=1) + rng.normal(size=n)
    H, slope, squares = X.T @ X / n, -X.T @ y / n, float(np.mean(y**2))
    strengths = Strengths(np.full(m, 0.003 * np.abs(slope).max()), np.zeros(m), *bounds_of("free", m))
    values, asked = [], []

    def counted(x):
        asked[-1] += 1
        return xp.asarray(x)

    for enough in (0.0, 1e-2 * squares):
        asked.append(0)
        v = minimise_on_device(H, slope, strengths, np.zeros(m), PRECISION, enough, squares, np.arange(m), counted)
        values.append(slope @ v + 0.5 * v @ H @ v + strengths.l1 @ np.abs(v))
    assert values[0] - 1e-12 <= values[1] <= values[0] + 1e-2 * squares
    assert asked[1] < asked[0]


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("asked", [{}, {"l1_ratio": 0.5}, {"nonnegative": True}, {"fit_intercept": False}], ids=str)
def test_fits_on_a_device(loss, asked, xp, rng, monkeypatch):
    called = []

    def counted(*args):
        called.append(len(args[3]))
        return minimise_on_device(*args)

    monkeypatch.setattr(curvature, "FEWEST", 8)
    monkeypatch.setattr(curvature, "minimise_on_device", counted)
    X = columns_of("neighbours", rng)
    z = X[:, ::6].sum(axis=1) + rng.normal(size=len(X))
    data = InMemory(X, z if loss == "squared" else np.where(z > 0, 1.0, -1.0))
    spec = Spec(loss=loss, alpha_ratio=0.01, tol=1e-12, **asked)
    here, far = fit(data, spec).result, fit(on_device(data, Host(xp)), spec).result
    assert called
    assert far.gap <= 1e-12
    assert_allclose(far.coef, here.coef, atol=1e-5)
    assert_allclose(far.objective, here.objective, rtol=1e-8)

"""Dense rows that are so long that several are read at a time, or that few of their numbers are fetched."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.kernels.first_order import FEW_FETCHED
from riata.kernels.products import FEW_NUMBERS
from riata.kernels.rows import LONG_ROW
from riata.losses import LOSSES
from riata.matrices.host import as_matrix

ROWS = 13  # neither a multiple of four, nor of anything else


def numbers_of(d, dtype):
    rng = np.random.default_rng(d)
    X = (3.0 + rng.normal(size=(ROWS, d))).astype(dtype)
    return rng, X, rng.choice([-1.0, 1.0], ROWS), rng.uniform(0.1, 2.0, ROWS)


def widths():
    """Shorter and longer rows; with none, few, and many weights on either side of where rows are read as a whole."""
    for d in (LONG_ROW - 100, LONG_ROW, LONG_ROW + 1, 3 * LONG_ROW):
        for used in (0, 1, d // FEW_FETCHED - 1, d // FEW_FETCHED + 2, d // FEW_NUMBERS + 2, d):
            yield d, used


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("d", "used"), list(widths()))
def test_margins_and_slopes(d, used, dtype):
    rng, X, y, weight = numbers_of(d, dtype)
    w = np.zeros(d)
    w[rng.choice(d, used, replace=False)] = 0.01 * rng.normal(size=used)
    rows = as_matrix(X)
    assert not rows.few
    z = X.astype(np.float64) @ w - 0.3
    assert_allclose(rows.margins(w, -0.3), z, rtol=1e-10, atol=1e-10)
    for loss in (LOSSES["squared"], LOSSES["logistic"]):
        totals, slopes = rows.first_order(loss, y, weight, w, -0.3)
        u = weight * loss.derivative(y, z)
        for side, up in zip(slopes, (u > 0.0, u <= 0.0), strict=True):
            assert_allclose(side, np.where(up, u, 0.0) @ X, rtol=1e-9, atol=1e-9)
        assert_allclose(totals[:2], [weight.sum(), weight @ loss.value(y, z)], rtol=1e-10)
        assert_allclose(totals[2] + totals[4], u.sum(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("d", [LONG_ROW - 1, LONG_ROW])
@pytest.mark.parametrize("n", [2, 4, 13, 259])
def test_moments(n, d):
    rng = np.random.default_rng(n)
    X, y, weight = 1e3 + rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(0.1, 2.0, n)
    X[:, 0] = 0.1
    rows = as_matrix(np.vstack([X] * (1 + 20_000 // X.size)))  # enough for compiled loops
    times = rows.shape[0] // n
    found = rows.moments(np.tile(y, times), np.tile(weight, times))
    mean = weight @ X / weight.sum()
    assert_allclose(found.mean, mean, rtol=1e-14)
    assert found.mean[0] == 0.1
    assert found.squares[0] == 0.0
    assert_allclose(found.squares, times * (weight @ (X - mean) ** 2), rtol=1e-10, atol=1e-10)
    cross = times * (weight * (y - weight @ y / weight.sum())) @ (X - mean)
    assert_allclose(found.cross, cross, rtol=1e-9, atol=1e-9)

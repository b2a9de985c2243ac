"""The textbook methods for k features against their naive versions, and over any kind of data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive_l0
from chunked import Chunked
from problems import LAYOUTS
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.training.fitting import fit
from riata.training.spec import Spec

PURSUITS = {
    "omp": naive_l0.omp,
    "htp": naive_l0.htp,
    "cosamp": naive_l0.cosamp,
    "subspace-pursuit": naive_l0.subspace_pursuit,
    "iht": lambda A, y, k: naive_l0.iht(A, y, k, 30),
}


def regression(rng, n=80, d=20, k=4):
    """Values that float32 holds exactly, columns on different scales, the target of k of them and noise."""
    X = (np.round(rng.normal(size=(n, d)) * 64) / 64 + 1.0) * 2.0 ** rng.integers(-3, 3, d)
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    return X, (X / X.std(axis=0)) @ w + 0.3 * rng.normal(size=n)


def fitted(data, solver, **options):
    limit = {"max_passes": 30} if solver == "iht" else {}
    return fit(data, Spec(k=4, solver=solver, tol=0.0, **limit, **options)).result


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("solver", PURSUITS)
def test_pursuits_do_what_their_papers_say(rng, solver, standardize):
    X, y = regression(rng)
    result = fitted(InMemory(X, y), solver, standardize=standardize)
    scale = X.std(axis=0) if standardize else 1.0
    v = PURSUITS[solver]((X - X.mean(axis=0)) / scale, y - y.mean(), 4)
    assert_allclose(result.coef * scale, v, rtol=2e-3, atol=1e-8)  # L is only known within some percent
    assert_allclose(result.intercept, y.mean() - X.mean(axis=0) @ result.coef, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solver", PURSUITS)
def test_pursuits_read_any_data(rng, solver, layout):
    X, y = regression(rng)
    reference = fitted(InMemory(X, y), solver)
    for data in (InMemory(LAYOUTS[layout](X), y), Chunked(LAYOUTS[layout](X), y, 7)):
        assert_allclose(fitted(data, solver).coef, reference.coef, rtol=1e-6)


@pytest.mark.parametrize("solver", PURSUITS)
def test_pursuits_take_other_losses_and_best_k_is_no_worse(rng, solver):
    X, y = regression(rng)
    labels = np.where(y + rng.normal(size=len(y)) > np.median(y), 1.0, -1.0)
    result = fitted(InMemory(X, labels), solver, loss="logistic")
    z = X @ result.coef + result.intercept
    assert np.count_nonzero(result.coef) <= 4
    assert_allclose(result.objective, LOSSES["logistic"].value(labels, z).mean(), rtol=1e-9)
    assert fitted(InMemory(X, labels), "best-k", loss="logistic").objective <= result.objective + 1e-9

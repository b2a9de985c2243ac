"""A path is what single fits would give, certified, in far fewer passes."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from convex_problems import Chunks, make
from problems import SMOOTH
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.outcome.path_end import EndReason
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("source", [InMemory, Chunks])
def test_every_model_is_that_of_a_single_fit(loss, source):
    X, y = make(loss, n=80, d=30)
    found = path_of_margin(source(X, y), Spec(loss=loss, tol=1e-10), length=20, reach=0.02)
    assert found.converged
    assert np.all(found.gaps <= 1e-10)
    assert found.n_selected[0] == 0 < found.n_selected[-1]
    for i in (5, 12, 19):
        single = fit(InMemory(X, y), Spec(loss=loss, alpha=found.alphas[i], tol=1e-10)).result
        assert_allclose(found.coefs[i], single.coef, atol=1e-4)


def test_given_alphas_and_options():
    X, y = make("squared")
    factors = np.ones(X.shape[1])
    factors[3] = 0.0
    spec = Spec(l1_ratio=0.5, fit_intercept=False, penalty_factors=factors, tol=1e-10)
    found = path_of_margin(InMemory(X, y), spec, [0.5, 0.1, 0.02])
    for alpha, coef in zip(found.alphas, found.coefs, strict=True):
        single = Spec(alpha=alpha, l1_ratio=0.5, fit_intercept=False, penalty_factors=factors, tol=1e-10)
        assert_allclose(coef, fit(InMemory(X, y), single).result.coef, atol=1e-6)
        assert coef[3] != 0


@pytest.mark.parametrize("alphas", [[0.1, 0.2], [], [-1.0], [[0.1]], [np.nan], [np.inf, 0.1]], ids=str)
def test_bad_alphas(alphas):
    X, y = make("squared", n=20, d=6)
    with pytest.raises(OptionError, match="alphas must be finite, zero or more, and lie from large to small"):
        path_of_margin(InMemory(X, y), Spec(), alphas)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_hundred_models_in_sixty_passes(loss):
    X, y = make(loss, n=300, d=60)
    data = Chunks(X, y, chunk_rows=100)
    assert path_of_margin(data, Spec(loss=loss)).converged
    assert data.passes <= 60


def test_it_ends_where_rounding_hides_what_a_step_gains():
    X, y = make("logistic", n=400, d=8)
    X[:, 1] += 1.7e12
    found = path_of_margin(InMemory(X, y), Spec(loss="logistic"), length=10)
    assert found.ended.reason is EndReason.UNCERTIFIED
    assert found.converged
    assert f"of 10 alphas the first {len(found)} have models" in found.reason
    given = path_of_margin(InMemory(X, y), Spec(loss="logistic"), found.alphas[0] * np.geomspace(1.0, 0.01, 10))
    assert len(given) == 10
    assert np.isfinite(given.gaps).all()


def test_it_ends_where_all_is_explained():
    X, y = make("squared", n=20, d=60)
    found = path_of_margin(InMemory(X, y), Spec(), reach=1e-5)
    explained = 1.0 - found.losses / found.losses[0]
    assert found.ended.reason is EndReason.SATURATED
    assert explained[-2] < 0.999 <= explained[-1]
    assert found.converged
    assert len(path_of_margin(InMemory(X, y), Spec(), found.alphas[0] * np.geomspace(1.0, 1e-5, 100))) == 100


def test_it_ends_where_more_is_hardly_explained():
    X, y = make("squared", n=200, d=5)
    found = path_of_margin(InMemory(X, y), Spec(), reach=1e-6)
    explained = 1.0 - found.losses / found.losses[0]
    assert found.ended.reason is EndReason.FLAT
    assert explained[-1] - explained[-2] < 1e-5 * explained[-1] < explained[-2] - explained[-3] + 1e-5
    full = path_of_margin(InMemory(X, y), Spec(), found.alphas[0] * np.geomspace(1.0, 1e-6, 100))
    assert_allclose(full.coefs[: len(found)], found.coefs, atol=1e-8)
    assert 1.0 - full.losses[-1] / full.losses[0] < explained[-1] + 1e-3


@pytest.mark.parametrize("options", [{"length": 0}, {"reach": 0.0}, {"reach": 2.0}], ids=str)
def test_bad_lengths(options):
    X, y = make("squared", n=20, d=6)
    with pytest.raises(OptionError, match="1 to 10000 alphas"):
        path_of_margin(InMemory(X, y), Spec(), **options)


def test_counts_with_heavy_tails_are_certified_at_every_alpha():
    """Near its minimum F is the rounding of a sum over rows: steps that seem to raise it by that are not cut back."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((6000, 20)) < 0.1, np.ceil(np.exp(1.8 * rng.normal(size=(6000, 20)))), 0.0)
    z = np.log1p(X) @ (0.4 * rng.normal(size=20))
    y = np.where(rng.random(6000) < 1 / (1 + np.exp(np.quantile(z, 0.8) - z)), 1.0, -1.0)
    found = path_of_margin(InMemory(sp.csr_array(X), y), Spec(loss="logistic", standardize=False), length=30, reach=0.1)
    assert len(found.alphas) == 30
    assert max(found.gaps) <= 1e-6

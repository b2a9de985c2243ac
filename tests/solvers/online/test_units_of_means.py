"""Losses whose margins are logarithms of means, learnt row by row: the unit of the target does not matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import riata
from pairs import every_pair
from riata.data.chunk import Chunk
from riata.losses import loss_of
from riata.losses.with_offset import paired
from riata.training.offsets import loss_with_offset
from riata.training.spec import Spec
from riata.training.streaming.streams import open_stream

ASKED = {
    "online": {"solver": "online"},
    "online, k": {"solver": "online", "k": 2},
    "sketch": {"solver": "sketch", "k": 2},
    "ftrl": {"solver": "ftrl", "alpha": 0.0, "standardize": False},
}
HOMOGENEOUS = ["poisson", "gamma", "tweedie:1.5", "tweedie:1.1"]  # a loss in other units is a multiple
LOSSES = [*HOMOGENEOUS, "negative-binomial:2"]
MEANS = [1e-4, 1e-2, 30.0, 1e3, 1e6]


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.fixture
def X(rng):
    return rng.normal(size=(2000, 8))


@pytest.fixture
def amounts(X, rng):
    """Positive, of a mean near 1."""
    return np.exp(0.6 * X[:, 0] - 0.4 * X[:, 5] - 0.3) * rng.gamma(2.0, 0.5, size=len(X))


def learned(X, y, loss, asked, weight=None):
    """(coefficients, intercept) after the rows came in order."""
    stream = open_stream(Spec(loss=loss, **ASKED[asked]), X.shape[1])
    stream.learn(Chunk(X, y, np.ones(len(y)) if weight is None else weight))
    found, w, b = stream.features, stream.coef, stream.intercept
    coef = np.zeros(X.shape[1])
    coef[slice(None) if found is None else found.ids[w != 0]] = w if found is None else w[w != 0]
    return coef, b


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("loss", HOMOGENEOUS)
def test_a_target_in_other_units_moves_the_intercept_alone(X, amounts, loss, asked):
    coef, intercept = learned(X, amounts, loss, asked)
    assert np.abs(coef - np.eye(8)[0] * 0.6 + np.eye(8)[5] * 0.4).max() < 0.3
    for mean in MEANS:
        scaled, moved = learned(X, mean * amounts, loss, asked)
        assert_allclose(scaled, coef, rtol=1e-4, atol=1e-9)  # with k they differ by some 5e-6
        assert_allclose(moved, intercept + np.log(mean), atol=1e-4)


@pytest.mark.parametrize(("loss", "mean", "asked"), every_pair(LOSSES, MEANS, ASKED))
def test_the_mean_is_learnt_whatever_it_is(X, amounts, loss, asked, mean):
    y = mean * amounts
    coef, intercept = learned(X, y, loss, asked)
    predicted = np.exp(X @ coef + intercept)
    assert 0.6 < predicted.mean() / y.mean() < 1.4
    assert np.corrcoef(np.log(predicted), np.log(amounts))[0, 1] > 0.5


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("loss", LOSSES)
def test_hard_beginnings_leave_a_finite_model(X, amounts, loss, asked):
    tiny, huge, sudden = amounts.copy(), amounts.copy(), amounts.copy()
    tiny[0], huge[0], sudden[1000] = 1e-9, 1e3, 1e3
    of_zero = loss_of(loss).takes(np.zeros(1)).all()
    late = np.where(np.arange(2000) < 500, 0.0, amounts) if of_zero else amounts
    for y in (tiny, huge, sudden, late, np.sort(amounts) ** 3, np.sort(amounts)[::-1] ** 3):
        coef, intercept = learned(X, y, loss, asked)
        assert np.isfinite(coef).all()
        assert np.abs(coef).max() < 10.0
        assert np.log(y[y > 0].min()) - 2.0 < intercept < np.log(y.max()) + 2.0


@pytest.mark.parametrize("asked", ASKED)
def test_no_claims_at_all(X, asked):
    coef, intercept = learned(X, np.zeros(len(X)), "poisson", asked)
    assert not coef.any()
    assert np.exp(intercept) < 1e-100


@pytest.mark.parametrize("asked", ["online, k", "ftrl"])
def test_exposures_in_other_units_move_the_intercept_alone(X, amounts, rng, asked):
    loss, years = loss_with_offset(loss_of("poisson")), rng.uniform(0.1, 2.0, size=len(X))
    coef, intercept = learned(X, paired(years * amounts, np.log(years)), loss, asked)
    days, moved = learned(X, paired(years * amounts, np.log(365.0 * years)), loss, asked)
    assert_allclose(days, coef, rtol=1e-6, atol=1e-9)
    assert_allclose(moved, intercept - np.log(365.0), rtol=1e-6)


@pytest.mark.parametrize("mean", [1e-4, 1e6])
@pytest.mark.parametrize("solver", ["online", "sketch"])
def test_estimators_score_well_whatever_the_mean(X, amounts, solver, mean):
    model = riata.SparseRegressor(k=2, loss="gamma", solver=solver, random_state=0).fit(X, mean * amounts)
    assert model.get_support(indices=True).tolist() == [0, 5]
    parts = riata.SparseRegressor(k=2, loss="gamma", solver=solver)
    for rows in np.split(np.arange(len(X)), 4):
        parts.partial_fit(X[rows], mean * amounts[rows])
    assert parts.get_support(indices=True).tolist() == [0, 5]

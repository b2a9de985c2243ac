"""How good a quantile is: its pinball loss and coverage, beside those of a constant."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.metrics import d2_pinball_score, mean_pinball_loss

from convex_problems import make
from riata.data.in_memory import InMemory
from riata.estimators import SparseRegressor
from riata.model.quality import quality


def test_scores_are_those_of_scikit_learn_and_the_baseline_is_a_quantile():
    X, y = make("quantile", n=150, d=5)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    fitted = SparseRegressor(alpha=0.01, loss="quantile:0.9").fit(X, y, sample_weight=weight)
    found, z = quality(fitted.to_model(), InMemory(X, y, weight)), fitted.predict(X)
    loss = mean_pinball_loss(y, z, alpha=0.9, sample_weight=weight)
    assert_allclose(found.scores["pinball_loss"], loss, rtol=1e-12)
    lowest, highest = (np.average(y <= z + touch, weights=weight) for touch in (-1e-3, 1e-3))
    assert lowest < 0.9 < found.scores["coverage"] <= highest
    assert_allclose(found.scores["d2_pinball"], d2_pinball_score(y, z, alpha=0.9, sample_weight=weight), atol=1e-6)
    assert 0.9 <= found.baseline["coverage"] < 0.9 + weight.max() / weight.sum()
    assert found.baseline["d2_pinball"] == 0.0
    assert_allclose(fitted.to_model().score(X, y, weight), found.scores["d2_pinball"])


def test_an_offset_is_taken_from_the_target():
    X, y = make("quantile", n=80, d=5)
    offset = np.random.default_rng(1).normal(size=len(y))
    moved = SparseRegressor(alpha=0.05, loss="quantile:0.3").fit(X, y + offset, offset=offset)
    assert_allclose(moved.coef_, SparseRegressor(alpha=0.05, loss="quantile:0.3").fit(X, y).coef_, atol=1e-3)

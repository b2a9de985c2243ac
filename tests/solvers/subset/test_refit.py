"""The least objective with given features: Newton's method from starts near and far."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem
from riata.penalties import Cardinality
from riata.solvers.subset.refit import Refits


@pytest.mark.parametrize("start", [0.0, 10.0, 40.0, -40.0])
def test_a_start_where_the_loss_has_no_curvature_costs_few_steps(rng, monkeypatch, start):
    """At a coefficient of 40 nearly all rows seem certain, and Newton's step is too long by many powers of ten."""
    n = 5000
    level = rng.random(n) < 0.01
    y = np.where(rng.random(n) < np.where(level, 0.5, 0.01), 1.0, -1.0)
    refits = Refits(
        Problem(InMemory(level[:, None].astype(float), y), LOSSES["logistic"], Cardinality(1)), np.arange(1)
    )
    steps = []
    second_order = refits._second_order
    monkeypatch.setattr(refits, "_second_order", lambda newtons: steps.append(1) or second_order(newtons))
    (found,) = refits.fit([np.arange(1)], [(np.array([start]), -5.0)])
    share = [np.mean(y[rows] > 0) for rows in (level, ~level)]
    log_odds = np.log(np.divide(share, np.subtract(1, share)))
    assert_allclose([found.coef[0], found.intercept], [log_odds[0] - log_odds[1], log_odds[1]], rtol=1e-6)
    assert len(steps) < 15

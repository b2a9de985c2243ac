"""The minimum over sparse columns where most are rare: margins that are far off come back."""

import numpy as np
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, duality_gap, elastic_net, first_order
from riata.solvers.convex import column_quadratic
from riata.solvers.convex.gathered_columns import GatheredColumns


def test_rows_whose_margins_are_far_on_the_wrong_side_come_back(monkeypatch):
    """There the logistic loss is linear, and a step by its curvature alone is far too long."""
    monkeypatch.setattr(column_quadratic, "MAX_ROUNDS", 200)  # of a quadratic that is too far off to be solved
    rng = np.random.default_rng(3)
    X = _rare_words(rng, 400, 1500)
    often = np.asarray(X[:, :10].sum(axis=1))
    y = np.where(often + 2.0 * rng.normal(size=400) > np.median(often), 1.0, -1.0)
    data, d = InMemory(X, y), X.shape[1]
    loss = LOSSES["logistic"]
    problem = Problem(data, loss, elastic_net(alpha_max(Problem(data, loss, elastic_net(1.0))) / 300))
    far = np.zeros(d)
    far[rng.choice(d, 100, replace=False)] = rng.normal(size=100)
    gap = duality_gap(problem, far, first_order(problem, far, 0.0))
    columns = GatheredColumns.of(data, np.arange(d), True)
    w, b = columns.minimum(problem, None, (far, 0.0), (far, 0.0), 0.0, 1e-7)
    assert duality_gap(problem, w, first_order(problem, w, b)) <= 1e-3 * gap


def _rare_words(rng, n, d):
    """Indicators of unit deviation, of which a few are common and most have an entry or two."""
    share = np.minimum(0.5, 1.5 / np.arange(1, d + 1) + 1.5 / n)
    X = (rng.random((n, d)) < share).astype(float)
    X = X[:, X.any(axis=0)]
    return sp.csr_array(X / X.std(axis=0))

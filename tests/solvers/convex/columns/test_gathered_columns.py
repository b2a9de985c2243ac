"""The minimum over sparse columns where most are rare: margins that are far off come back."""

import numpy as np
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, duality_gap, elastic_net, first_order
from riata.solvers.convex.columns import column_quadratic
from riata.solvers.convex.columns.gathered_columns import GatheredColumns
from riata.solvers.convex.quadratics.curvature import ROUGH_PRECISION


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
    at = first_order(problem, far, 0.0)
    gap, columns = duality_gap(problem, far, at), GatheredColumns.of(data, np.arange(d), True)
    w, b = columns.minimum(problem, at, (far, 0.0), (far, 0.0), 0.0, 1e-7)
    assert duality_gap(problem, w, first_order(problem, w, b)) <= 1e-3 * gap


def test_a_rough_minimum_lowers_the_objective_and_a_precise_one_closes_the_gap():
    """Along columns that are much alike, at a small penalty, gaps are wide where hardly anything is left to gain."""
    problem, data, d = _much_alike()
    columns, start = GatheredColumns.of(data, np.arange(d), True), (np.zeros(d), 0.0)
    F, gap = {}, {}
    for name, precision in (("rough", ROUGH_PRECISION), ("precise", 0.0)):
        w, b = columns.minimum(problem, first_order(problem, *start), start, start, precision, 1e-7)
        at = first_order(problem, w, b)
        F[name], gap[name] = at.loss + problem.penalty.value(w), duality_gap(problem, w, at)
    assert gap["precise"] <= 1e-7 < gap["rough"]
    assert F["precise"] <= F["rough"] < first_order(problem, *start).loss
    assert F["rough"] - F["precise"] <= 0.2 * (first_order(problem, *start).loss - F["precise"])


def test_gathered_columns_serve_for_most_of_their_own_features_alone():
    _, data, d = _much_alike()
    columns = GatheredColumns.of(data, np.arange(0, d, 2), True)
    assert columns.serves(np.arange(0, d, 2), also=0)
    assert columns.serves(np.arange(0, d, 2)[3:], also=0)
    assert not columns.serves(np.arange(0, d, 2)[: d // 4], also=0)
    assert columns.serves(np.arange(0, d, 2)[: d // 4], also=d // 4)  # which may be others
    assert not columns.serves(np.arange(0, d, 2) + 1, also=d)


def _much_alike():
    """A logistic problem of neighbours that are correlated .95, at a thousandth of its largest penalty."""
    rng = np.random.default_rng(5)
    n, d = 300, 200
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1.0 - 0.95**2) * X[:, j]
    y = np.where(X[:, ::20].sum(axis=1) + 3.0 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    data, loss = InMemory(X, y), LOSSES["logistic"]
    return Problem(data, loss, elastic_net(alpha_max(Problem(data, loss, elastic_net(1.0))) / 1000)), data, d


def _rare_words(rng, n, d):
    """Indicators of unit deviation, of which a few are common and most have an entry or two."""
    share = np.minimum(0.5, 1.5 / np.arange(1, d + 1) + 1.5 / n)
    X = (rng.random((n, d)) < share).astype(float)
    X = X[:, X.any(axis=0)]
    return sp.csr_array(X / X.std(axis=0))

"""The first Newton steps over gathered columns: they lower F, and lead near the minimum where sweeps suffice."""

import numpy as np
import pytest
import scipy.sparse as sp

from convex_problems import targets_for
from riata.data.in_memory import InMemory
from riata.losses import LOSSES, loss_of
from riata.objective import Problem, alpha_max, duality_gap, elastic_net, first_order
from riata.penalties import ElasticNet
from riata.solvers.convex.columns.first_steps import first_steps, first_steps_serve
from riata.solvers.convex.columns.gathered_columns import GatheredColumns

COMPILED = sorted(
    name for name, loss in LOSSES.items() if loss.code is not None and not (loss.quadratic or loss.stiff or loss.kinked)
)


def gathered(loss_name, sparse, fit_intercept, ratio, seed=0, l1_ratio=1.0):
    """A problem of 80 rows and 30 columns, dense ones with an intercept far from zero; and its columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 30)) * (rng.random((80, 30)) < 0.3) + (2.0 if fit_intercept and not sparse else 0.0)
    loss = loss_of(loss_name)
    weight = rng.uniform(0.5, 2.0, 80)
    data = InMemory(sp.csr_array(X) if sparse else X, targets_for(loss, X, rng), weight)
    largest = alpha_max(Problem(data, loss, elastic_net(1.0), fit_intercept))
    problem = Problem(data, loss, elastic_net(largest / ratio, l1_ratio), fit_intercept)
    return problem, GatheredColumns.of(data, np.arange(30), fit_intercept)


def F(problem, point):
    return first_order(problem, *point).loss + problem.penalty.value(point[0])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("loss", COMPILED)
def test_they_lead_most_of_the_way_to_the_minimum(loss, sparse, fit_intercept):
    """That of the thorough method, certified."""
    problem, columns = gathered(loss, sparse, fit_intercept, ratio=20)
    start = np.zeros(30), 0.0
    near, _ = first_steps(problem, columns.columns, columns.origin, start, 1e-6, outside=0.0)
    least = columns.minimum(problem, first_order(problem, *start), start, start, 0.0, 1e-9)
    assert duality_gap(problem, least[0], first_order(problem, *least)) <= 1e-7
    assert F(problem, near) - F(problem, least) <= 1e-3 * (F(problem, start) - F(problem, least))


def test_conditions_are_met_better_than_by_the_features_outside():
    """Then they say so, and no more precision is made."""
    problem, columns = gathered("logistic", sparse=True, fit_intercept=True, ratio=50)
    start = np.zeros(30), 0.0
    rough, well = first_steps(problem, columns.columns, columns.origin, start, 0.0, outside=20.0)
    assert well
    at, alpha = first_order(problem, *rough), problem.strengths.l1[0]
    off = np.where(rough[0] != 0.0, np.abs(at.by_w + np.sign(rough[0]) * alpha), np.abs(at.by_w) - alpha)
    assert off.max() <= 3.0 * alpha  # a tenth of 20 thresholds, at the best intercept


def test_ridges_of_an_elastic_net_count():
    problem, columns = gathered("logistic", sparse=True, fit_intercept=True, ratio=50, l1_ratio=0.5)
    start = np.zeros(30), 0.0
    (v, b), _ = first_steps(problem, columns.columns, columns.origin, start, 1e-6, outside=0.0)
    assert duality_gap(problem, v, first_order(problem, v, b)) <= 1e-4 * F(problem, start)


def test_bounds_features_without_a_penalty_and_quadratics_are_left_to_the_thorough_method():
    problem, _ = gathered("logistic", sparse=True, fit_intercept=True, ratio=50)
    assert first_steps_serve(problem)
    for penalty in (
        ElasticNet(np.full(30, 0.01), lower=0.0),
        ElasticNet(np.full(30, 0.01), upper=np.where(np.arange(30) == 3, 1.0, np.inf)),
        ElasticNet(np.where(np.arange(30) == 3, 0.0, 0.01)),
    ):
        assert not first_steps_serve(Problem(problem.data, problem.loss, penalty, True))
    assert not first_steps_serve(Problem(problem.data, LOSSES["squared"], problem.penalty, True))

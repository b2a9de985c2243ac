"""The curvatures of rows in Newton steps: no step throws a margin far off, however flat its loss is there."""

import numpy as np
import pytest

from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, elastic_net, first_order
from riata.solvers.convex.columns.row_curvature import FURTHEST, row_curvature
from riata.solvers.convex.working_set import STEP_PRECISION, WorkingSetState, read


@pytest.mark.parametrize("loss", ["logistic", "poisson", "probit", "cloglog", "squared-hinge"])
def test_a_row_by_itself_goes_no_further_than_a_parabola_of_its_slope_would(loss):
    """Ten times as far as to where that has no loss."""
    z = np.linspace(-30.0, 30.0, 241)
    y = np.where(np.arange(len(z)) % 2, 1.0, -1.0 if LOSSES[loss].labels else 0.0)
    slope, value = LOSSES[loss].derivative(y, z), LOSSES[loss].value(y, z)
    step = np.abs(slope) / row_curvature(LOSSES[loss], y, z)
    there = np.abs(slope) > 1e-100
    assert np.all(step[there] <= 1.001 * FURTHEST * 2.0 * value[there] / np.abs(slope[there]))


@pytest.mark.parametrize("rows", [InMemory, lambda X, y: Chunked(X, y, 60)])
def test_levels_of_few_rows_that_went_to_the_wrong_side_come_back(rows):
    """There the logistic loss has no curvature to the last digits, and a step by it alone has no end."""
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 40, 400)[:, None] == np.arange(40)).astype(float)
    y = np.where(rng.random(400) < 0.1, 1.0, -1.0)
    problem = Problem(rows(X, y), LOSSES["logistic"], elastic_net(1e-4))
    far = np.full(40, 60.0)  # all levels on the side of the rarer class
    state = WorkingSetState(far, 0.0, np.arange(40))
    at, curvature = read(problem, state, first=True, second=True)
    w, b = curvature.minimum(problem, at, (far, 0.0), (far, 0.0), STEP_PRECISION, 0.0)
    assert np.abs(w).max() <= FURTHEST * 2.0 * 60.0 + 60.0
    assert np.isfinite(first_order(problem, w, b).loss)

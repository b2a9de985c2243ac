"""Columns gathered together give the same answers as curvature that is read, and their own minimum is one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from convex_problems import make
from pairs import every_pair
from problems import LAYOUTS
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, duality_gap, elastic_net, first_order, gap_unit
from riata.penalties import ElasticNet
from riata.solvers.convex import inner_method
from riata.solvers.convex.columns import column_copy as gathered
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

CURVED = [name for name, loss in LOSSES.items() if not loss.quadratic and not loss.kinked and "compiled" in loss.has]
PENALTIES = {
    "lasso": elastic_net(0.02),
    "elastic net": elastic_net(0.02, 0.5),
    "nonnegative": elastic_net(0.02, lower=0.0),
    "factors": ElasticNet(np.linspace(0.001, 0.05, 12)),
}


WAYS = [("dense", True), ("dense", False), ("float32", True), ("csr", False)]  # the layout, and whether rows are many


@pytest.mark.parametrize(
    ("loss", "penalty", "way", "fit_intercept"), every_pair(CURVED, PENALTIES, WAYS, [True, False])
)
def test_the_minimum_over_all_columns_is_certified(loss, penalty, way, fit_intercept):
    """By compiled loops, and, of few dense rows, by array functions."""
    (layout, many), (X, y) = way, make(loss, n=60, d=12)
    problem = Problem(InMemory(LAYOUTS[layout](X), y), LOSSES[loss], PENALTIES[penalty], fit_intercept)
    w, b = gathered.column_copy(problem, np.arange(12), many).minimum(problem, None, None, (np.zeros(12), 0.0), 0.0)
    assert fit_intercept or b == 0.0
    assert duality_gap(problem, w, first_order(problem, w, b)) <= 1e-8 * gap_unit(problem)


@pytest.mark.parametrize("loss", CURVED)
def test_fits_and_paths_are_those_of_curvature_that_is_read(loss, monkeypatch):
    X, y = make(loss, n=80, d=30)

    def both():
        spec = Spec(loss=loss, tol=1e-10)
        found = path_of_margin(InMemory(X, y), spec, length=10, reach=0.05)
        alone = fit(InMemory(X, y), Spec(loss=loss, tol=1e-10, alpha_ratio=0.05)).result
        assert found.converged
        assert alone.converged
        return found.coefs, alone.coef

    ours = both()
    monkeypatch.setattr(gathered, "LARGEST_COPY", 0)
    for together, read in zip(ours, both(), strict=True):
        assert_allclose(together, read, atol=1e-4)


def test_a_row_far_on_the_straight_part_of_a_loss_is_reached():
    """There the curvature says nothing, and the first steps are far too long."""
    X, y = np.array([[0.1, 0.6]]), np.array([20.0])
    result = fit(InMemory(X, y), Spec(loss="huber", alpha_ratio=0.3, standardize=False, fit_intercept=False)).result
    assert result.converged, result.reason


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("squared", {}),
        ("squared", {"group_ratio": 0.5, "penalty_factors": np.repeat([0.0, *[1.0] * 49], 4)}),
        ("logistic", {"fit_intercept": False}),
        ("poisson", {"group_ratio": 0.7}),
    ],
)
def test_groups_along_columns_end_where_their_curvature_leads(loss, options, layout, monkeypatch, rng):
    """More columns than rows, neighbours alike, groups whose features do not lie side by side."""
    X, y = make(loss, n=60, d=200)
    X = LAYOUTS[layout](X + 0.7 * np.roll(X, 1, axis=1))
    groups, found = np.tile(np.arange(50), 4), []
    options = {name: np.tile(value[::4], 4) if name == "penalty_factors" else value for name, value in options.items()}
    for least in (0.0, np.inf):
        monkeypatch.setattr(inner_method, "COLUMNS_PER_ROW", least)
        monkeypatch.setattr(inner_method, "FEW_FEATURES", 0 if least == 0.0 else np.inf)
        found.append(fit(InMemory(X, y), Spec(loss=loss, groups=groups, alpha_ratio=0.1, tol=1e-9, **options)).result)
    assert all(result.converged for result in found)
    assert_allclose(found[0].objective, found[1].objective, rtol=1e-8)
    assert_allclose(found[0].coef, found[1].coef, atol=1e-3 * abs(found[1].coef).max())

"""Each method that minimises over a working set, whatever it costs, on problems of every shape."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from convex_problems import degenerate, make, targets_for
from naive import coordinate_descent
from pairs import every_pair
from problems import LAYOUTS, SMOOTH
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, elastic_net, gap_unit
from riata.solvers.convex import inner_method
from riata.solvers.convex.columns import column_copy, column_descent
from riata.solvers.convex.columns.columns import DenseColumns
from riata.solvers.convex.columns.gathered_columns import GatheredColumns
from riata.solvers.convex.quadratics import quadratic
from riata.training.fitting import bare_problem, fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

METHODS = ["columns", "curvature", "dual along columns", "dual by matrix", "followed", "anchored"]
LAYOUTS_OF_COLUMNS = ["float32", "csr"]
OPTIONS = {
    "defaults": {},
    "neither": {"standardize": False, "fit_intercept": False},
    "elastic net": {"l1_ratio": 0.3},
    "nonnegative": {"nonnegative": True},
    "factors": {"penalty_factors": np.where(np.arange(40) == 3, 0.0, np.linspace(0.5, 2.0, 40))},
}


@contextmanager
def forced(method):
    """Every working set is solved by this method."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner_method, "FEW_FEATURES", 0)
        patch.setattr(column_copy, "LARGEST_COPY", 0)
        patch.setattr(inner_method, "_columns_cost", lambda *_: 0.0 if "columns" in method else np.inf)
        patch.setattr(inner_method, "CROWDED", 0.0 if method == "followed" else np.inf)
        patch.setattr(inner_method, "too_many", lambda *_: True)
        if method == "anchored":
            patch.setattr(inner_method, "ROWS_PER_COLUMN", 0.0)
            patch.setattr(inner_method, "ANCHORED_STEPS", 0)
        else:
            patch.setattr(inner_method, "_may_be_anchored", lambda *_: False)
        if method == "dual along columns":
            patch.setattr(column_descent.Descent, "crowded", lambda work: isinstance(work.columns, DenseColumns))
        if method == "dual by matrix":
            patch.setattr(quadratic, "FEW_COORDINATES", 0)
            patch.setattr(quadratic, "EASY_ROUNDS", 0)
        yield


@settings(max_examples=60)
@given(case=degenerate(), loss=st.sampled_from(SMOOTH), ratio=st.sampled_from([1.0, 0.3, 0.01]),
       standardize=st.booleans(), fit_intercept=st.booleans(), layout=st.sampled_from(["dense", "csr"]),
       method=st.sampled_from(METHODS))  # fmt: skip
def test_degenerate_data(case, loss, ratio, standardize, fit_intercept, layout, method):
    X, rng = case
    y = targets_for(LOSSES[loss], X, rng)
    assume(not LOSSES[loss].labels or len(set(y)) == 2)
    spec = Spec(alpha_ratio=ratio, loss=loss, standardize=standardize, fit_intercept=fit_intercept)
    with forced(method):
        result = fit(InMemory(LAYOUTS[layout](X), y), spec).result
    assert result.converged, result.reason
    assert np.isfinite(result.coef).all()


@settings(max_examples=40)
@given(case=degenerate(), loss=st.sampled_from(["squared", "logistic", "poisson"]), fit_intercept=st.booleans(),
       layout=st.sampled_from(["dense", "csr"]), method=st.sampled_from(METHODS))  # fmt: skip
def test_a_path_of_degenerate_data_is_certified_as_far_as_it_goes(case, loss, fit_intercept, layout, method):
    X, rng = case
    y = targets_for(LOSSES[loss], X, rng)
    assume(not LOSSES[loss].labels or len(set(y)) == 2)
    with forced(method):
        found = path_of_margin(InMemory(LAYOUTS[layout](X), y), Spec(loss=loss, fit_intercept=fit_intercept), length=8)
    assert found.gaps.max() <= 1e-6
    assert np.isfinite(found.coefs).all()


@pytest.mark.parametrize(("loss", "layout", "options"), every_pair(SMOOTH, LAYOUTS_OF_COLUMNS, OPTIONS))
def test_all_methods_find_the_same_minimum(loss, layout, options):
    X, y = make(loss)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    data = InMemory(LAYOUTS[layout](X), y, np.random.default_rng(1).uniform(0.5, 2.0, size=len(y)))
    found = []
    for method in METHODS:
        with forced(method):
            fitted = fit(data, Spec(alpha_ratio=0.02, loss=loss, tol=1e-9, **OPTIONS[options]))
        assert fitted.result.converged, fitted.result.reason
        found.append(fitted.result)
    for other in found[1:]:
        assert_allclose(found[0].objective, other.objective, rtol=1e-8)
        assert_allclose(found[0].coef, other.coef, atol=2e-3 * np.abs(other.coef).max())


def test_more_columns_than_rows():
    """Coordinate descent of the most obvious kind goes there, too."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 60)) + rng.normal(size=(20, 1))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=20)
    expected = None
    for method in METHODS:
        with forced(method):
            fitted = fit(InMemory(X, y), Spec(alpha_ratio=0.05, standardize=False, fit_intercept=False, tol=1e-12))
        expected = coordinate_descent(X, y, fitted.alpha, 4_000) if expected is None else expected
        assert_allclose(fitted.result.coef, expected, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("method", METHODS)
def test_every_model_of_a_path_is_certified(loss, method):
    X, y = make(loss, n=60, d=80)
    with forced(method):
        found = path_of_margin(InMemory(X, y), Spec(loss=loss, tol=1e-8), length=20, reach=0.02)
    assert found.gaps.max() <= 1e-8


def test_no_more_precision_than_was_asked_for():
    X, y = make("squared", n=60, d=100)
    X = np.cumsum(X, axis=1)  # neighbours are alike, so that one Newton step is not enough
    problem = bare_problem(InMemory(X, y), Spec(standardize=False))
    problem = replace(problem, penalty=problem.penalty.at(1e-2))
    columns = GatheredColumns.of(problem.data, np.arange(100), True)
    steps = []
    for enough in (1e-2, 1e-6):
        w, b = columns.minimum(problem, None, None, (np.zeros(100), 0.0), 0.0, enough * gap_unit(problem))
        steps.append(np.array([*w, b]))
    assert np.abs(steps[0] - steps[1]).max() > 1e-6


def test_the_choice_follows_the_cost():
    """Nearly empty columns, or few rows, are descended along; many rows have their products taken."""
    rng = np.random.default_rng(0)
    features = np.arange(400)
    few_rows = InMemory(rng.normal(size=(30, 400)), rng.normal(size=30))
    many_rows = InMemory(rng.normal(size=(4000, 400)), rng.normal(size=4000))
    nearly_empty = InMemory(
        LAYOUTS["csr"](many_rows.X * (rng.random(many_rows.X.shape) < 0.002)), rng.normal(size=4000)
    )
    for data, along_columns in ((few_rows, True), (many_rows, False), (nearly_empty, True)):
        model = inner_method.without_curvature(bare_problem(data, Spec()), features)
        assert isinstance(model, GatheredColumns) is along_columns


def test_a_model_of_as_many_features_as_rows_is_found_at_once():
    """Of columns 0, 1 or 2 that are alike in blocks: where Newton steps on a working set mend a few signs at a time."""
    rng = np.random.default_rng(0)
    n, d, block = 150, 750, 25
    shared = np.repeat(rng.normal(size=(2, n, d // block)), block, axis=2)
    X = (0.9 * shared + 0.3 * rng.normal(size=(2, n, d)) > 0.3).sum(axis=0, dtype=float)
    y = X[:, ::40] @ rng.normal(size=len(range(0, d, 40))) + rng.normal(size=n)
    data = InMemory(np.hstack([X, X[:, ::2]]), y)  # of a column and its copy, one will do
    fitted = fit(data, Spec(alpha_ratio=1e-3, standardize=False))
    assert fitted.result.converged, fitted.result.reason
    assert 0.9 * n < np.count_nonzero(fitted.result.coef) <= n
    assert data.passes < 15


@pytest.mark.parametrize("seed", range(3))
def test_a_minimum_over_a_working_set_is_nearer_than_where_it_began(seed):
    """Whatever is enough: columns that are nearly alike would otherwise be left as they are, step after step."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(230, 326)) + 4.4 * rng.normal(size=(230, 1)) > 0.5).astype(float)
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=230)
    assert fit(InMemory(X, y), Spec(alpha_ratio=1e-4, loss="squared")).result.gap <= 1e-6


def test_known_products_speak_for_the_curvature(rng):
    """Columns are gathered for a working set of which nothing is known, and not where most of its products are."""
    X = sp.csr_array((rng.random((3000, 600)) < 0.2).astype(float))
    data, features = InMemory(X, rng.normal(size=3000)), np.arange(600)
    problem = Problem(data, LOSSES["squared"], elastic_net(0.01))
    assert isinstance(inner_method.without_curvature(problem, features), GatheredColumns)
    assert isinstance(
        inner_method.without_curvature(problem, features, inner_method.Step(known=features[:50])), GatheredColumns
    )
    assert inner_method.without_curvature(problem, features, inner_method.Step(known=features[:590])) is None

"""Bounds of coefficients: the minimum within them, and a certificate that holds there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from convex_problems import Chunks, make
from pairs import every_pair
from problems import LAYOUTS, SMOOTH
from riata import SparseClassifier, SparseRegressor
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.model.saved_model import load_model
from riata.objective import duality_gap, first_order, gap_unit, objective
from riata.solvers.convex import inner_method
from riata.solvers.convex.columns import column_copy
from riata.training.fitting import fit, make_problem
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

METHODS = ["columns", "curvature", "as it comes"]
OPTIONS = {
    "defaults": {},
    "neither": {"standardize": False, "fit_intercept": False},
    "elastic net": {"l1_ratio": 0.3},
    "factors": {"penalty_factors": np.where(np.arange(40) % 7 == 3, 0.0, np.linspace(0.5, 2.0, 40))},
    "nonnegative": {"nonnegative": True},
}


def bounds_around(free, rng):
    """Bounds that hold back some of the coefficients which are free to go where they like, in every way."""
    size = np.abs(free).max()
    lower, upper = np.full(len(free), -np.inf), np.full(len(free), np.inf)
    for j in rng.permutation(len(free))[: 2 * len(free) // 3]:
        half = 0.5 * abs(free[j]) + 1e-3 * size
        kind = rng.integers(5)
        lower[j], upper[j] = [(-half, half), (-np.inf, 0.0), (0.0, np.inf), (0.0, half), (0.0, 0.0)][kind]
    return np.column_stack([lower, upper])


def forced(method, monkeypatch):
    """Every working set is solved by this method."""
    if method != "as it comes":
        monkeypatch.setattr(inner_method, "FEW_FEATURES", 0)
        monkeypatch.setattr(column_copy, "LARGEST_COPY", 0)
        monkeypatch.setattr(inner_method, "_columns_cost", lambda *_: 0.0 if method == "columns" else np.inf)


@pytest.mark.parametrize(("loss", "method", "options"), every_pair(SMOOTH, METHODS, OPTIONS))
def test_the_minimum_within_bounds_is_certified_and_stationary(loss, method, options, monkeypatch, rng):
    X, y = make(loss)
    options = OPTIONS[options]
    forced(method, monkeypatch)
    data = InMemory(LAYOUTS["csr" if method == "columns" else "dense"](X), y, rng.uniform(0.5, 2.0, size=len(y)))
    bounds = bounds_around(fit(data, Spec(alpha_ratio=0.02, loss=loss, **options)).result.coef, rng)
    fitted = fit(data, Spec(alpha_ratio=0.02, loss=loss, tol=1e-9, bounds=bounds, **options))
    w, problem = fitted.result.coef, make_problem(data, fitted.spec)[0]
    assert fitted.result.converged, fitted.result.reason
    assert np.all((bounds[:, 0] <= w) & (w <= bounds[:, 1]))
    assert np.any((w != 0.0) & ((w == bounds[:, 0]) | (w == bounds[:, 1]))) or options.get("nonnegative")
    at = first_order(problem, w, fitted.result.intercept)
    violation = problem.penalty.violation(w, at.by_w) / problem.scale
    assert violation.max() <= 1e-3 * np.abs(at.by_w / problem.scale).max()


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_certificate_is_below_every_model_within_bounds(loss, rng):
    """Whatever point it is made at: no model that is found later is better than it allows."""
    X, y = make(loss, n=60, d=12)
    free = fit(InMemory(X, y), Spec(alpha_ratio=0.05, loss=loss)).result.coef
    for l1_ratio in (1.0, 0.4):
        spec = Spec(alpha_ratio=0.05, loss=loss, tol=1e-10, l1_ratio=l1_ratio, bounds=bounds_around(free, rng))
        fitted = fit(InMemory(X, y), spec)
        problem, best = make_problem(InMemory(X, y), spec)[0], fitted.result
        for share in (0.0, 0.5, 0.9, 0.999):
            w, b = share * best.coef, best.intercept + (1.0 - share) * 0.3
            gap = duality_gap(problem, w, first_order(problem, w, b))
            assert objective(problem, w, b) - best.objective <= gap + 1e-12
        assert duality_gap(problem, best.coef, first_order(problem, best.coef, best.intercept)) <= 2e-10 * gap_unit(
            problem
        )


def test_is_projected_coordinate_descent(rng):
    X, y = make("squared", n=50, d=15)
    bounds = bounds_around(np.linalg.lstsq(X, y, rcond=None)[0], rng)
    fitted = fit(
        InMemory(X, y), Spec(alpha_ratio=0.05, standardize=False, fit_intercept=False, bounds=bounds, tol=1e-13)
    )
    w, r = np.zeros(15), y.copy()
    before = None
    while not np.array_equal(w, before):
        before = w.copy()
        for j in range(15):
            r += X[:, j] * w[j]
            c = X[:, j] @ r / len(y)
            v = np.sign(c) * max(abs(c) - fitted.alpha, 0.0) / (X[:, j] @ X[:, j] / len(y))
            w[j] = np.clip(v, *bounds[j])
            r -= X[:, j] * w[j]
    assert_allclose(fitted.result.coef, w, atol=1e-6 * np.abs(w).max())


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("where", [InMemory, Chunks])
def test_every_model_of_a_path_is_certified_and_within_bounds(loss, where, rng):
    X, y = make(loss, n=80, d=30)
    bounds = bounds_around(fit(InMemory(X, y), Spec(alpha_ratio=0.02, loss=loss)).result.coef, rng)
    spec = Spec(loss=loss, tol=1e-8, bounds=bounds)
    found = path_of_margin(where(X, y), spec, length=15, reach=0.02)
    assert found.gaps.max() <= 1e-8
    assert np.all((found.coefs >= bounds[:, 0]) & (found.coefs <= bounds[:, 1]))
    for i in (5, 14):
        alone = fit(where(X, y), Spec(loss=loss, tol=1e-8, alpha=found.alphas[i], bounds=bounds)).result
        assert_allclose(alone.objective, found.objectives[i], rtol=1e-7)


def test_a_bound_beyond_every_coefficient_changes_nothing():
    X, y = make("logistic")
    free = fit(InMemory(X, y), Spec(loss="logistic", alpha_ratio=0.05, tol=1e-10)).result
    wide = fit(InMemory(X, y), Spec(loss="logistic", alpha_ratio=0.05, tol=1e-10, bounds=[(-1e3, 1e3)] * 40)).result
    assert_allclose(wide.coef, free.coef, atol=1e-6)


def test_no_features_may_be_in():
    X, y = make("squared")
    result = fit(InMemory(X, y), Spec(alpha=0.01, bounds=np.zeros((40, 2)))).result
    assert result.converged
    assert_array_equal(result.coef, 0.0)


def test_a_model_within_infinite_bounds_can_be_saved(tmp_path, rng):
    X = rng.normal(size=(50, 3))
    fitted = SparseRegressor(alpha=0.01, bounds={"x0": (-np.inf, np.inf)}).fit(X, X[:, 0])
    fitted.to_model().save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").training.parameters["bounds"] == {"x0": [None, None]}


def test_estimators_take_bounds_by_name_and_by_place(rng):
    X, y = make("squared")
    free = SparseRegressor(alpha=0.01).fit(X, y)
    j = int(np.argmax(free.coef_))
    named = SparseRegressor(alpha=0.01, bounds={f"x{j}": (None, 0)}).fit(X, y)
    placed = SparseRegressor(alpha=0.01, bounds=[(None, 0 if i == j else None) for i in range(40)]).fit(X, y)
    assert named.coef_[j] == 0.0 < free.coef_[j]
    assert_array_equal(named.coef_, placed.coef_)
    assert "coefficients within their bounds" in named.to_model().objective
    chosen = SparseRegressor(alpha="auto", bounds={f"x{j}": (None, 0.1)}, random_state=0).fit(X, y)
    assert chosen.coef_[j] <= 0.1
    labels = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))]
    several = SparseClassifier(alpha_ratio=0.1, bounds={f"x{j}": (-0.1, 0)}).fit(X, labels)
    assert np.all((several.coef_[:, j] >= -0.1) & (several.coef_[:, j] <= 0.0))


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ({"x1": 3}, "bounds of 'x1' must be two numbers, the least and the most .* not 3"),
        ({"x1": ("a", 0)}, "bounds of 'x1' must be"),
        ({"x1": (np.nan, 0)}, "bounds of 'x1' must be"),
        ({"x1": (1, -1)}, "bounds of 'x1' leave no number: 1 is above -1"),
        ({"x1": (1, 2)}, "bounds of 'x1' from 1 to 2 leave out 0"),
        ({"x1": (None, -1)}, "bounds of 'x1' from -inf to -1 leave out 0"),
        ({"prise": (0, 1)}, "bounds name 'prise', and there is no such feature or column"),
        ([(0, 1)], "or such a pair for each of the 40 features"),
        (7, "or such a pair for each of the 40 features"),
    ],
    ids=str,
)
def test_bounds_that_make_no_sense(bounds, sentence):
    X, y = make("squared")
    with pytest.raises(OptionError, match=sentence):
        SparseRegressor(alpha=0.1, bounds=bounds).fit(X, y)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": 3}, "solver 'best-k' has no bounds or nonnegative"),
        ({"alpha": 0.1, "solver": "cd"}, "solver 'cd' has no penalty_factors, bounds or nonnegative"),
        ({"alpha": 0.1, "solver": "online"}, "solver 'online' has no penalty_factors, bounds or nonnegative"),
    ],
    ids=str,
)
def test_who_has_no_bounds_says_so(options, sentence):
    X, y = make("squared")
    with pytest.raises(OptionError, match=sentence):
        SparseRegressor(bounds={"x1": (0, None)}, **options).fit(X, y)

"""MCP, SCAD and Lq by name: stationary points, the same wherever the rows lie."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import own_penalties
from convex_problems import Chunks, make
from problems import SMOOTH
from riata import SparseRegressor, load_model
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.objective import first_order, stationarity
from riata.solvers.convex.smooth_step import smooth_step
from riata.solvers.convex.working_set import WorkingSetState, read
from riata.training.fitting import fit, make_problem
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

NAMES = ["mcp", "mcp:1.5", "scad", "scad:2.5", "lq"]
OPTIONS = [
    {"standardize": False, "fit_intercept": False},
    {"penalty_factors": np.where(np.arange(40) == 3, 0.0, np.linspace(0.5, 2.0, 40))},
]


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in NAMES), *zip(["mcp", "scad:2.5"], OPTIONS, strict=True)],
    ids=lambda part: part if isinstance(part, str) else ", ".join(part) or "defaults",
)
@pytest.mark.parametrize("loss", SMOOTH)
def test_it_ends_at_a_stationary_point(name, loss, options, rng):
    X, y = make(loss)
    data = InMemory(X, y, rng.uniform(0.5, 2.0, size=len(y)))
    fitted = fit(data, Spec(alpha_ratio=0.2, loss=loss, penalty=name, **options))
    assert fitted.result.converged, fitted.result.reason
    problem, _ = make_problem(data, fitted.spec)
    at = first_order(problem, fitted.result.coef, fitted.result.intercept)
    unit = np.max(np.abs(problem.start.at.by_w / problem.scale))
    by_b = at.by_b if problem.fit_intercept else 0.0
    slopes = at.by_w - by_b * np.average(X, axis=0, weights=data.targets()[1])  # at the best intercept
    assert np.max(problem.penalty.violation(fitted.result.coef, slopes) / problem.scale) <= 2e-6 * unit
    assert abs(by_b) <= 2e-6 * unit


def test_a_name_is_the_penalty_that_anybody_could_write():
    X, y = make("squared")
    named = SparseRegressor(alpha=0.3, penalty="mcp:2.5").fit(X, y)
    own = SparseRegressor(alpha=0.3, penalty=own_penalties.MCP(2.5)).fit(X, y)
    assert_allclose(named.coef_, own.coef_, atol=1e-8)


@pytest.mark.parametrize("name", ["mcp", "scad"])
def test_coefficients_beyond_the_bend_are_those_of_least_squares(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = X[:, :2] @ np.array([5.0, -4.0]) + 0.1 * rng.normal(size=500)
    coef = SparseRegressor(alpha=0.5, penalty=name, tol=1e-10).fit(X, y).coef_
    design = np.column_stack([X[:, :2], np.ones(500)])
    assert_allclose(coef[:2], np.linalg.lstsq(design, y, rcond=None)[0][:2], atol=1e-6)
    assert np.count_nonzero(coef) == 2


def test_lq_is_where_reweighting_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 15))
    y = X[:, :3] @ np.array([2.0, -1.0, 0.5]) + rng.normal(size=200)
    model = SparseRegressor(alpha=0.2, penalty="lq:0.4", standardize=False, tol=1e-10).fit(X, y)
    coef = model.coef_
    for _ in range(3):  # a Lasso whose factors are the slopes of the penalty there
        factors = (1.0 + np.abs(coef) / 0.2) ** (0.4 - 1.0)
        coef = SparseRegressor(alpha=0.2, penalty_factors=factors, standardize=False, tol=1e-12).fit(X, y).coef_
    assert_allclose(coef, model.coef_, atol=1e-7)
    assert 0 < np.count_nonzero(coef) < 15


@pytest.mark.parametrize("name", ["mcp:1.5", "scad", "lq:0.3"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_fits_are_the_same_from_disk(loss, name):
    X, y = make(loss, seed=1)
    here, there = (
        fit(where(X, y), Spec(alpha_ratio=0.2, penalty=name, loss=loss)).result.coef for where in (InMemory, Chunks)
    )
    assert_allclose(there, here, atol=1e-6 * np.abs(here).max())


@pytest.mark.parametrize(("loss", "name"), [("squared", "scad"), ("logistic", "mcp")])
def test_paths_are_the_same_from_disk(loss, name):
    X, y = make(loss, n=80, d=20)
    here, there = (path_of_margin(where(X, y), Spec(penalty=name, loss=loss), length=5) for where in (InMemory, Chunks))
    assert_allclose(there.alphas, here.alphas)
    assert_allclose(there.coefs, here.coefs, atol=1e-6 * np.abs(here.coefs).max())


def test_the_command_line_and_the_model_say_which(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make("squared", d=6)
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--target", "y", "--alpha", "0.1", "--penalty", "scad:3"]
    done = CliRunner().invoke(main, [*words, "--out", "m.json", "--report", "r.html", "--json"])
    assert done.exit_code == 0, done.output
    assert "stationary point" in json.loads(done.stdout)["stopped_because"]
    assert "SCAD(gamma=3.0, alpha=0.1)" in load_model("m.json").objective
    assert "the penalty SCAD of strength 0.1" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"penalty": "mcp:x"}, "has no number behind its colon: write it as mcp:3"),
        ({"penalty": "mcp:0"}, "the gamma of MCP must be positive"),
        ({"penalty": "lq:1"}, "the q of Lq must lie between 0 and 1"),
        ({"penalty": "scad:2"}, "the gamma of SCAD must be above 2"),
        ({"penalty": "l7"}, "there is no penalty 'l7'; take 'adaptive'"),
        ({"penalty": "mcp", "bounds": {"x1": (0, None)}}, "penalty 'mcp' does not go with bounds"),
        ({"penalty": "mcp", "k": 3, "alpha": None}, "penalty 'mcp' has a strength alpha and no k"),
        ({"penalty": "scad", "solver": "cd"}, "solver 'cd' takes the elastic net, not SCAD; take solver 'exact'"),
    ],
    ids=str,
)
def test_what_does_not_go_together(options, sentence):
    X, y = make("squared")
    with pytest.raises(OptionError, match=sentence):
        SparseRegressor(**{"alpha": 0.1, **options}).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_are_nearly_alike(name, rng):
    """Of two that are both beyond the bend, nothing but the loss says how much each takes."""
    X = rng.normal(size=(120, 300))
    X[:, 150:] = X[:, :150] + 1e-3 * rng.normal(size=(120, 150))
    y = rng.poisson(np.exp(np.clip(X[:, :3] @ [1.0, -1.0, 0.5], -5.0, 5.0)))
    assert SparseRegressor(loss="poisson", penalty=name, alpha_ratio=0.01).fit(X, y).converged_


def test_where_columns_have_their_zero_says_nothing_about_a_point(rng):
    X, w = rng.normal(size=(60, 5)), rng.normal(size=5)
    y, far = rng.poisson(2.0, size=60).astype(float), 1e5 * rng.normal(size=5)
    residuals = []
    for shift in (0.0 * far, far):
        problem, _ = make_problem(InMemory(X + shift, y), Spec(loss="poisson", penalty="mcp", alpha=0.1))
        residuals.append(stationarity(problem, w, first_order(problem, w, 0.1 - shift @ w)))
    assert_allclose(*residuals, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_tangent_touches_and_lies_nowhere_below(name, rng):
    penalty, w, v = (
        Spec(penalty=name, alpha=1.0).own_penalty.at(0.3).scaled(2.0),
        rng.normal(size=50),
        rng.normal(size=50),
    )
    w[:5] = 0.0
    tangent = penalty.tangent(w)
    above = penalty.values(w) - tangent.values(w)
    assert np.all(tangent.values(v) + above >= penalty.values(v) - 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_near_a_minimum_steps_know_how_the_penalty_bends(name):
    data = InMemory(*make("poisson"))
    fitted = fit(data, Spec(alpha_ratio=0.2, loss="poisson", penalty=name, tol=1e-9))
    problem, _ = make_problem(data, fitted.spec)
    state = WorkingSetState(fitted.result.coef * (1.0 + 1e-4), fitted.result.intercept, np.arange(data.n_features))
    at, curvature = read(problem, state, first=True, second=True)
    moved = smooth_step(problem, curvature, at, (state.w, state.b))
    after = stationarity(problem, moved[0], first_order(problem, *moved))
    assert after <= 1e-2 * stationarity(problem, state.w, at)

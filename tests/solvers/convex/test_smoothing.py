"""Quantiles against linear programs: what a smoothed loss finds and certifies is the minimum of the pinball loss."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import linprog

import riata
from convex_problems import Chunks, make
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.objective import best_slopes, duality_gap, objective
from riata.training.fitting import fit, make_problem
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

OPTIONS = [
    {},
    {"fit_intercept": False, "standardize": False},
    {"nonnegative": True},
    {"penalty_factors": [0.0, 3.0, 0.5] + [1.0] * 9},
    {"bounds": [(-0.3, 0.1)] * 12},
]


def least(X, y, weight, q, l1, lower=-np.inf, upper=np.inf, fit_intercept=True):
    """The least loss and L1 penalty by linear programming: w, b and residuals have parts above 0 and below."""
    (n, d), s = X.shape, weight / weight.sum()
    one, b_reach = np.ones((n, 1)), None if fit_intercept else 0.0
    A = sp.hstack([X, -X, one, -one, sp.eye_array(n), -sp.eye_array(n)]).tocsr()
    cost = np.concatenate([l1, l1, [0.0, 0.0], q * s, (1.0 - q) * s])
    reach = [*np.broadcast_to(upper, d), *(-np.broadcast_to(lower, d)), *[b_reach] * 2, *[None] * (2 * n)]
    return linprog(cost, A_eq=A, b_eq=y, bounds=[(0.0, most) for most in reach]).fun


def problem_of(kind, seed=0):
    """Targets that are spread, skewed, or mostly tied."""
    X, y = make("quantile", n=90, d=12, seed=seed)
    y = {"spread": y, "skewed": np.exp(0.5 * y), "tied": np.round(np.maximum(y, 2.0))}[kind]
    return X, y, np.random.default_rng(seed).uniform(0.5, 2.0, size=len(y))


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ", ".join(options) or "defaults")
@pytest.mark.parametrize(("kind", "q", "ratio"), [("spread", 0.5, 0.1), ("skewed", 0.95, 0.02), ("tied", 0.3, 0.05)])
def test_it_is_the_linear_programs_minimum(kind, q, ratio, options):
    X, y, weight = problem_of(kind)
    fitted = fit(InMemory(X, y, weight), Spec(alpha_ratio=ratio, loss=f"quantile:{q}", tol=1e-6, **options))
    result, spec = fitted.result, fitted.spec
    assert result.converged, result.reason
    mean = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight)) if spec.standardize else np.ones(12)
    lower, upper = spec.limits
    expected = least(X, y, weight, q, fitted.alpha * scale * spec.factors, lower, upper, spec.fit_intercept)
    assert 0.0 <= result.objective - expected + 1e-12
    assert result.objective - expected <= result.gap * result.history[0].objective + 1e-12


@pytest.mark.parametrize("q", [0.1, 0.5])
def test_every_source_gives_the_same_minimum(q):
    X, y, weight = problem_of("spread")
    spec = Spec(alpha_ratio=0.1, loss=f"quantile:{q}", tol=1e-7)
    expected = fit(InMemory(X, y, weight), spec).result
    for data in (Chunks(X, y, weight), InMemory(sp.csr_array(X), y, weight), Chunks(X.astype(np.float32), y, weight)):
        assert_allclose(fit(data, spec).result.objective, expected.objective, rtol=1e-6)


def test_models_of_a_path_are_those_of_single_fits():
    X, y, weight = problem_of("skewed")
    data = InMemory(X, y, weight)
    found = path_of_margin(data, Spec(loss="quantile:0.9"), length=8, reach=0.05)
    assert found.converged, found.reason
    assert np.count_nonzero(found.coefs[0]) == 0 < np.count_nonzero(found.coefs[1])
    for i in (3, 7):
        single = fit(data, Spec(loss="quantile:0.9", alpha=found.alphas[i])).result
        assert abs(single.objective - found.objectives[i]) <= 1e-6 * found.losses[0]


def test_a_certificate_is_below_every_model(rng):
    """Whatever point it is made at, and however the loss is smoothed there."""
    X, y, weight = problem_of("tied")
    spec = Spec(alpha_ratio=0.05, loss="quantile:0.7")
    best = fit(InMemory(X, y, weight), spec).result
    problem, _ = make_problem(InMemory(X, y, weight), spec)
    for share in (0.0, 0.5, 0.99):
        w, b = share * best.coef, best.intercept + (1.0 - share) * 0.3
        assert objective(problem, w, b) - best.objective <= duality_gap(problem, w, best_slopes(problem, w, b))


def test_large_data_begins_with_a_sample():
    X, y = make("quantile", n=140_000, d=6)
    result = fit(InMemory(X, y), Spec(alpha_ratio=0.1, loss="quantile:0.8", seed=0)).result
    assert result.converged, result.reason
    assert result.history[1].gap < 0.1 * result.history[0].gap


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": 2}, "loss 'quantile:0.5' goes with alpha, or with k and solver='online'"),
        ({"alpha": 0.1, "penalty": "mcp"}, "loss 'quantile:0.5' has a kink, and goes with the elastic net"),
        ({"alpha": 0.1, "groups": np.arange(12)}, "loss 'quantile:0.5' has a kink, and goes with the elastic net"),
        ({"alpha": 0.1, "solver": "saga"}, "needs a bound on the curvature, and 'quantile:0.5' has none"),
    ],
)
def test_what_does_not_go_with_a_kink_is_refused(options, sentence):
    X, y, _ = problem_of("spread")
    with pytest.raises(OptionError, match=sentence):
        fit(InMemory(X, y), Spec(loss="quantile", **options))


def test_a_number_of_features_is_not_chosen_either():
    X, y, _ = problem_of("spread")
    with pytest.raises(OptionError, match="it has a kink, and solver 'best-k' needs second derivatives"):
        riata.SparseRegressor(k="auto", loss="quantile").fit(X, y)


def test_a_level_that_few_rows_reach_is_no_reason_to_stay_at_the_empty_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = 2.0 * X[:, 0] + rng.normal(size=60)
    model = riata.SparseRegressor(loss="quantile:0.99", alpha=0.02).fit(X, y)
    assert model.converged_
    assert list(np.flatnonzero(model.coef_)) == [0]


def test_a_width_that_is_hard_has_more_steps():
    """More features than rows, neighbours alike: 40 steps at a width left a gap of 7e-4."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 300))
    for j in range(1, 300):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1.0 - 0.9**2) * X[:, j]
    y = 2.0 * X[:, 0] - X[:, 3] + rng.standard_t(3, size=100)
    found = fit(InMemory(X, y), Spec(loss="quantile:0.95", alpha_ratio=0.1))
    assert found.result.converged
    l1 = found.alpha * X.std(axis=0)
    assert_allclose(found.result.objective, least(X, y, np.ones(100), 0.95, l1), rtol=3e-6)


def test_fewer_rows_than_features_at_a_tiny_alpha():
    """Models go through all rows then, and what is left is how well the smoothed problem is solved, not its width."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 300))
    y = X[:, :5] @ [1.0, -1.0, 0.5, 2.0, 1.0] + rng.normal(size=100)
    assert riata.SparseRegressor(loss="quantile", alpha_ratio=0.001).fit(X, y).gap_ <= 1e-6

"""The exact solver against optimality conditions from scratch, scikit-learn, and data of every shape."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

from convex_problems import Chunks, degenerate, make, targets_for
from pairs import every_pair
from problems import SMOOTH
from riata.data.in_memory import InMemory
from riata.data.sample import sample_rows
from riata.errors import OptionError
from riata.estimators import SparseClassifier, SparseRegressor
from riata.losses import LOSSES
from riata.outcome.reasons import StopReason
from riata.solvers.convex import newton
from riata.solvers.convex.working_set import read
from riata.training.fitting import fit
from riata.training.spec import Spec


def optimality(X, y, weight, loss, w, b, l1, l2=0.0):
    """The largest violation of the optimality conditions, from scratch."""
    u = weight * loss.derivative(y, X @ w + b) / weight.sum()
    g = X.T @ u + l2 * w
    at_zero = np.maximum(np.abs(g) - l1, 0.0)
    return max(np.max(np.where(w != 0, np.abs(g + l1 * np.sign(w)), at_zero) / l1), abs(u.sum()))


@pytest.mark.parametrize(("loss", "ratio", "source"), every_pair(SMOOTH, [0.5, 0.1, 0.005], [InMemory, Chunks]))
def test_meets_the_optimality_conditions(loss, ratio, source):
    X, y = make(loss)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    fitted = fit(source(X, y, weight), Spec(alpha_ratio=ratio, loss=loss, standardize=False, tol=1e-10))
    result = fitted.result
    assert result.converged, result.reason
    assert 0.0 <= result.gap <= 1e-10
    assert optimality(X, y, weight, LOSSES[loss], result.coef, result.intercept, fitted.alpha) < 1e-4


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"fit_intercept": False}, {"l1_ratio": 0.3}], ids=str)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_every_layout_gives_the_same_answer(loss, options):
    X, y = make(loss)
    X[np.abs(X) < 0.7] = 0.0
    spec = Spec(alpha_ratio=0.05, loss=loss, tol=1e-12, **{"standardize": False, **options})
    expected = fit(InMemory(X, y), spec).result
    rows = sp.csr_array(X)
    for data in (InMemory(rows, y), Chunks(X, y), Chunks(rows, y, chunk_rows=50), Chunks(X, y, chunk_rows=1)):
        result = fit(data, spec).result
        assert_allclose(result.coef, expected.coef, atol=1e-8)
        assert_allclose(result.intercept, expected.intercept, atol=1e-8)
    order = np.random.default_rng(2).permutation(len(y))
    assert_allclose(fit(InMemory(X[order], y[order]), spec).result.coef, expected.coef, atol=1e-8)


def test_wide_sparse_data_with_64_bit_indices():
    X, y = make("squared", n=60, d=300)
    rows = sp.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    spec = Spec(alpha_ratio=0.05, tol=1e-10)
    assert_allclose(fit(InMemory(rows, y), spec).result.coef, fit(InMemory(X, y), spec).result.coef, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.5, 0.01])
def test_is_scikit_learns_lasso_and_elastic_net(alpha, fit_intercept):
    X, y = make("squared")
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    lasso = Lasso(tol=1e-12, max_iter=1_000_000, **options).fit(X, y)
    net = ElasticNet(l1_ratio=0.4, tol=1e-12, max_iter=1_000_000, **options).fit(X, y)
    for peer, l1_ratio in ((lasso, 1.0), (net, 0.4)):
        result = fit(InMemory(X, y), Spec(standardize=False, l1_ratio=l1_ratio, **options)).result
        assert_allclose(result.coef, peer.coef_, atol=1e-6)
        assert_allclose(result.intercept, peer.intercept_, atol=1e-6)


def test_is_scikit_learns_l1_logistic_regression():
    X, y = make("logistic")
    result = fit(InMemory(X, y), Spec(alpha=0.02, loss="logistic", standardize=False)).result
    peer = LogisticRegression(C=1 / (0.02 * len(y)), l1_ratio=1, solver="saga", tol=1e-10, max_iter=200_000)
    peer.fit((X - X.mean(axis=0)), y)
    assert_allclose(result.coef, peer.coef_[0], atol=1e-5)


def test_float32_gets_there_too():
    X, y = make("squared", n=400, d=60, dtype=np.float32)
    spec = Spec(alpha_ratio=0.01, tol=1e-9)
    result = fit(InMemory(X, y), spec).result
    assert result.converged, result.reason
    assert_allclose(result.coef, fit(InMemory(X.astype(float), y), spec).result.coef, rtol=1e-6, atol=1e-8)


def test_columns_far_from_zero_keep_their_digits():
    X, y = make("squared")
    spec = Spec(alpha_ratio=0.05, tol=1e-10)
    expected = fit(InMemory(X, y), spec).result
    for source in (InMemory, Chunks):
        assert_allclose(fit(source(X + 1e6, y), spec).result.coef, expected.coef, atol=1e-6)


@pytest.mark.parametrize("mean", [1.7e9, 1.7e12])
def test_it_ends_where_rounding_hides_what_a_step_gains(mean):
    X, y = make("logistic", n=400, d=8)
    spec = Spec(alpha=0.02, loss="logistic")
    near = fit(InMemory(X, y), spec).result
    X[:, 1] += mean
    far = fit(InMemory(X, y), spec).result
    assert far.converged or far.stop.reason is StopReason.ROUNDING
    assert_allclose(far.coef, near.coef, atol=0.1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{}, {"standardize": False, "fit_intercept": False}], ids=str)
def test_empty_at_alpha_max_and_not_below(loss, options):
    X, y = make(loss)
    weight = np.random.default_rng(3).uniform(0.1, 3.0, size=len(y))
    data = InMemory(X, y, weight)
    at = fit(data, Spec(alpha_ratio=1.0, loss=loss, **options)).result
    assert np.count_nonzero(at.coef) == 0
    assert at.gap < 1e-8
    assert np.count_nonzero(fit(data, Spec(alpha_ratio=0.98, loss=loss, **options)).result.coef) > 0


def test_rows_of_weight_zero_and_repeated_rows():
    X, y = make("logistic")
    weight = np.random.default_rng(4).integers(0, 3, size=len(y)).astype(float)
    spec = Spec(alpha_ratio=0.1, loss="logistic", tol=1e-12)
    weighted = fit(InMemory(X, y, weight), spec).result
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    assert_allclose(weighted.coef, fit(InMemory(X[rows], y[rows]), spec).result.coef, atol=1e-8)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_few_passes_out_of_core(loss):
    X, y = make(loss, n=300, d=200)
    data = Chunks(X, y, chunk_rows=50)
    result = fit(data, Spec(alpha_ratio=0.05, loss=loss)).result
    assert result.converged
    assert data.passes <= 12


@settings(max_examples=60)
@given(case=degenerate(), loss=st.sampled_from(sorted(LOSSES)), ratio=st.sampled_from([1.0, 0.3, 0.01]),
       standardize=st.booleans(), fit_intercept=st.booleans())  # fmt: skip
def test_degenerate_data(case, loss, ratio, standardize, fit_intercept):
    X, rng = case
    y = targets_for(LOSSES[loss], X, rng)
    assume(not LOSSES[loss].labels or len(set(y)) == 2)  # one class only is refused before it gets here
    spec = Spec(alpha_ratio=ratio, loss=loss, standardize=standardize, fit_intercept=fit_intercept)
    result = fit(InMemory(X, y), spec).result
    assert result.converged, result.reason
    assert np.isfinite(result.coef).all()


def test_constant_columns_far_from_zero_keep_no_others_out(rng):
    """What is left to do about the intercept is a slope of theirs, a million times as large."""
    X = rng.normal(size=(120, 300))
    X[:, ::3] = 1e6
    trials = rng.integers(1, 30, 120)
    successes = rng.binomial(trials, 1.0 / (1.0 + np.exp(-2.0 * X[:, 1] + X[:, 2])))
    found = SparseRegressor(loss="binomial", alpha_ratio=1 / 30).fit(X, successes, trials=trials)
    assert found.gap_ <= 1e-6
    assert not found.coef_[::3].any()


def test_steps_are_as_fine_for_tiny_columns_as_for_huge_ones():
    """The precision of a step is relative to each column's unit: one large l1 must not stand for all."""
    X = np.array([[1.0, 2.5e6, -1.0e-7, -4.1e-7], [0.0, -8.6e5, -2.7e-7, -2.0e-7], [1.0, 3.5e5, 4.8e-7, 7.2e-7]])
    result = fit(InMemory(X, [0.0, 0.0, 1.0]), Spec(alpha_ratio=0.01, loss="poisson")).result
    assert result.converged, result.reason
    assert result.steps < 20


@pytest.mark.parametrize("loss", SMOOTH)
def test_features_without_a_penalty_are_always_in(loss):
    X, y = make(loss)
    factors = np.ones(X.shape[1])
    factors[[7, 9]] = 0.0, 3.0
    spec = Spec(loss=loss, alpha_ratio=1.0, penalty_factors=factors, standardize=False)
    at_largest = fit(InMemory(X, y), spec)
    assert np.flatnonzero(at_largest.result.coef).tolist() == [7]
    fitted = fit(
        InMemory(X, y), Spec(loss=loss, alpha=0.2 * at_largest.alpha, penalty_factors=factors, standardize=False)
    )
    result = fitted.result
    assert result.converged, result.reason
    u = LOSSES[loss].derivative(y, X @ result.coef + result.intercept) / len(y)
    g, l1 = X.T @ u, fitted.alpha * factors
    assert abs(g[7]) < 1e-6
    assert np.all(np.abs(g) <= l1 + 1e-4 * fitted.alpha)
    active = result.coef != 0
    assert_allclose(g[active], -(l1 * np.sign(result.coef))[active], atol=1e-4 * fitted.alpha)


@pytest.mark.parametrize("loss", SMOOTH)
def test_no_weight_is_negative_where_none_may_be(loss):
    X, y = make(loss)
    free = fit(InMemory(X, y), Spec(loss=loss, alpha_ratio=0.05))
    fitted = fit(InMemory(X, y), Spec(loss=loss, alpha=free.alpha, nonnegative=True))
    result = fitted.result
    assert result.converged, result.reason
    assert result.coef.min() == 0 > free.result.coef.min()
    g = X.T @ LOSSES[loss].derivative(y, X @ result.coef + result.intercept) / len(y)
    l1 = fitted.alpha * X.std(axis=0)
    assert np.all(g >= -l1 * (1 + 1e-3))
    assert_allclose(g[result.coef > 0], -l1[result.coef > 0], rtol=1e-3)


def test_a_free_coefficient_held_at_zero_is_no_gap():
    X, y = make("squared")
    free = fit(InMemory(X, y), Spec(alpha=0.1)).result.coef
    factors = np.ones(X.shape[1])
    factors[np.argmin(free)] = 0.0
    result = fit(InMemory(X, y), Spec(alpha=0.1, nonnegative=True, penalty_factors=factors)).result
    assert free.min() < 0 == result.coef[np.argmin(free)]
    assert result.converged, result.reason


def test_is_scikit_learns_positive_lasso():
    X, y = make("squared")
    peer = Lasso(alpha=0.05, positive=True, tol=1e-12, max_iter=1_000_000).fit(X, y)
    result = fit(InMemory(X, y), Spec(alpha=0.05, nonnegative=True, standardize=False)).result
    assert_allclose(result.coef, peer.coef_, atol=1e-6)


def test_no_penalty_at_all_is_least_squares():
    X, y = make("squared")
    result = fit(InMemory(X, y), Spec(alpha=0.0, tol=1e-10)).result
    assert result.converged
    expected, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y, rcond=None)
    assert_allclose(np.append(result.coef, result.intercept), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": [0.1, 0.2], "alpha_ratio": None}, "alpha must be zero or more"),
        ({"ridge": "some"}, "ridge must be a number, not 'some'"),
        ({"k": 1, "alpha_ratio": None, "ridge": 1e-320}, "ridge must be zero, or from 1e-140 to 1e140, not 1e-320"),
        ({"batch": 5, "order": "uniform"}, "batch and order would do nothing: solver 'exact' takes no steps"),
        ({"solver": "cd", "max_steps": 5}, "max_steps would do nothing"),
        ({"penalty_factors": [1.0]}, "penalty_factors must be one number for each of the 40 features"),
        ({"penalty_factors": [-1.0] * 40}, "penalty_factors must be zero or more, and finite"),
        ({"penalty_factors": [0.0] * 40}, "penalty_factors are all 0: at least one feature must have a penalty"),
        ({"nonnegative": True, "solver": "cd"}, "solver 'cd' has no penalty_factors, bounds or nonnegative"),
        (
            {"loss": "poisson", "solver": "cd"},
            "solver 'cd' needs a bound on the curvature, and 'poisson' has none",
        ),
        ({"alpha": 1e-4, "alpha_ratio": None, "memory": 1000}, "features want to be in the model at this alpha"),
    ],
    ids=str,
)
def test_bad_options(options, sentence):
    X, y = make("squared")
    with pytest.raises(OptionError, match=sentence):
        fit(InMemory(X, y), Spec(**{"alpha_ratio": 0.1, **options}))


def test_a_sample_of_many_rows_does_not_change_the_answer():
    X, y = make("logistic", n=140_000, d=8)
    spec = Spec(alpha_ratio=0.1, loss="logistic", tol=1e-9)
    chunks = Chunks(X, y, chunk_rows=5000)
    assert sample_rows(chunks, 1 << 16, 0) is None  # too few rows fit that budget
    assert sample_rows(chunks, None, 0).n_rows == 5000
    assert sample_rows(InMemory(X, y), None, 0).n_rows == 8750
    in_memory, elsewhere = fit(InMemory(X, y), spec).result, fit(chunks, spec).result
    again = fit(InMemory(X, y), spec).result
    np.testing.assert_array_equal(again.coef, in_memory.coef)  # without a seed, too
    assert in_memory.converged
    assert elsewhere.converged
    assert_allclose(in_memory.coef, elsewhere.coef, atol=1e-6)


def test_rounding_of_the_objective_alone_does_not_end_it(monkeypatch):
    """Each time F is read it is a little higher, by less than a sum over so many rows may be: the gap tells better."""
    X, y = make("logistic", n=2000)
    reads = count()

    def rounded(*arguments, **options):
        at, second = read(*arguments, **options)
        return at and replace(at, loss=at.loss * (1.0 + 1e-13 * next(reads))), second

    monkeypatch.setattr(newton, "read", rounded)
    result = fit(Chunks(X, y, chunk_rows=100), Spec(alpha_ratio=0.1, loss="logistic", tol=1e-10)).result
    assert result.converged, result.reason
    assert result.steps < 20


def test_no_pass_is_lost_between_a_sample_and_all_rows():
    """A sample's minimum may come without a curvature: that of all rows is then read before the first step."""
    X, y = make("squared", n=140_000, d=8)
    history = fit(InMemory(X, y), Spec(alpha_ratio=0.1, seed=0)).result.history
    objectives = [record.objective for record in history]
    assert np.all(np.diff(objectives) < 0)


def test_estimators_take_factors_and_signs():
    X, y = make("squared")
    factors = np.ones(X.shape[1])
    factors[20] = 0.0
    plain = SparseRegressor(alpha_ratio=0.5).fit(X, y)
    chosen = SparseRegressor(alpha_ratio=0.5, penalty_factors=factors, nonnegative=True).fit(X, y)
    assert plain.coef_[20] == 0
    assert chosen.coef_.min() == 0
    assert chosen.to_model().objective.count("no coefficient negative") == 1
    labels = np.where(y > np.median(y), "high", "low")
    classifier = SparseClassifier(alpha_ratio=0.5, penalty_factors=factors).fit(X, labels)
    assert classifier.coef_[0, 20] != 0


def test_levels_of_a_few_rows_in_a_sample_do_not_lead_astray(rng, monkeypatch):
    """One of their rows in the sample, with a rare label, would count as if it were all of them."""
    monkeypatch.setattr("riata.data.sample.LEAST_ROWS", 512)
    n = 20_000
    columns = [
        sp.csr_array((np.ones(n), (np.arange(n), rng.integers(0, d, n))), shape=(n, d))
        for d in (10, 10_000, 20_000, 30_000, 40_000)
    ]
    X = sp.csr_array(sp.hstack(columns))
    X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
    z = X[:, :3] @ np.array([1.5, -1.0, 1.0]) - 3.0
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-z)), 1.0, -1.0)
    spec = Spec(alpha=4.5 * np.sqrt(0.06 / n), loss="logistic", tol=1e-7)
    for data in (InMemory(X, y), Chunks(X, y, chunk_rows=100)):
        found = fit(data, spec).result
        assert found.converged
        assert np.abs(found.coef).max() < 5.0
        counts = np.bincount(sample_rows(data, None, 0).X.indices)
        assert np.count_nonzero(counts) == 10  # of the first column

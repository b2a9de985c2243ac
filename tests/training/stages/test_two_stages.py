"""The adaptive Lasso and uniLasso: against scikit-learn on their first fits, from chunks, in folds; what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso, LinearRegression, Ridge

import riata
from chunked import Chunked
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.objective import Problem
from riata.training.offsets import with_offsets
from riata.training.spec import Spec
from riata.training.stages import first_fit
from riata.training.stages.first_fit import with_first_fit
from riata.training.stages.ridge_by_passes import ridge_by_passes
from riata.training.stages.ridge_by_rows import goes_by_rows, ridge_by_rows
from riata.training.stages.univariate import single_fits

N, D = 80, 10


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(N, D)) * np.linspace(0.3, 3, D) + 4.0
    X[:, 5] = 1.0  # says nothing
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=N)
    return X, y, rng.integers(1, 4, size=N).astype(float)


def standardised(X, weight):
    centred = X - np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average(centred**2, axis=0, weights=weight))
    return centred / np.where(deviation > 1e-9, deviation, 1.0), np.where(deviation > 1e-9, deviation, 1.0)


@pytest.mark.parametrize(
    ("name", "first", "gamma"),
    [
        ("adaptive", Ridge, 1.0),
        ("adaptive:ridge:2", Ridge, 2.0),
        ("adaptive:unpenalised", LinearRegression, 1.0),
        ("adaptive:marginal:0.5", None, 0.5),
    ],
)
def test_the_adaptive_lasso_is_a_lasso_with_factors_of_its_first_fit(rows, name, first, gamma):
    X, y, weight = rows
    Z, scale = standardised(X, weight)
    if first is None:
        b = Z.T @ (weight * (y - np.average(y, weights=weight)))
    else:
        model = Ridge(alpha=0.1 * weight.sum()) if first is Ridge else LinearRegression()
        b = model.fit(Z, y, sample_weight=weight).coef_
    b[5] = 0.0
    shares = (np.abs(b) / np.abs(b).max()) ** gamma
    lasso = Lasso(alpha=0.2, tol=1e-13, max_iter=10**6).fit(Z * shares, y, sample_weight=weight)
    found = riata.SparseRegressor(alpha=0.2, penalty=name, tol=1e-11).fit(X, y, weight)
    assert_allclose(found.coef_, lasso.coef_ * shares / scale, atol=1e-8)
    assert found.gap_ <= 1e-10
    chunked = riata.SparseRegressor(alpha=0.2, penalty=name, tol=1e-11).fit(Chunked(X, y, 9, weight=weight))
    assert_allclose(chunked.coef_, found.coef_, atol=1e-8)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_ridge_of_many_features_is_that_of_few(rows, monkeypatch, loss, fit_intercept):
    X, y, weight = rows
    y = {"squared": y, "logistic": np.sign(y - np.median(y) + 0.01), "poisson": np.round(np.abs(y))}[loss]
    data = Chunked(X, y, 9, weight=weight)
    spec = Spec(loss=loss, penalty="adaptive", fit_intercept=fit_intercept)
    expected = with_first_fit(data, spec).factors
    monkeypatch.setattr(first_fit, "MANY_FEATURES", 0)
    assert_allclose(with_first_fit(data, spec).factors, expected, rtol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_ridge_of_more_features_than_rows_is_the_same_both_ways(rng, loss, fit_intercept):
    X, weight, exposure = rng.normal(size=(30, 60)) + 2.0, rng.uniform(0.5, 2.0, 30), rng.uniform(0.5, 2.0, 30)
    X[:, 3] = 1.0
    y = np.where(X[:, 0] > 2.0, 1.0, -1.0) if loss == "logistic" else rng.poisson(np.exp(X[:, 0] - 2.0) * exposure)
    data = InMemory(X, y, weight, offset=np.log(exposure))
    data, spec = with_offsets(data, Spec(loss=loss, penalty="adaptive", fit_intercept=fit_intercept))
    problem = Problem(data, spec.loss_function, spec.family.at(0.0), fit_intercept)
    assert goes_by_rows(problem)
    assert_allclose(ridge_by_rows(problem, 0.05, None), ridge_by_passes(problem, 0.05), atol=1e-6)


def test_the_adaptive_lasso_of_far_more_features_than_rows(rng):
    X = rng.normal(size=(100, 20_000))
    y = 3.0 * X[:, 0] - 2.0 * X[:, 7] + rng.normal(size=100)
    model = riata.SparseRegressor(alpha=0.3, penalty="adaptive").fit(X, y)
    assert model.gap_ <= 1e-6
    kernel = X - X.mean(axis=0)
    kernel /= kernel.std(axis=0)
    b = kernel.T @ np.linalg.solve(kernel @ kernel.T + 0.1 * len(y) * np.eye(len(y)), y - y.mean())
    lasso = riata.SparseRegressor(alpha=0.3, penalty_factors=np.abs(b).max() / np.abs(b)).fit(X, y)
    assert_allclose(model.coef_, lasso.coef_, atol=1e-4)
    assert {0, 7} <= set(model.get_support(indices=True))


@pytest.mark.parametrize("penalty", ["adaptive", "unilasso"])
def test_folds_make_first_fits_of_their_own(rows, penalty):
    X, y, _ = rows
    fold = np.arange(N) % 3
    options = {"penalty": penalty, "tol": 1e-9}
    chosen = riata.SparseRegressor(alpha="auto", select="cv", cv=fold, n_alphas=4, **options).fit(X, y)
    errors = np.empty((3, len(chosen.path_)))
    for i in range(3):
        learnt, held = fold != i, fold == i
        for m, alpha in enumerate(chosen.path_.alphas):
            model = riata.SparseRegressor(alpha=alpha, **options).fit(X[learnt], y[learnt])
            errors[i, m] = np.mean((y[held] - model.predict(X[held])) ** 2)
    assert_allclose(chosen.selection_.scores, np.average(errors, axis=0, weights=np.bincount(fold)), rtol=1e-3)
    again = riata.SparseRegressor(alpha=chosen.alpha_, **options).fit(X, y)
    assert_allclose(chosen.coef_, again.coef_, atol=1e-6)


def without_each_row(X, y, weight):
    """Least squares of each column alone: (intercept, slope), and predictions of each row by the others."""
    models, predictions = np.zeros((2, D)), np.zeros((N, D))
    for j in (j for j in range(D) if j != 5):
        for i in [None, *range(N)]:
            others = np.arange(N) != i
            slope, intercept = np.polyfit(X[others, j], y[others], 1, w=np.sqrt(weight[others]))
            if i is None:
                models[:, j] = intercept, slope
            else:
                predictions[i, j] = intercept + slope * X[i, j]
    return models, predictions


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, "chunks"], ids=["dense", "csr", "chunks"])
def test_unilasso_is_a_lasso_over_what_single_features_say_without_the_row(rows, layout):
    X, y, weight = rows
    (intercepts, slopes), predictions = without_each_row(X, y, weight)
    lasso = Lasso(alpha=0.1, positive=True, tol=1e-13, max_iter=10**6).fit(predictions, y, sample_weight=weight)
    model = riata.SparseRegressor(alpha=0.1, penalty="unilasso", tol=1e-12)
    found = model.fit(Chunked(X, y, 9, weight=weight)) if layout == "chunks" else model.fit(layout(X), y, weight)
    assert_allclose(found.coef_, lasso.coef_ * slopes, atol=1e-8)
    assert_allclose(found.intercept_, lasso.intercept_ + lasso.coef_ @ intercepts, atol=1e-7)
    assert np.all(found.coef_ * slopes >= 0)
    assert 0 < np.count_nonzero(found.coef_) < D - 1


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_single_fits_of_other_losses_are_minima(rows, rng, loss):
    X, y, _ = rows
    y = np.where(y > np.median(y), 1.0, -1.0) if loss == "logistic" else rng.poisson(np.exp(0.3 * (X[:, 0] - 4)))
    fits = single_fits(riata.open(X, y, task="regression"), Spec(loss=loss))
    for j in (0, 3):
        data = riata.open(X[:, [j]], y, task="regression")
        alone = riata.training.fitting.fit(data, Spec(loss=loss, alpha=0.0, tol=1e-12)).result
        assert_allclose(fits.slope[j] / fits.scale[j], alone.coef[0], rtol=1e-5)
    without = riata.training.fitting.fit(
        riata.open(X[1:, [0]], y[1:], task="regression"), Spec(loss=loss, alpha=0.0, tol=1e-12)
    ).result
    row = riata.open(X, y, task="regression").map(fits.without_each_row(1 << 30)).chunk.X.toarray()[0, 0]
    assert_allclose(row, X[0, 0] * without.coef[0] + without.intercept, atol=2e-3)


def test_the_command_line_and_the_page_say_what_was_done(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(rows[0]).add_prefix("x").assign(y=rows[1]).to_csv("t.csv", index=False)
    for name, formula, words in (
        ("adaptive:marginal", "of a first fit (one feature at a time)", "the adaptive Lasso"),
        ("unilasso", "without the row itself", "the sign that it has alone"),
    ):
        options = ["--alpha", "auto", "--n-alphas", "4", "--cv", "3", "--penalty", name, "--out", "m.json"]
        done = CliRunner().invoke(main, ["fit", "t.csv", "--target", "y", *options, "--report", "r.html", "--json"])
        assert done.exit_code == 0, done.output
        assert formula in json.loads((tmp_path / "m.json").read_text())["objective"]
        assert words in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"penalty": "adaptive:lasso"}, "behind adaptive stand ridge, unpenalised, marginal or an exponent"),
        ({"penalty": "adaptive:0"}, "the exponent of the adaptive Lasso must be positive"),
        (
            {"penalty": "adaptive", "loss": "quantile"},
            "which 'quantile:0.5' does not have: take penalty 'adaptive:marg",
        ),
        ({"penalty": "adaptive", "groups": np.arange(D)}, "a factor of its own, which groups do not have"),
        ({"penalty": "adaptive:unpenalised", "memory": 1000}, "a first fit of all 10 features without a penalty needs"),
        ({"penalty": "unilasso", "nonnegative": True}, "has bounds of its own, and does not go with nonnegative"),
        ({"penalty": "unilasso", "k": 2, "alpha": None}, "has a strength alpha and no k"),
        ({"penalty": "unilasso", "solver": "cd"}, "goes with solver 'exact', not with 'cd'"),
        ({"penalty": "unilasso", "memory": 1000}, "unilasso makes numbers of all entries"),
    ],
    ids=str,
)
def test_what_does_not_go_together(rows, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**({"alpha": 0.1} | options)).fit(*rows[:2])

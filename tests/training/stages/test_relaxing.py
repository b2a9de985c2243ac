"""debias: models between the Lasso and the fit of its features without a penalty, alone, along paths, and chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso, LinearRegression

import riata
from chunked import Chunked
from riata.errors import OptionError
from riata.losses import loss_of

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.fixture
def table(rng):
    X = rng.normal(size=(90, 7)) * np.linspace(0.5, 3, 7)
    return X, 2 * X[:, 1] - X[:, 4] + 0.5 * rng.normal(size=90) + 3


@pytest.mark.parametrize("debias", [True, 0.25, 0])
def test_a_share_of_the_way_to_least_squares(table, debias):
    X, y = table
    lasso = riata.SparseRegressor(alpha=0.8).fit(X, y)
    model = riata.SparseRegressor(alpha=0.8, debias=debias).fit(X, y)
    chosen, share = lasso.get_support(), float(debias)
    plain = LinearRegression().fit(X[:, chosen], y)
    assert_allclose(model.coef_[chosen], (1 - share) * lasso.coef_[chosen] + share * plain.coef_, rtol=1e-6)
    assert_allclose(model.intercept_, (1 - share) * lasso.intercept_ + share * plain.intercept_, rtol=1e-6)
    if share:
        assert_allclose(model.objective_, 0.5 * np.mean((y - model.predict(X)) ** 2))
    assert ("mean loss alone" in model.to_model().objective) == bool(share)
    from_chunks = riata.SparseRegressor(alpha=0.8, debias=debias).fit(Chunked(X, y, 11))
    assert_allclose(from_chunks.coef_, model.coef_, rtol=1e-6)


def blends(X, y, alphas):
    """Coefficients and intercepts of the relaxed Lasso by scikit-learn, shares x alphas."""
    scale = X.std(axis=0)
    found = []
    for alpha in alphas:
        lasso = Lasso(alpha=alpha, tol=1e-12, max_iter=100_000).fit(X / scale, y)
        coef, chosen = lasso.coef_ / scale, lasso.coef_ != 0
        ends = [(coef, lasso.intercept_), (np.zeros_like(coef), y.mean())]
        if chosen.any():
            plain = LinearRegression().fit(X[:, chosen], y)
            ends[1][0][chosen], ends[1] = plain.coef_, (ends[1][0], plain.intercept_)
        found.append([tuple((1 - s) * a + s * b for a, b in zip(*ends, strict=True)) for s in SHARES])
    return list(zip(*found, strict=True))


@pytest.mark.parametrize("source", ["memory", "files"])
@pytest.mark.parametrize("loss", ["squared", "huber:100"])  # from products of columns, and from rows with no outlier
def test_scores_are_those_of_the_blends_on_rows_not_seen(table, loss, source):
    X, y = table
    folds = np.arange(len(y)) % 3
    options = {"alpha": "auto", "n_alphas": 5, "alpha_reach": 0.1, "cv": folds, "debias": "auto", "select": "cv"}
    data = Chunked(X, y, 13) if source == "files" else riata.open(X, y)
    if source == "files":
        options["cv"] = 3
    model = riata.SparseRegressor(loss=loss, tol=1e-10, **options).fit(data)
    path, selection = model.path_, model.selection_
    of_all = blends(X, y, path.alphas)[SHARES.index(path.debias)]
    assert_allclose(model.coef_, of_all[selection.index][0], atol=1e-5)
    if source == "files":
        return
    scores = []
    for fold in range(3):
        learnt, held = folds != fold, folds == fold
        by_share = blends(X[learnt], y[learnt], path.alphas)
        scores.append([[np.mean((y[held] - X[held] @ w - b) ** 2) for w, b in row] for row in by_share])
    mean = np.average(scores, axis=0, weights=np.bincount(folds)) * (1.0 if loss == "squared" else 0.5)
    assert mean.min() == mean[SHARES.index(path.debias), selection.index]
    assert_allclose(selection.scores, mean[SHARES.index(path.debias)], rtol=1e-3)


@pytest.mark.parametrize(
    "options",
    [{"loss": "quantile:0.3"}, {"bounds": [(-0.4, 0.4)] * 7}, {"nonnegative": True, "loss": "huber"}],
    ids=str,
)
def test_losses_with_kinks_and_bounds_have_refits_too(table, options):
    X, y = table
    lasso = riata.SparseRegressor(alpha_ratio=0.2, **options).fit(X, y)
    model = riata.SparseRegressor(alpha_ratio=0.2, debias=True, **options).fit(X, y)
    chosen = lasso.get_support()
    assert not model.coef_[~chosen].any()
    bounds = np.array(options["bounds"])[chosen] if "bounds" in options else None
    free = riata.SparseRegressor(alpha=0, **(options | {"bounds": bounds}), tol=1e-8).fit(X[:, chosen], y)
    assert_allclose(model.objective_, free.objective_, rtol=1e-6)


def test_softmax_and_cox_are_refitted_to_their_stationary_points(rng):
    X = rng.normal(size=(150, 5))
    y = np.argmax(X[:, :3] + rng.gumbel(size=(150, 3)), axis=1)
    model = riata.SparseClassifier(loss="softmax", alpha=0.05, debias=True).fit(X, y)
    residual = model.predict_proba(X) - np.eye(3)[y]
    slopes = residual.T @ X / len(y)
    assert np.abs(slopes[model.coef_ != 0]).max() < 1e-4
    time = rng.exponential(np.exp(X[:, 0]))
    data = riata.open(X, np.where(rng.random(150) < 0.7, time, -time), task="survival")
    found = riata.train(data, riata.Spec(loss="cox", alpha=0.05, debias=True))
    chosen = found.support
    again = riata.open(X[:, chosen], data.chunk.y, task="survival")
    assert_allclose(found.coef[0, chosen], riata.train(again, riata.Spec(loss="cox", alpha=0)).coef[0], rtol=1e-3)
    assert loss_of("cox").couples_rows


@pytest.mark.parametrize("shared", [True, False])
def test_of_several_targets_each_is_refitted_to_its_features(table, rng, shared):
    X, y = table
    Y = np.column_stack([y, X[:, 2] + y + rng.normal(size=len(y))])
    lasso, model = (
        riata.SparseRegressor(alpha=1.0, shared_support=shared, debias=one).fit(X, Y) for one in (False, True)
    )
    for before, after, target in zip(lasso.coef_, model.coef_, Y.T, strict=True):
        chosen = before != 0
        assert_allclose(after[chosen], LinearRegression().fit(X[:, chosen], target).coef_, rtol=1e-5)
        assert not after[~chosen].any()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": 0.1, "debias": "auto"}, "give alpha as 'auto', too"),
        ({"alpha": 0.1, "debias": 1.5}, "a share of the way between 0 and 1, or 'auto', not 1.5"),
        ({"alpha": "auto", "k": 2, "debias": "auto"}, "asks for none: give debias a share"),
    ],
)
def test_shares_that_cannot_be_are_refused(table, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**options).fit(*table)


def test_a_path_is_moved_and_an_empty_model_stays(table):
    X, y = table
    data = riata.open(X, y)
    before, after = (riata.path(data, riata.Spec(debias=share), length=4) for share in (False, 1.0))
    assert np.all(after.losses[1:] < before.losses[1:])
    assert not after.coefs[0].any()
    with pytest.raises(OptionError, match="a path has one share"):
        riata.path(data, riata.Spec(debias="auto"))

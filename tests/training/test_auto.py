"""k="auto" and alpha="auto" on the estimators: the choice is kept, explained, and the same from arrays and chunks."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import riata
from chunked import Chunked
from riata.errors import DataError, OptionError

SMALL = {"cv": 3, "n_alphas": 6, "k_max": 3}


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 7)) * np.linspace(0.5, 3, 7)
    return X, 2 * X[:, 1] - X[:, 4] + 0.5 * rng.normal(size=60) + 3


def labels(y):
    return np.where(y > np.median(y), "high", "low")


@pytest.mark.parametrize("select", ["cv", "cv-1se", "aic", "bic", "ebic"])
@pytest.mark.parametrize("auto", [{"k": "auto"}, {"alpha": "auto"}], ids=str)
def test_the_model_is_the_chosen_one_of_the_path(table, auto, select):
    X, y = table
    model = riata.SparseRegressor(**auto, select=select, **SMALL).fit(X, y)
    path, i = model.path_, model.selection_.index
    assert_array_equal(model.coef_, path.coefs[i])
    assert set(model.get_support(indices=True)) >= {1, 4}
    assert model.selection_.rule == select
    assert path.named(i) in model.selection_.reason
    assert model.n_passes_ > 0
    if "k" in auto:
        assert np.count_nonzero(model.coef_) == path.values[i]
    else:
        assert model.alpha_ == path.values[i]
        assert model.gap_ <= 1e-6
    training = model.to_model().training
    assert training.selection == model.selection_.reason
    assert training.k == (path.values[i] if "k" in auto else None)
    json.dumps(training.to_json())


@pytest.mark.parametrize("auto", [{"k": "auto"}, {"alpha": "auto"}], ids=str)
def test_a_fit_with_the_chosen_strength_gives_the_same_model(table, auto):
    X, y = table
    chosen = riata.SparseRegressor(**auto, tol=1e-10, **SMALL).fit(X, y)
    (name,) = auto
    value = chosen.path_.values[chosen.selection_.index].item()
    again = riata.SparseRegressor(**{name: value}, tol=1e-10).fit(X, y)
    assert_allclose(again.coef_, chosen.coef_, atol=1e-5)
    assert_allclose(again.objective_, chosen.objective_, rtol=1e-8)
    assert again.to_model().objective == chosen.to_model().objective


def test_a_target_k_on_the_path_of_alphas(table):
    X, y = table
    for k in (1, 2, 4):
        model = riata.SparseRegressor(k=k, alpha="auto", n_alphas=40).fit(X, y)
        assert 1 <= np.count_nonzero(model.coef_) <= k
        assert f"more than {k} features" in model.selection_.reason


@pytest.mark.parametrize("auto", [{"k": "auto"}, {"alpha": "auto"}], ids=str)
def test_a_validation_set_for_numbers_and_for_classes(table, auto):
    X, y = table
    options = {**auto, "select": "validation", **SMALL}
    train, other = slice(0, 40), slice(40, None)
    by_arrays = riata.SparseRegressor(**options).fit(X[train], y[train], validation=(X[other], y[other]))
    by_chunks = riata.SparseRegressor(**options).fit(
        Chunked(X[train], y[train], 7), validation=Chunked(X[other], y[other], 3)
    )
    assert_allclose(by_arrays.coef_, by_chunks.coef_, atol=1e-6)
    assert "20 rows held out" in by_arrays.selection_.reason
    classifier = riata.SparseClassifier(**options, tol=1e-4)
    classifier.fit(X[train], labels(y)[train], validation=(sp.csr_array(X[other]), labels(y)[other]))
    p = classifier.predict_proba(X[other])[:, 1]
    expected = -np.mean(np.log(np.where(labels(y)[other] == "low", p, 1 - p)))
    assert_allclose(classifier.selection_.scores[classifier.selection_.index], expected)


def test_rows_of_unit_norm_are_validated_as_such(table):
    X, y = table
    model = riata.SparseRegressor(alpha="auto", select="validation", normalize="rows", **SMALL)
    model.fit(X, y, validation=(X, y))
    best = model.selection_.scores[model.selection_.index]
    assert_allclose(best, np.mean((y - model.predict(X)) ** 2))


def test_every_class_has_its_own_choice(table):
    X, y = table
    three = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = riata.SparseClassifier(k="auto", select="bic", k_max=2, tol=1e-4).fit(X, three)
    assert len(model.path_) == len(model.selection_) == 3
    sizes = [path.values[chosen.index] for path, chosen in zip(model.path_, model.selection_, strict=True)]
    assert_array_equal(np.count_nonzero(model.coef_, axis=1), sizes)


def test_weights_count_in_folds_as_rows_do_in_the_objective(table):
    """Weights of one scale or another choose the same, and a row of weight zero is not there."""
    X, y = table
    weight = np.where(np.arange(60) < 50, 2.0, 0.0)
    options = {"alpha": "auto", "select": "cv", **SMALL}
    heavy = riata.SparseRegressor(**options).fit(X, y, sample_weight=weight)
    plain = riata.SparseRegressor(**options).fit(X[:50], y[:50])
    assert_allclose(heavy.selection_.scores, plain.selection_.scores, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": "auto", "alpha": "auto"}, "give it no other strength"),
        ({"k": "auto", "alpha": 0.1}, "give it no other strength"),
        ({"alpha": "auto", "alpha_ratio": 0.1}, "give it no other strength"),
        ({"alpha": "auto", "k": 2.5}, "must be a positive whole number"),
        ({"alpha": "auto", "select": "validation"}, "needs rows"),
        ({"alpha": "auto", "solver": "fobos"}, "made by solver 'exact'"),
        ({"alpha": "best"}, "alpha must be zero or more, or 'auto', not 'best'"),
        ({"k": "best"}, "k must be a whole number or 'auto', not 'best'"),
    ],
    ids=str,
)
def test_bad_options(table, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**options).fit(*table)


def test_bad_validation_sets(table):
    X, y = table
    model = riata.SparseRegressor(alpha="auto", select="validation")
    with pytest.raises(OptionError, match="a validation set chooses"):
        riata.SparseRegressor(alpha=0.1).fit(X, y, validation=(X, y))
    with pytest.raises(OptionError, match="has no use for a validation set"):
        clone(model).set_params(select="cv").fit(X, y, validation=(X, y))
    with pytest.raises(OptionError, match="must be a Dataset"):
        clone(model).fit(X, y, validation=X[0])
    with pytest.raises(OptionError, match="must have the 7 features"):
        clone(model).fit(X, y, validation=Chunked(X[:, :3], y, 5))
    with pytest.raises(DataError, match="holds the label 'other'"):
        riata.SparseClassifier(alpha="auto", select="validation").fit(
            X, labels(y), validation=(X, np.where(y > 3, "other", "low"))
        )


@pytest.mark.parametrize("estimator", [riata.SparseRegressor, riata.SparseClassifier])
@pytest.mark.parametrize("auto", [{"k": "auto"}, {"alpha": "auto"}], ids=str)
def test_columns_that_never_vary_are_never_chosen(table, auto, estimator):
    _, y = table
    y = y if estimator is riata.SparseRegressor else labels(y)
    for select in ("cv-1se", "bic"):
        model = estimator(**auto, select=select, **SMALL).fit(np.ones((60, 3)), y)
        assert not model.get_support().any()
        assert np.isfinite(model.intercept_).all()


def test_noise_is_no_reason_to_choose_a_feature(rng):
    X, y = rng.normal(size=(200, 10)), rng.normal(size=200)
    for auto in ({"k": "auto"}, {"alpha": "auto"}):
        assert not riata.SparseRegressor(**auto, select="ebic").fit(X, y).get_support().any()


def test_a_bar_changes_nothing(table):
    model = riata.SparseRegressor(alpha="auto", verbose=True, **SMALL).fit(*table)
    assert_array_equal(model.coef_, riata.SparseRegressor(alpha="auto", **SMALL).fit(*table).coef_)

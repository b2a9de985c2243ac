"""The estimators keep scikit-learn's conventions, and give the answers they promise."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, TweedieRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import riata
from riata.data.in_memory import InMemory
from riata.errors import DataError, DivergenceError, OptionError

ONLINE = {
    "subgradient": {"alpha": 0.01},
    "fobos": {"alpha": 0.05},
    "l0-sgd": {"k": 3},
}


@parametrize_with_checks(
    [
        riata.SparseRegressor(),
        riata.SparseRegressor(solver="cd", tol=1e-12),
        riata.SparseClassifier(),
        riata.SparseClassifier(loss="squared"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def table(rng):
    """Rows with some columns off centre and off scale."""
    X = rng.normal(size=(120, 15)) * np.linspace(0.1, 10, 15) + np.linspace(-3, 3, 15)
    return X, X[:, 0] * 5 - X[:, 14] + rng.normal(size=120) + 7


def labels(y):
    return np.where(y > np.median(y), "high", "low")


@pytest.mark.parametrize("solver", ["auto", "cd"])
@pytest.mark.parametrize("as_layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lasso_and_elastic_net_are_scikit_learns(table, as_layout, fit_intercept, solver):
    X, y = table
    ours = {"standardize": False, "fit_intercept": fit_intercept, "solver": solver, "tol": 1e-13}
    theirs = {"fit_intercept": fit_intercept, "tol": 1e-14, "max_iter": 100_000}
    lasso = riata.SparseRegressor(alpha=0.3, **ours).fit(as_layout(X), y)
    reference = Lasso(alpha=0.3, **theirs).fit(X, y)
    assert_allclose(lasso.coef_, reference.coef_, atol=1e-6)
    assert_allclose(lasso.intercept_, reference.intercept_, atol=1e-6)
    assert_allclose(lasso.predict(as_layout(X)), reference.predict(X), atol=1e-5)
    net = riata.SparseRegressor(alpha=0.3, l1_ratio=0.4, **ours).fit(as_layout(X), y)
    assert_allclose(net.coef_, ElasticNet(alpha=0.3, l1_ratio=0.4, **theirs).fit(X, y).coef_, atol=1e-6)


def test_the_default_tolerance_gives_scikit_learns_lasso_too(table):
    X, y = table
    lasso = riata.SparseRegressor(alpha=0.3, standardize=False).fit(X, y)
    assert lasso.gap_ <= 1e-6
    assert_allclose(lasso.coef_, Lasso(alpha=0.3, tol=1e-14, max_iter=100_000).fit(X, y).coef_, atol=1e-6)


def test_logistic_is_scikit_learns(table):
    X, y = table
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = riata.SparseClassifier(alpha=0.05, standardize=False, tol=1e-12).fit(X, labels(y))
    C = 1 / (0.05 * len(y))
    theirs = LogisticRegression(l1_ratio=1.0, C=C, solver="saga", tol=1e-10, max_iter=100_000).fit(X, labels(y))
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_every_loss_of_a_task(table, rng):
    X, y = table
    for loss in ("squared", "huber"):
        assert riata.SparseRegressor(alpha=0.01, loss=loss).fit(X, y).score(X, y) > 0.9
    counts = rng.poisson(np.exp(1 + X[:, 0]))
    poisson = riata.SparseRegressor(alpha=0.01, loss="poisson").fit(X, counts)
    assert_allclose(poisson.predict(X), np.exp(X @ poisson.coef_ + poisson.intercept_))
    assert_allclose(poisson.predict(X).mean(), counts.mean(), rtol=1e-4)  # the intercept's optimality
    for loss in ("logistic", "squared", "squared-hinge"):
        model = riata.SparseClassifier(alpha=0.01, loss=loss).fit(X, labels(y))
        assert model.score(X, labels(y)) > 0.9
        assert hasattr(model, "predict_proba") == (loss == "logistic")
    with pytest.raises(OptionError, match="squared, huber, quantile, binomial, poisson"):
        riata.SparseRegressor(loss="logistic").fit(X, y)
    with pytest.raises(DataError, match="counts"):
        riata.SparseRegressor(loss="poisson").fit(X, y)


@pytest.mark.parametrize("power", [1.0, 1.2, 1.5, 1.9, 2.0])
def test_amounts_and_totals_against_scikit_learn(table, rng, power):
    X, _ = table
    mean = np.exp(0.3 * X[:, 0] - 0.2 * X[:, 1])
    y = mean * rng.gamma(2.0, 0.5, size=len(X)) * ((rng.random(len(X)) < 0.7) | (power == 2.0))
    weight = rng.uniform(0.5, 2.0, size=len(X))
    loss = {1.0: "poisson", 2.0: "gamma"}.get(power, f"tweedie:{power}")
    spec = {"k": X.shape[1], "ridge": 0.05, "standardize": False, "tol": 1e-10}  # all features: no choice is left
    ours = riata.SparseRegressor(loss=loss, **spec).fit(X, y, sample_weight=weight)
    theirs = TweedieRegressor(power=power, link="log", alpha=0.05, tol=1e-10, solver="newton-cholesky")
    theirs.fit(X, y, sample_weight=weight)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)


@pytest.mark.parametrize("solver", ["exact", "cd"])
def test_standardising_equals_fitting_scaled_columns(table, solver):
    X, y = table
    scale = X.std(axis=0)
    implicit = riata.SparseRegressor(alpha=0.2, solver=solver, tol=1e-12).fit(X, y)
    explicit = riata.SparseRegressor(alpha=0.2, solver=solver, tol=1e-12, standardize=False).fit(X / scale, y)
    assert_allclose(implicit.coef_ * scale, explicit.coef_, atol=1e-6)


@pytest.mark.parametrize("solver", ONLINE)
def test_stochastic_solvers_scale_too(table, solver):
    X, y = table
    scale = X.std(axis=0)
    options = ONLINE[solver] | {"solver": solver, "random_state": 1}
    implicit = riata.SparseRegressor(**options).fit(sp.csr_array(X), y)
    explicit = riata.SparseRegressor(**options, standardize=False).fit(X / scale, y)
    assert_allclose(implicit.coef_ * scale, explicit.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", ONLINE)
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("as_layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_one_call_with_all_rows_equals_many_calls_with_few(table, solver, batch, as_layout):
    X, y = table
    model = riata.SparseRegressor(**ONLINE[solver], solver=solver, batch=batch, standardize=False, normalize="rows")
    at_once = clone(model).partial_fit(as_layout(X), y)
    for size in (1, 11):
        by_parts = clone(model)
        for i in range(0, len(y), size):
            by_parts.partial_fit(as_layout(X[i : i + size]), y[i : i + size])
        assert_allclose(by_parts.coef_, at_once.coef_, rtol=1e-9, atol=1e-12)
        assert_allclose(by_parts.intercept_, at_once.intercept_, rtol=1e-9)


@pytest.mark.parametrize("solver", ONLINE)
def test_a_row_of_weight_zero_changes_nothing(table, solver, rng):
    X, y = table
    model = riata.SparseRegressor(**ONLINE[solver], solver=solver, standardize=False)
    keep = rng.random(len(y)) < 0.7
    some = clone(model).partial_fit(X[keep], y[keep])
    weighted = clone(model).partial_fit(X, y, sample_weight=keep.astype(float))
    assert_array_equal(weighted.coef_, some.coef_)
    assert weighted.n_iter_ == some.n_iter_


def test_partial_fit_of_classes(table):
    X, y = table
    three = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    model = riata.SparseClassifier(alpha=1e-4, solver="fobos", standardize=False, normalize="rows")
    for _ in range(30):
        model.partial_fit(X, three, classes=[0, 1, 2])
    assert model.coef_.shape == (3, 15)
    assert model.score(X, three) > 0.5
    with pytest.raises(DataError, match="7"):
        model.partial_fit(X[:1], [7])
    assert clone(model).partial_fit(X, three).classes_.tolist() == [0, 1, 2]


WORDS = {"array": np.asarray, "list": list, "objects": lambda y: pd.Series(y, dtype=object),
         "pandas": lambda y: pd.Series(y, dtype="string"), "category": lambda y: pd.Series(y, dtype="category"),
         "polars": pl.Series}  # fmt: skip


@pytest.mark.parametrize("named", [True, False], ids=["named", "as they come"])
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_partial_fit_of_words(words, named, rng):
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] > 0, "yes", "certainly not")
    model = riata.SparseClassifier(solver="online")
    for i in range(4):
        rows = slice(100 * i, 100 * (i + 1))
        model.partial_fit(
            X[rows], words(y[rows]), **({"classes": ["certainly not", "yes"]} if named and i == 0 else {})
        )
    assert set(model.classes_) == {"yes", "certainly not"}
    assert np.mean(model.predict(X) == y) > 0.65
    codes = np.array([model.classes_.tolist().index(label) for label in y])
    numbers = riata.SparseClassifier(solver="online").partial_fit(X, codes, classes=[0, 1])
    assert_array_equal(numbers.coef_, model.coef_)


def test_partial_fit_says_what_is_wrong_with_a_target(table):
    X = table[0][:3]
    classifier = riata.SparseClassifier(solver="online")
    with pytest.raises(DataError, match=r"no value in row 2 of 3"):
        classifier.partial_fit(X, ["a", None, "b"])
    with pytest.raises(DataError, match="y holds 'a', and a regressor learns numbers"):
        riata.SparseRegressor(solver="online").partial_fit(X, ["a", "b", "c"])
    classifier.partial_fit(X, ["a", "b", "a"], classes=["a", "b"])
    with pytest.raises(DataError, match=r"y holds 'c', which is not among the classes \['a', 'b'\]"):
        classifier.partial_fit(X, ["a", "c", "a"])
    with pytest.raises(DataError, match=r"classes are \['a', 'c'\] here, and were \['a', 'b'\] at first"):
        classifier.partial_fit(X, ["a", "a", "a"], classes=["a", "c"])


def test_rows_as_they_come_refuse_the_weight_of_a_class_that_cannot_come(rng):
    X = rng.normal(size=(20, 3))
    model = riata.SparseClassifier(k=1, solver="online", class_weight={"a": 2.0, "z": 1.0})
    with pytest.raises(OptionError, match=r"class_weight names 'z', which is not among the classes \['a', 'b'\]"):
        model.partial_fit(X, np.where(X[:, 0] > 0, "a", "b"), classes=["a", "b"])


def test_partial_fit_refuses_what_a_stream_cannot_have(table):
    X, y = table
    assert not hasattr(riata.SparseRegressor(), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        _ = riata.SparseRegressor().partial_fit
    assert "needs a solver that learns row by row, such as solver='online'" in str(caught.value.__cause__)
    refused = {
        "standardize=False": {"standardize": True, "alpha": 0.1},
        "give partial_fit an alpha": {"alpha_ratio": 0.1},
        "leave rounds out": {"alpha": 0.1, "rounds": True},
        "give batch a number": {"alpha": 0.1, "batch": "full"},
    }
    for sentence, options in refused.items():
        model = riata.SparseRegressor(**{"solver": "fobos", "standardize": False} | options)
        with pytest.raises(OptionError, match=sentence):
            model.partial_fit(X, y)


def test_several_classes_and_class_weights(rng):
    X = rng.normal(size=(300, 8))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.3 * rng.normal(size=(300, 3)), axis=1)]
    model = riata.SparseClassifier(alpha=0.01, loss="logistic").fit(X, y)
    assert model.coef_.shape == (3, 8)
    assert model.score(X, y) > 0.85
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert len(model.history_) == 3
    heavy = riata.SparseClassifier(alpha=0.01, class_weight={"a": 100, "b": 1, "c": 1}).fit(X, y)
    assert (heavy.predict(X) == "a").mean() > (model.predict(X) == "a").mean()
    by_hand = np.where(y == "a", 100.0, 1.0)
    assert_allclose(heavy.coef_, riata.SparseClassifier(alpha=0.01).fit(X, y, by_hand).coef_, atol=1e-6)


def test_balanced_weights_are_scikit_learns(rng):
    X = rng.normal(size=(200, 5))
    y = X[:, 0] > 1
    balanced = riata.SparseClassifier(alpha=0.02, class_weight="balanced").fit(X, y)
    weight = np.where(y, 100 / y.sum(), 100 / (~y).sum())
    assert_allclose(balanced.coef_, riata.SparseClassifier(alpha=0.02).fit(X, y, weight).coef_, atol=1e-6)


def test_it_selects_features_and_keeps_their_names(table):
    X, y = table
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(15)])
    model = riata.SparseRegressor(alpha_ratio=0.3).fit(frame, y).set_output(transform="pandas")
    chosen = list(frame.columns[model.get_support()])
    assert 0 < len(chosen) < 15
    assert list(model.get_feature_names_out()) == chosen
    assert_array_equal(model.transform(frame), frame[chosen])
    assert list(model.transform(frame).columns) == chosen
    assert model.to_model().names == chosen


def test_it_works_in_pipelines_pickles_and_clones(table):
    X, y = table
    model = riata.SparseRegressor(alpha=0.1, memory="1GB").fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    pipeline = make_pipeline(riata.SparseRegressor(alpha_ratio=0.2), Lasso(0.01)).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    assert cross_val_score(model, X, y).mean() > 0.9


def test_sample_weight_is_routed(table):
    X, y = table
    weight = np.linspace(0, 1, len(y))
    with config_context(enable_metadata_routing=True):
        step = riata.SparseRegressor(alpha=0.1).set_fit_request(sample_weight=True)
        routed = make_pipeline(step).fit(X, y, sample_weight=weight)
    direct = riata.SparseRegressor(alpha=0.1).fit(X, y, weight)
    assert_array_equal(routed[0].coef_, direct.coef_)


def test_what_a_fit_leaves_behind(table):
    X, y = table
    model = riata.SparseRegressor(alpha=0.1).fit(X, y)
    assert model.n_features_in_ == 15
    assert model.n_iter_ == len(model.history_) >= 1
    assert model.n_passes_ >= 1
    assert 0 <= model.gap_ <= 1e-6
    assert model.converged_
    assert model.history_[-1].n_selected == np.count_nonzero(model.coef_)
    stochastic = riata.SparseRegressor(k=3, solver="l0-sgd", max_steps=250, random_state=0).fit(X, y)
    assert stochastic.gap_ is None
    assert [record.steps for record in stochastic.history_] == [120, 240, 250]


def test_a_dataset_takes_the_place_of_x(table):
    X, y = table
    by_arrays = riata.SparseRegressor(alpha=0.1).fit(X, y)
    by_dataset = riata.SparseRegressor(alpha=0.1).fit(InMemory(X, y, feature_names=[f"f{j}" for j in range(15)]))
    assert_array_equal(by_arrays.coef_, by_dataset.coef_)
    assert list(by_dataset.feature_names_in_[:2]) == ["f0", "f1"]
    with pytest.raises(DataError, match="SparseClassifier"):
        riata.SparseRegressor().fit(InMemory(X, y > 0, classes=np.array([False, True])))
    with pytest.raises(DataError, match="SparseRegressor"):
        riata.SparseClassifier().fit(InMemory(X, y))


def test_64_bit_indices(table):
    X, y = table
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for options in ({"alpha": 0.1}, {"k": 3, "solver": "l0-sgd", "random_state": 0}):
        model = riata.SparseRegressor(**options)
        assert_array_equal(clone(model).fit(wide, y).coef_, model.fit(sp.csr_array(X), y).coef_)


def test_duplicate_entries_of_a_sparse_row_add_up(table):
    _, y = table
    X = sp.coo_array((np.ones(240), (np.repeat(np.arange(120), 2), np.zeros(240, dtype=int))), shape=(120, 2)).tocsr()
    X.sum_duplicates()
    twice = sp.csr_array((np.ones(240), np.zeros(240, dtype=int), np.arange(0, 241, 2)), shape=(120, 2))
    options = {"k": 1, "solver": "l0-sgd", "standardize": False, "random_state": 0}
    assert_array_equal(
        riata.SparseRegressor(**options).fit(twice, y).coef_, riata.SparseRegressor(**options).fit(X, y).coef_
    )
    assert twice.nnz == 240  # the caller's matrix is as it was


@pytest.mark.parametrize("solver", ONLINE)
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_default_steps_are_safe_on_any_scale(table, solver, scale):
    X, y = table
    model = riata.SparseRegressor(**ONLINE[solver], solver=solver, standardize=False, random_state=0)
    model.fit(X * scale, y)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("solver", ONLINE)
def test_a_step_that_diverges_is_an_error_not_nan(table, solver):
    X, y = table
    model = riata.SparseRegressor(
        **ONLINE[solver], solver=solver, standardize=False, random_state=0, step=1e6, max_passes=50
    )
    with pytest.raises(DivergenceError, match="smaller"):
        model.fit(X, y)


def test_not_reaching_the_tolerance_is_said(table):
    X, y = table
    with pytest.warns(UserWarning, match="max_passes=1"):
        model = riata.SparseRegressor(alpha=1e-6, solver="cd", max_passes=1).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize("solver", ["online", "ftrl", "fobos", "subgradient"])
def test_a_model_that_learns_on_can_be_pickled(solver, rng):
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    options = {} if solver == "online" else {"alpha": 0.01, "standardize": False}
    model = riata.SparseRegressor(solver=solver, **options).partial_fit(X[:30], y[:30])
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.partial_fit(X[30:], y[30:]).coef_, model.partial_fit(X[30:], y[30:]).coef_)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_what_a_stream_learnt_of_columns_stays_with_later_rows(rng):
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    frame["y"] = 3 * frame["a"] + rng.normal(size=200)
    frame.loc[::4, "a"] = np.nan
    chunks = (frame[i : i + 50] for i in range(0, 200, 50))
    model = riata.SparseRegressor(solver="online").fit(riata.open(chunks, "y", cache=False))
    rows = riata.open(frame, "y", encoding=model.trained_.encoding)
    model.partial_fit(rows.X, frame["y"].to_numpy())
    assert_allclose(model.predict(frame), model.predict(rows))


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(
    ("estimator", "y", "sentence"),
    [
        (riata.SparseRegressor, ["no", "yes"] * 10, "y holds 'no', and a regressor learns numbers"),
        (riata.SparseRegressor, np.array(["1", "a"] * 10, dtype=object), "y holds 'a', and a regressor learns numbers"),
        (riata.SparseRegressor, [1.0] * 19 + [np.nan], "y has no value in row 20 of 20"),
        (riata.SparseClassifier, [0.0, 1.0] * 9 + [np.nan, 1.0], "y has no value in row 19 of 20"),
        (
            riata.SparseClassifier,
            np.array(["a", "b"] * 9 + [None, "a"], dtype=object),
            "y has no value in row 19 of 20",
        ),
    ],
)
def test_a_target_that_cannot_be_learnt_is_refused_in_a_sentence(rng, estimator, y, sentence, as_frame):
    X = rng.normal(size=(20, 2))
    X = pd.DataFrame(X, columns=["a", "b"]).assign(c="level") if as_frame else X
    with pytest.raises(DataError, match=sentence):
        estimator(k=1).fit(X, y)


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_a_k_above_the_number_of_features_takes_all_of_them(rng, kind):
    X = rng.normal(size=(90, 3))
    z = X @ [1.0, -1.0, 0.5] + rng.normal(size=90)
    model = riata.SparseRegressor() if kind == "regression" else riata.SparseClassifier(ridge=0.01)
    y = z if kind == "regression" else np.digitize(z, [0.0] if kind == "two classes" else [-0.5, 0.5])
    with pytest.warns(UserWarning, match="k=9 is more than the 3 features there are"):
        above = clone(model).set_params(k=9).fit(X, y)
    assert_allclose(above.coef_, clone(model).set_params(k=3).fit(X, y).coef_)


def test_a_grid_of_k_may_go_beyond_the_features(rng):
    X = rng.normal(size=(60, 3))
    search = GridSearchCV(riata.SparseRegressor(), {"k": np.array([1, 3, 5])}, cv=3, error_score="raise")
    with pytest.warns(UserWarning, match="k=5 is more than the 3 features there are"):
        search.fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    assert search.best_params_["k"] in (1, 3, 5)


def test_what_is_true_of_every_class_is_said_once():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        riata.SparseClassifier(k=5).fit(X, y)
    assert [str(one.message) for one in said] == [
        "k=5 is more than the 2 features there are: the model may have all of them"
    ]

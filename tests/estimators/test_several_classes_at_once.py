"""Softmax through the doors that people use: estimator, model file, dataset, selection, report, cluster of classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import riata
from riata.errors import DataError, OptionError
from riata.model.quality import quality
from riata.training.selection.path_choice import PathChoice

LABELS = np.array(["ash", "elm", "oak"])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 8)) * np.exp(rng.normal(size=8))
    W = np.zeros((8, 3))
    W[:3] = 2.0 * rng.normal(size=(3, 3)) / X[:, :3].std(axis=0)[:, None]
    return X, LABELS[(X @ W + rng.gumbel(size=(240, 3))).argmax(axis=1)]


def test_the_objective_is_that_of_scikit_learn(rows):
    X, y = rows
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = riata.SparseClassifier(loss="softmax", alpha=0.03, tol=1e-9).fit(X, y)
    other = LogisticRegression(l1_ratio=1.0, C=1 / (0.03 * len(y)), solver="saga", tol=1e-9, max_iter=10**5).fit(X, y)

    def objective(of):
        loss = -np.log(of.predict_proba(X)[np.arange(len(y)), np.searchsorted(LABELS, y)]).mean()
        return loss + 0.03 * np.abs(of.coef_).sum()

    assert_allclose(model.objective_, objective(model), rtol=1e-12)
    assert_allclose(model.objective_, objective(other), rtol=1e-7)
    assert model.coef_.shape == (3, 8)
    assert model.gap_ <= 1e-9


def test_a_saved_model_predicts_the_same(rows, tmp_path):
    X, y = rows
    model = riata.SparseClassifier(loss="softmax", alpha_ratio=0.1, shared_support=True).fit(X, y)
    assert (model.coef_ != 0).any(axis=0).tolist() == (model.coef_ != 0).all(axis=0).tolist()
    model.to_model().save(tmp_path / "m.json")
    kept = riata.load_model(tmp_path / "m.json")
    z = X @ model.coef_.T + model.intercept_
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    for found in (model.predict_proba(X), kept.predict_proba(X)):
        assert_allclose(found, p, rtol=1e-12)
    assert kept.predict(X).tolist() == model.predict(X).tolist() == LABELS[p.argmax(axis=1)].tolist()
    scores = quality(kept, riata.open(X, y)).scores
    assert_allclose(scores["log_loss"], -np.log(p[np.arange(len(y)), np.searchsorted(LABELS, y)]).mean(), rtol=1e-9)


def test_alpha_is_chosen_by_one_path_of_all_classes(rows):
    X, y = rows
    model = riata.SparseClassifier(loss="softmax", alpha="auto", n_alphas=12, cv=3, random_state=0).fit(X, y)
    assert isinstance(model.alpha_, float)
    assert {0, 1, 2} <= set(model.get_support(indices=True))
    (one,) = model.trained_.course.searched
    assert isinstance(one, PathChoice)
    assert one.coefficient_names(list("abcdefgh"), np.array([0, 5])) == ["a (ash)", "b (oak)"]
    chosen = one.path.coefs[one.selection.index].reshape(8, 3).T
    assert_allclose(model.coef_, chosen)


def test_weights_of_classes_and_rows_are_those_of_repeated_rows(rows):
    X, y = rows
    twice = np.concatenate([np.arange(len(y)), np.flatnonzero(y == "elm")])
    weighted = riata.SparseClassifier(loss="softmax", alpha=0.02, class_weight={"elm": 2.0}, standardize=False)
    repeated = riata.SparseClassifier(loss="softmax", alpha=0.02, standardize=False).fit(X[twice], y[twice])
    assert_allclose(weighted.fit(X, y).objective_, repeated.objective_, rtol=1e-6)


def test_two_classes_are_the_logistic_loss(rows):
    X, y = rows
    two = y != "oak"
    found = [riata.SparseClassifier(loss=loss, alpha=0.05).fit(X[two], y[two]) for loss in ("softmax", "logistic")]
    assert_allclose(found[0].coef_, found[1].coef_)
    assert_allclose(found[0].predict_proba(X), found[1].predict_proba(X))


@pytest.mark.parametrize(
    ("options", "sentence"),
    {
        "k": (
            {"k": 2, "solver": "omp"},
            "solver 'omp' takes one margin for each row by itself, and loss 'softmax' does",
        ),
        "no weight": ({"alpha": 0.1, "class_weight": {"ash": 0}}, "a class of weight 0 has no probability to learn"),
        "one by one": ({"alpha": 0.1, "loss": "logistic", "shared_support": True}, "take loss 'softmax'"),
        "l2": (
            {"alpha": 0.1, "shared_support": True, "l1_ratio": 0.5},
            "a shared support has no l1_ratio: leave it at 1",
        ),
    }.values(),
)
def test_what_does_not_go_together_gets_a_sentence(rows, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseClassifier(**({"loss": "softmax"} | options)).fit(*rows)


def test_folds_without_a_class_are_refused(rows):
    X, y = rows
    fold = np.arange(len(y)) % 3
    fold[y == "oak"] = 2
    with pytest.raises(DataError, match="fold 3 of 3 has only rows of some of the classes to learn from"):
        riata.SparseClassifier(loss="softmax", alpha="auto", cv=fold).fit(X, y)


def test_a_path_of_an_opened_dataset_is_that_of_all_classes(rows):
    found = riata.path(riata.open(*rows), riata.Spec(loss="softmax"), length=4)
    assert found.coefs.shape == (4, 24)
    assert found.n_outputs == 3
    single = riata.SparseClassifier(loss="softmax", alpha=found.alphas[-1]).fit(*rows)
    assert_allclose(found.objectives[-1], single.objective_, rtol=2e-6)


def test_a_fit_that_was_interrupted_goes_on_to_the_same_model(rows, tmp_path):
    options = {"loss": "softmax", "alpha_ratio": 0.02, "checkpoint": str(tmp_path), "every": 0}
    whole = riata.SparseClassifier(**options).fit(*rows)
    assert (tmp_path / "checkpoint.npz").exists()  # as it was before the last step
    resumed = riata.SparseClassifier(resume=True, **options).fit(*rows)
    assert_allclose(resumed.objective_, whole.objective_, rtol=1e-6)
    assert resumed.gap_ <= 1e-6

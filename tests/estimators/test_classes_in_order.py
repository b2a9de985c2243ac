"""Classes in an order: one margin, cutpoints, and all that goes with them."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import riata
from naive import ordinal_loss, ordinal_minimum
from naive_coupled import best_subset
from riata.cli import main
from riata.errors import DataError, OptionError
from riata.model.quality import quality

NAMES = ["low", "mid", "high", "top"]  # in another order than the alphabet's


def problem(n=200, d=6, seed=0, n_classes=4, strength=1.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, d) + rng.normal(size=d)
    w = np.where(np.arange(d) < 3, strength * rng.normal(size=d), 0.0)
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ w
    k = np.digitize(z + rng.logistic(size=n), np.sort(2.0 * rng.normal(size=n_classes - 1)))
    k[:n_classes] = np.arange(n_classes)
    return X, k


def probability_of_truth(model, X, k, **beside):
    return model.predict_proba(X, **beside)[np.arange(len(k)), k]


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize(("seed", "n_classes", "ratio"), [(0, 3, 0.3), (1, 4, 0.05), (2, 7, 0.01), (3, 5, 0.001)])
def test_the_minimum_is_that_of_a_slow_reference(seed, n_classes, ratio, l1_ratio):
    X, k = problem(seed=seed, n_classes=n_classes, strength=1.0 + seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(k))
    model = riata.SparseClassifier(loss="ordinal", alpha_ratio=ratio, l1_ratio=l1_ratio, tol=1e-9)
    model.fit(X, k, sample_weight=weight)
    mean = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    l1, l2 = (share * model.alpha_ * np.ones(X.shape[1]) for share in (l1_ratio, 1.0 - l1_ratio))
    least = ordinal_minimum((X - mean) / scale, k, weight, l1, l2, n_classes)
    assert_allclose(model.objective_, least, rtol=1e-8)
    assert model.converged_
    assert model.gap_ <= 1e-9
    v = model.coef_[0] * scale
    loss = ordinal_loss(X @ model.coef_[0] + model.intercept_[0], k, model.cutpoints_, weight)
    assert_allclose(loss + l1 @ np.abs(v) + 0.5 * l2 @ v**2, model.objective_, rtol=1e-10)
    assert_allclose(np.log(probability_of_truth(model, X, k)) @ weight, -loss * weight.sum(), rtol=1e-9)


def test_gaps_are_true_on_the_way():
    X, k = problem(seed=4, strength=4.0)
    options = {"loss": "ordinal", "alpha_ratio": 0.01, "tol": 0.0}
    with pytest.warns(ConvergenceWarning):
        best = riata.SparseClassifier(**options).fit(X, k)
    unit = -np.bincount(k) / len(k) @ np.log(np.bincount(k) / len(k))  # the loss of the empty model
    assert len(best.history_) > 4
    for record in best.history_:
        assert record.objective - best.objective_ <= record.gap * unit + 1e-12


@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_k_of_small_problems(seed):
    X, k = problem(120, 5, seed)
    ridge = 0.01
    model = riata.SparseClassifier(loss="ordinal", k=2, ridge=ridge).fit(X, k)

    def loss(z, y, weight):
        return ordinal_loss_at_best(z[:, 0], y)

    F, best = best_subset(loss, X, k, 2, 1, l2=ridge * X.std(axis=0) ** 2)
    assert tuple(model.get_support(indices=True).tolist()) == best
    assert_allclose(model.objective_, F, rtol=1e-6)


def ordinal_loss_at_best(z, k):
    from riata.losses import Ordinal  # its value is tested by itself

    loss = Ordinal(int(k.max()) + 1)
    return loss.total(loss.sums(k.astype(float), z, np.ones(len(k)))) / len(k)


def test_two_classes_are_logistic_regression():
    X, k = problem()
    assert_allclose(
        riata.SparseClassifier(loss="ordinal", alpha=0.02).fit(X, k > 1).coef_,
        riata.SparseClassifier(loss="logistic", alpha=0.02).fit(X, k > 1).coef_,
    )


def test_a_reversed_order_changes_signs_alone():
    X, k = problem()
    up, down = (riata.SparseClassifier(loss="ordinal", alpha=0.02, tol=1e-10).fit(X, y) for y in (k, 3 - k))
    assert_allclose(down.coef_, -up.coef_, atol=1e-7)
    assert_allclose(down.cutpoints_, -up.cutpoints_[::-1], atol=1e-6)
    assert_allclose(down.predict_proba(X), up.predict_proba(X)[:, ::-1], atol=1e-6)


def test_arrays_sparse_rows_frames_and_files_agree(tmp_path):
    X, k = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    labels = np.array(NAMES)[k]
    model = riata.SparseClassifier(loss="ordinal", alpha=0.02, tol=1e-10).fit(X, k)
    named = riata.SparseClassifier(loss=f"ordinal:{'<'.join(NAMES)}", alpha=0.02, tol=1e-10)
    ordered = pd.Series(pd.Categorical(labels, categories=[*NAMES, "none has it"], ordered=True))
    table = tmp_path / "rows.parquet"
    frame.assign(grade=labels).to_parquet(table)
    data = riata.open(table, target="grade", memory="64MB")
    fits = [
        riata.SparseClassifier(loss="ordinal", alpha=0.02, tol=1e-10).fit(sp.csr_array(X), k),
        riata.SparseClassifier(loss="ordinal", alpha=0.02, tol=1e-10).fit(frame, ordered),
        riata.SparseClassifier(**named.get_params()).fit(X, labels),
        riata.SparseClassifier(**named.get_params()).fit(data),
    ]
    for fit in fits:
        assert_allclose(fit.coef_, model.coef_, atol=1e-7)
        assert_allclose(fit.cutpoints_, model.cutpoints_, atol=1e-7)
    for fit in fits[1:]:
        assert list(fit.classes_) == NAMES
        assert_array_equal(fit.class_count_, np.bincount(k))
    assert_array_equal(fits[2].predict(X), np.array(NAMES)[model.predict(X)])
    assert_array_equal(fits[3].predict(data), np.array(NAMES)[model.predict(X)])
    assert fits[3].score(table) == model.score(X, k)


def test_the_file_of_a_model_predicts_as_it_does(tmp_path):
    X, k = problem()
    model = riata.SparseClassifier(loss="ordinal", alpha=0.02).fit(X, k)
    file = tmp_path / "model.json"
    model.to_model().save(file)
    loaded = riata.load_model(file)
    assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=1e-14)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_allclose(loaded.decision_function(X), model.decision_function(X), rtol=1e-14)
    found = quality(loaded, riata.open(X, k, task="classification"))
    assert_allclose(found.scores["log_loss"], -np.log(probability_of_truth(model, X, k)).mean(), rtol=1e-12)
    assert_allclose(found.scores["accuracy"], model.score(X, k))
    document = json.loads(file.read_text())
    for cutpoints in (None, [1.0], [3.0, 2.0, 1.0], ["a", "b", "c"]):
        file.write_text(json.dumps(document | {"cutpoints": cutpoints}))
        with pytest.raises(riata.errors.ModelFileError, match="cutpoints"):
            riata.load_model(file)
    del document["cutpoints"]
    file.write_text(json.dumps(document))
    with pytest.raises(riata.errors.ModelFileError, match="damaged"):
        riata.load_model(file)


def test_offsets_move_the_margin_of_a_row():
    X, k = problem()
    rng = np.random.default_rng(5)
    offset = 2.0 * rng.normal(size=len(k))
    model = riata.SparseClassifier(loss="ordinal", alpha=0.02, tol=1e-10).fit(X, k, offset=offset)
    loss = ordinal_loss(X @ model.coef_[0] + model.intercept_[0] + offset, k, model.cutpoints_, np.ones(len(k)))
    assert_allclose(loss + 0.02 * np.abs(model.coef_[0]) @ X.std(axis=0), model.objective_, rtol=1e-10)
    assert_allclose(-np.log(probability_of_truth(model, X, k, offset=offset)).mean(), loss, rtol=1e-9)


def test_held_out_rows_are_scored_by_the_cutpoints_of_the_rows_learnt_from():
    X, k = problem()
    others, their = problem(seed=9)
    X2, k2 = (
        others[:50],
        np.minimum(their[:50], 1),
    )  # low classes alone: cutpoints of their own would flatter all models
    k2[:2] = [2, 3]
    model = riata.SparseClassifier(loss="ordinal", alpha="auto", select="validation", n_alphas=5).fit(
        X, k, validation=(X2, k2)
    )
    chosen = model.selection_.index
    expected = -np.log(probability_of_truth(model, X2, k2)).mean()
    assert_allclose(model.selection_.scores[chosen], expected, rtol=1e-9)


@pytest.mark.parametrize(
    "asked",
    [
        {"alpha": "auto"},
        {"alpha": "auto", "select": "bic"},
        {"k": "auto", "k_max": 4, "cv": 3},
        {"alpha": 0.05, "debias": True},
        {"alpha": 0.05, "penalty": "mcp"},
        {"alpha": 0.05, "penalty": "adaptive:marginal"},
        {"alpha": 0.05, "groups": [0, 0, 1, 1, 2, 2]},
        {"alpha": 0.05, "nonnegative": True},
        {"alpha": 0.05, "class_weight": "balanced"},
        {"alpha": 0.05, "fit_intercept": False},
    ],
)
def test_what_goes_with_alpha_goes_with_it(asked):
    X, k = problem()
    model = riata.SparseClassifier(loss="ordinal", **asked).fit(X, k)
    assert model.converged_
    assert np.all(np.diff(model.cutpoints_) > 0.0)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    found = quality(model.to_model(), riata.open(X, k, task="classification"))
    assert_allclose(found.scores["log_loss"], -np.log(probability_of_truth(model, X, k)).mean(), rtol=1e-9)


def test_classes_that_no_row_mistakes_end_with_a_word():
    X, _ = problem(300)
    k = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    model = riata.SparseClassifier(loss="ordinal", k=1).fit(X, k)
    assert "which no model can beat" in model.stopped_because_
    assert model.score(X, k) == 1.0


def test_wrong_orders_and_targets_have_their_sentence():
    X, k = problem()
    labels = np.array(NAMES)[k]
    for loss, y, said in (
        ("ordinal", labels, "whose order is not known"),
        ("ordinal:low<mid<high", labels, "lacks the class 'top'"),
        ("ordinal:low<mid<high<top<best", labels, "names 'best'"),
        ("ordinal:low", labels, "loss 'ordinal:low'"),
    ):
        with pytest.raises(OptionError, match=said):
            riata.SparseClassifier(loss=loss, alpha=0.1).fit(X, y)
    with pytest.raises(DataError, match="one class only"):
        riata.SparseClassifier(loss="ordinal", alpha=0.1).fit(X, np.zeros(len(k)))
    with pytest.raises(OptionError, match="threshold"):
        riata.SparseClassifier(loss="ordinal", alpha=0.1, threshold=0.3).fit(X, k)


def test_the_command_line(tmp_path):
    X, k = problem()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for name, y in (("stars", k + 1), ("grade", np.array(NAMES)[k])):
        frame.assign(**{name: y}).to_csv(tmp_path / f"{name}.csv", index=False)

    def run(*words):
        done = CliRunner().invoke(main, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done.output

    order = "ordinal:" + "<".join(NAMES)
    model, page = tmp_path / "m.json", tmp_path / "page.html"
    said = run("fit", tmp_path / "grade.csv", "--target", "grade", "--alpha", "0.02", "--loss", order, "--out", model,
               "--report", page)  # fmt: skip
    assert "in this order: positive" in " ".join(said.split())
    assert "proportional odds" in page.read_text()
    assert "cutpoints" in run("inspect", model)
    assert "probability_low,probability_mid,probability_high,probability_top" in run(
        "predict", model, tmp_path / "grade.csv"
    ).replace('"', "")
    assert "accuracy" in run("evaluate", model, tmp_path / "grade.csv")
    # numbers are classes where the loss is of classes
    run("fit", tmp_path / "stars.csv", "--target", "stars", "--alpha", "0.02", "--loss", "ordinal", "--out", model,
        "--report", page)  # fmt: skip
    assert riata.load_model(model).classes == [1, 2, 3, 4]
    assert "task=&#39;classification&#39;" in page.read_text()

"""Model files: readable, safe, and the same predictions."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import riata
from riata.errors import DataError, ModelFileError, OptionError
from riata.model.predictions import predictions
from riata.model.quality import quality
from riata.outcome.proofs import SwapOptimal
from riata.outcome.reasons import StopReason


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(90, 6)), columns=list("abcdef"))


@pytest.fixture(params=["number", "two", "three"])
def fitted(request, frame):
    """An estimator for each kind of target."""
    z = (frame["a"] - 2 * frame["c"]).to_numpy()
    if request.param == "number":
        return riata.SparseRegressor(alpha=0.05).fit(frame, z)
    cuts = {"two": [0], "three": [-1, 1]}[request.param]
    return riata.SparseClassifier(alpha=0.01).fit(frame, np.array(["x", "y", "z"])[np.digitize(z, cuts)])


def test_a_saved_model_predicts_as_its_estimator(fitted, frame, tmp_path):
    fitted.to_model().save(tmp_path / "m.json")
    model = riata.load_model(tmp_path / "m.json")
    predicted = model.predict(frame.to_numpy(), list(frame.columns))
    if model.task == "regression":
        assert_allclose(predicted, fitted.predict(frame))
    else:
        assert_array_equal(predicted, fitted.predict(frame))
    assert model.names == [n for n, used in zip(frame.columns, fitted.get_support(), strict=True) if used]
    assert_allclose(model.margins(sp.csr_array(frame.to_numpy())), model.margins(frame.to_numpy()))


def test_columns_are_found_by_name_in_any_order(fitted, frame):
    model = fitted.to_model()
    shuffled = frame[["f", "a", "e", "c", "b", "d"]].assign(extra=1.0)
    assert_allclose(
        model.margins(shuffled.to_numpy(), list(shuffled.columns)), model.margins(frame.to_numpy(), list(frame.columns))
    )
    with pytest.raises(DataError, match="no column 'a'"):
        model.margins(frame.drop(columns="a").to_numpy(), list("bcdef"))
    with pytest.raises(DataError, match="5 columns, the model was fitted to 6"):
        model.margins(frame.to_numpy()[:, 1:])


def test_the_file_is_readable_and_says_how_it_was_made(fitted, tmp_path):
    fitted.to_model().save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["format"] == "riata-model"
    assert document["version"] == 1
    assert {"name", "column", "coef", "deviation"} == set(document["features"][0])
    assert document["training"]["parameters"]["alpha"] == fitted.alpha
    assert "|w|_1" in document["objective"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not JSON, or it was cut short"),
        ("[1]", "does not say format"),
        ('{"format": "other"}', "does not say format"),
        ('{"format": "riata-model", "version": 99}', "version 99"),
        ('{"format": "riata-model", "version": 1}', "damaged"),
        ("\x00\xff", "not JSON"),
    ],
)
def test_a_file_that_is_no_model_gets_a_sentence(text, sentence, tmp_path):
    (tmp_path / "m.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelFileError, match=sentence):
        riata.load_model(tmp_path / "m.json")


def change(name, value, feature=None):
    """What puts a value into a document, or into its first feature."""

    def changed(document):
        place = document if feature is None else document["features"][feature]
        place[name] = value

    return changed


NAN = float("nan")
ENCODING = {
    "encoders": [{"kind": "number", "column": name, "mean": 0.0, "missing": False} for name in "abcdef"],
    "target": None, "weight": None, "single": False, "hashed": False,
}  # fmt: skip


def of_column(**values):
    """Change values of the first column of an encoding; `...` removes one."""
    first = ENCODING["encoders"][0] | values
    kept = {name: value for name, value in first.items() if value is not ...}
    return change("encoding", {**ENCODING, "encoders": [kept, *ENCODING["encoders"][1:]]})


DAMAGES = {
    "coefficient NaN": (change("coef", [NAN], 0), "the coefficient of 'a' is \\[nan\\]"),
    "coefficient infinite": (change("coef", [float("inf")], 0), "the coefficient of 'a'"),
    "coefficient null": (change("coef", [None], 0), "the coefficient of 'a'"),
    "no list of coefficients": (change("coef", 1.0, 0), "the coefficient of 'a'"),
    "two coefficients": (change("coef", [1.0, 2.0], 0), "the coefficient of 'a'"),
    "text as a coefficient": (change("coef", ["1"], 0), "the coefficient of 'a'"),
    "negative column": (change("column", -1, 0), "'a' is column -1 of 6"),
    "column beyond the last": (change("column", 6, 0), "'a' is column 6 of 6"),
    "column that is not whole": (change("column", 1.5, 0), "'a' is column 1.5 of 6"),
    "the same column": (change("column", 2, 0), "same column"),
    "deviation": (change("deviation", NAN, 0), "the deviation of 'a'"),
    "unknown part of a feature": (change("weight", 1, 0), "a feature is"),
    "name": (change("name", 3, 0), "a feature is"),
    "intercept": (change("intercept", [NAN]), "its intercept"),
    "several intercepts": (change("intercept", [1.0, 2.0]), "its intercept"),
    "unknown part": (change("offset", 1.0), "'offset'"),
    "loss": (change("loss", "logistic"), "no loss 'logistic' .* for a task 'regression'"),
    "task": (change("task", "guess"), "task 'guess'"),
    "normalize": (change("normalize", "columns"), "normalised by 'columns'"),
    "classes": (change("classes", ["x", "y"]), "classes of a regression"),
    "classes that are no list": (change("classes", "1e999"), "classes of a regression"),
    "width": (change("n_features", None), "None is no number of features"),
    "features": (change("features", {}), "its features are no list"),
    "encoding": (change("encoding", []), "encoding"),
    "missing mean": (of_column(mean=None), "'mean' of column 'a' is None"),
    "mean NaN": (of_column(mean=NAN), "'mean' of column 'a' is nan"),
    "mean beyond all floats": (of_column(mean=10**400), "'mean' of column 'a' is a huge number"),
    "less than no entry in a row": (of_column(share_nonzero=-1e308), "column 'a' has no number of features"),
    "entries without end": (of_column(share_nonzero=1e308), "column 'a' has no number of features"),
    "kind of column": (of_column(kind="number2"), "no kind of column 'number2'"),
    "kind that is no text": (of_column(kind=["number"]), "no kind of column"),
    "unknown part of a column": (of_column(scale=2.0), "column 'a' holds 'scale', which this version"),
    "half a letter": (of_column(column="\ud800"), "not a text"),
    "width of a column": (of_column(kind="dense", mean=..., missing=..., size=3), "8 features, and it says 6"),
    "negative width": (of_column(kind="dense", mean=..., missing=..., size=-5), "-5 features"),
    "levels": (of_column(kind="category", mean=..., levels=["x", 3], rare=False), "'levels' of column 'a' is 3"),
    "endless buckets": (of_column(kind="hashed category", mean=..., missing=..., bits=99, bucket_names={}), "99 bits"),
    "month 40": (of_column(kind="date", origin=0, parts={"month": [1, 40]}), "no date has"),
    "unknown part of a date": (of_column(kind="date", origin=0, parts={"age": [1]}), "no date has"),
    "first index": (
        of_column(kind="sparse", mean=..., missing=..., values="v", size=1, first=2**31, per_row=1.0), "neither from 0"
    ),
    "no columns": (change("encoding", {**ENCODING, "encoders": None}), "'encoders' of the encoding is None"),
    "single": (change("encoding", {**ENCODING, "single": "no"}), "'single' of the encoding"),
    "classes of the target": (
        change("encoding", {**ENCODING, "target": {"column": "y", "classes": ["x", "z"]}}), "not those of its target"
    ),
    "the same class twice": (
        change("encoding", {**ENCODING, "target": {"column": "y", "classes": [1, 1]}}), "the same twice"
    ),
    "passes": (change("training", {"passes": "many"}), "'passes' of its training"),
    "proof": (change("training", {"proof": [{"kind": "duality-gap", "relative": 0}]}), "its proof lacks its 'tol'"),
    "objective": (change("objective", 3), "its objective is 3"),
    "half a letter in the objective": (change("objective", "\ud800"), "not a text"),
    "half a letter in a feature": (change("name", "\ud800", 0), "a feature is"),
}  # fmt: skip


def test_lists_in_lists_without_end_are_no_model(tmp_path):
    (tmp_path / "m.json").write_text("[" * 10**5)
    with pytest.raises(ModelFileError, match="not JSON"):
        riata.load_model(tmp_path / "m.json")


def test_lists_that_are_none_any_more(tmp_path):
    """Only the first of the two columns was looked at."""
    rows = pa.table(
        {"doc_indices": [[0], [1], [0, 1]] * 9, "doc_values": [[1.0], [2.0], [1.0, 3.0]] * 9, "y": [1.0, 2.0, 4.0] * 9}
    )
    model = riata.SparseRegressor(alpha=0.01).fit(riata.open(rows, target="y")).to_model()
    flat = rows.set_column(1, "doc_values", pa.array([1.0, 2.0, 4.0] * 9))
    with pytest.raises(DataError, match="'doc_values' is of double here, where the model has lists of numbers"):
        list(model.rows(flat, need_target=False).visit())


def test_a_target_whose_name_no_file_can_have(frame):
    rows = riata.open(frame.assign(**{"x" * 5000: frame["a"]}), target="x" * 5000)
    model = riata.SparseRegressor(alpha=0.05).fit(rows).to_model()
    with pytest.raises(DataError, match="has no column 'xxx"):
        model.rows(frame)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_model_that_cannot_be_is_refused(damage, frame, tmp_path):
    riata.SparseRegressor(alpha=0.05).fit(frame, frame["a"] - 2 * frame["c"]).to_model().save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    spoil, sentence = DAMAGES[damage]
    spoil(document)
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=f"m.json is a damaged riata model: .*{sentence}"):
        riata.load_model(tmp_path / "m.json")


def test_a_torn_file_gets_a_sentence(fitted, tmp_path):
    fitted.to_model().save(tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    for cut in range(0, len(text) - 2, 97):
        (tmp_path / "torn.json").write_text(text[:cut])
        with pytest.raises(ModelFileError):
            riata.load_model(tmp_path / "torn.json")
    with pytest.raises(ModelFileError, match="cannot read"):
        riata.load_model(tmp_path / "absent.json")


def test_a_stream_makes_a_model_too(frame):
    model = riata.SparseRegressor(k=2, solver="l0-sgd", standardize=False).partial_fit(frame, frame["a"]).to_model()
    assert len(model.names) <= 2


def test_scores_know_their_task(fitted, frame):
    from riata.data.in_memory import InMemory

    model = fitted.to_model()
    numbers = InMemory(frame.to_numpy(), frame["a"], feature_names=list(frame.columns))
    if model.task == "regression":
        assert set(quality(model, numbers).scores) == {"r2", "rmse", "mae", "mse"}
    else:
        with pytest.raises(DataError, match="holds numbers"):
            quality(model, numbers)
        unknown = InMemory(frame.to_numpy(), np.arange(90) % 2, classes=np.array(["x", "?"]))
        with pytest.raises(DataError, match="label '\\?'"):
            quality(model, unknown)


def test_numbers_of_numpy_can_be_saved(frame, tmp_path):
    X, y = frame.to_numpy(), frame["a"] - 2 * frame["c"]
    riata.SparseRegressor(k=np.int64(2)).fit(X, y).to_model().save(tmp_path / "k.json")
    riata.SparseRegressor(alpha=np.float32(0.1)).fit(X, y).to_model().save(tmp_path / "alpha.json")
    assert riata.load_model(tmp_path / "k.json").training.parameters["k"] == 2
    assert riata.load_model(tmp_path / "alpha.json").training.alpha == pytest.approx(0.1)


def test_training_facts_go_to_a_file_and_back(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = riata.SparseRegressor(k=2).fit(X, X[:, 0] - X[:, 3])
    assert model.stop_ is StopReason.SWAP_OPTIMAL
    assert model.proof_ == SwapOptimal(k=2, n_others=3, size=2)
    model.to_model().save(tmp_path / "m.json")
    written = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["training"]
    assert written["stop"] == ["swap-optimal"]
    assert written["proof"][0]["kind"] == "swap-optimal"
    assert riata.load_model(tmp_path / "m.json").training == model.to_model().training


def test_training_facts_of_an_earlier_version_are_read(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 5))
    riata.SparseRegressor(alpha=0.1).fit(X, X[:, 0]).to_model().save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    for name in ("stop", "proof", "counted"):
        del document["training"][name]
    document["training"]["of a later version"] = 3
    (tmp_path / "m.json").write_text(json.dumps(document), encoding="utf-8")
    training = riata.load_model(tmp_path / "m.json").training
    assert training.converged
    assert "duality gap" in training.stopped_because
    assert training.stop == []
    assert training.counted is None


def test_every_class_has_its_own_reason(rng):
    X = rng.normal(size=(90, 4))
    model = riata.SparseClassifier(alpha=0.05, loss="logistic").fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert model.stop_ == [StopReason.CERTIFIED_GAP] * 3
    assert all(proof.holds for proof in model.proof_)


@pytest.mark.parametrize("loss", ["squared", "poisson", "gamma", "tweedie:1.7", "negative-binomial:2"])
def test_a_file_that_names_no_link_has_that_of_its_loss(loss, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    model = riata.SparseRegressor(loss=loss, alpha=0.01).fit(X, 0.5 + rng.poisson(np.exp(X[:, 0])))
    model.to_model().save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["link"] == ("identity" if loss == "squared" else "exp")
    del document["link"]  # as it was before links were named
    (tmp_path / "model.json").write_text(json.dumps(document))
    assert_allclose(riata.load_model(tmp_path / "model.json").predict(X), model.predict(X))
    (tmp_path / "model.json").write_text(json.dumps(document | {"link": "loglog"}))
    with pytest.raises(ModelFileError, match="'loglog'"):
        riata.load_model(tmp_path / "model.json")


def test_norms_of_rows_need_the_columns_of_the_fit_and_no_others(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    model = riata.SparseRegressor(k=2, normalize="rows").fit(frame, frame["a"]).to_model()
    with pytest.raises(DataError, match="exactly the 3 columns"):
        model.predict(frame.assign(z=100.0))


def test_a_target_that_is_a_column_of_an_array(rng):
    X = rng.normal(size=(30, 4))
    for rows in (X, sp.csr_array(X)):
        data = riata.open(rows, 1)
        assert_allclose(data.chunk.X.toarray(), X[:, [0, 2, 3]])
        assert_allclose(data.targets()[0], X[:, 1])
        with pytest.raises(DataError, match="no column 9 to predict"):
            riata.open(rows, 9)


def test_class_weights_are_for_classes_and_are_numbers(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    with pytest.raises(OptionError, match="class_weight is for classes"):
        riata.train(riata.open(X, y), riata.Spec(k=1, class_weight="balanced"))
    with pytest.raises(OptionError, match="class_weight must be zero or more"):
        riata.train(riata.open(X, y > 0), riata.Spec(k=1, loss="logistic", class_weight={True: "x"}))


def test_predictions_that_are_no_numbers_are_refused(rng, tmp_path):
    """An exponential that overflows was written as inf."""
    X = rng.normal(size=(200, 2))
    estimator = riata.SparseRegressor(loss="poisson", alpha=0.001).fit(X, rng.poisson(np.exp(X[:, 0])))
    model = estimator.to_model()
    np.save(tmp_path / "rows.npy", far := np.array([[0.0, 0.0], [1e6, 0.0]]))
    for predict in (estimator.predict, model.predict):
        assert np.isfinite(predict(far[:1])).all()
        with pytest.raises(DataError, match="some predictions are too large to be numbers"):
            predict(far)
    with pytest.raises(DataError, match="some predictions are too large to be numbers"):
        list(predictions(model, model.rows(str(tmp_path / "rows.npy"), need_target=False)))

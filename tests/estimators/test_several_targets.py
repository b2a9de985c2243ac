"""Several targets through the doors that people use: estimator, files, model file, selection, scores, refusals."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import r2_score

import riata
from riata.cli import main
from riata.data.opening.convert import convert
from riata.data.out_of_core import OutOfCore
from riata.errors import DataError, OptionError
from riata.model.predictions import predictions
from riata.model.quality import quality

N, NAMES = 5000, ["a", "b", "c"]
OPTIONS = {"alpha": 0.1, "tol": 1e-9}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 8)) * np.exp(rng.normal(size=8)) + rng.normal(size=8)
    W = np.zeros((8, 3))
    W[:3] = rng.normal(size=(3, 3)) / X[:, :3].std(axis=0)[:, None]
    return X, X @ W + rng.normal(size=(N, 3)) + [1e6, 0.0, -5.0], rng.integers(0, 3, N).astype(float)


@pytest.fixture(scope="module")
def frame(rows):
    X, Y, weight = rows
    columns = {f"x{j}": X[:, j] for j in range(8)} | {name: Y[:, k] for k, name in enumerate(NAMES)}
    return pd.DataFrame(columns | {"weight": weight})


@pytest.fixture(scope="module")
def fitted(rows):
    return riata.SparseRegressor(**OPTIONS).fit(*rows)


@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_the_objective_is_that_of_scikit_learn(rows, alpha):
    X, Y, _ = rows
    found = riata.SparseRegressor(alpha=alpha, standardize=False, tol=1e-9).fit(X, Y)
    other = MultiTaskLasso(alpha=alpha, tol=1e-10, max_iter=10**5).fit(X, Y)

    def objective(of):
        residuals = Y - X @ of.coef_.T - of.intercept_
        return 0.5 * np.sum(residuals**2) / N + alpha * np.linalg.norm(of.coef_, axis=0).sum()

    assert_allclose(found.objective_, objective(found), rtol=1e-9)
    assert_allclose(objective(found), objective(other), rtol=1e-7)
    assert found.coef_.shape == (3, 8)
    assert found.gap_ <= 1e-9
    assert_allclose(found.predict(X), X @ found.coef_.T + found.intercept_)
    assert_allclose(found.score(X, Y), r2_score(Y, found.predict(X)))


def test_a_support_per_target_is_that_of_fits_one_by_one(rows):
    X, Y, weight = rows
    together = riata.SparseRegressor(shared_support=False, l1_ratio=0.7, **OPTIONS).fit(X, Y, weight)
    for k in range(3):
        alone = riata.SparseRegressor(l1_ratio=0.7, **OPTIONS).fit(X, Y[:, k], weight)
        assert_allclose(together.coef_[k], alone.coef_, atol=1e-6)
        assert_allclose(together.intercept_[k], alone.intercept_, rtol=1e-9)


def from_csv(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return riata.open(folder / "rows.csv", "a,b,c", weight="weight", memory="1MB")


def from_parquet(frame, folder):
    frame.to_parquet(folder / "rows.parquet")
    return riata.open(folder / "rows.parquet", NAMES, weight="weight", memory="1MB", cache=False)


def from_converted(frame, folder):
    convert(riata.open(frame, NAMES, weight="weight"), folder / "rows.arrow")
    return riata.open(folder / "rows.arrow", NAMES, memory="1MB")


def from_stream(frame, folder):
    chunks = (frame.iloc[i : i + 700] for i in range(0, N, 700))
    return riata.open(chunks, NAMES, weight="weight")


SOURCES = {
    "csv": from_csv,
    "parquet": from_parquet,
    "converted": from_converted,
    "stream": from_stream,
    "frame": lambda frame, _: riata.open(frame, NAMES, weight="weight"),
    "arrow": lambda frame, _: riata.open(pa.Table.from_pandas(frame), NAMES, weight="weight"),
    "beside": lambda frame, _: riata.open(frame.drop(columns=NAMES), frame[NAMES], weight="weight"),
    "numbers": lambda frame, _: riata.open(frame.to_numpy()[:, :11], [8, 9, -1], weight=frame["weight"].to_numpy()),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_model_is_the_same_from_every_source(source, frame, fitted, tmp_path):
    data = SOURCES[source](frame, tmp_path)
    if source in ("csv", "parquet", "converted"):
        assert isinstance(data, OutOfCore)
    found = riata.train(data, riata.Spec(**OPTIONS))
    assert_allclose(found.coef, fitted.coef_, atol=1e-7)
    assert_allclose(found.intercept, fitted.intercept_, atol=1e-6)
    model = found.to_model()
    assert model.targets == (["y0", "y1", "y2"] if source == "numbers" else NAMES)
    assert_allclose(model.score(data), r2_score(frame[NAMES], fitted.predict(frame.iloc[:, :8].to_numpy()),
                                                sample_weight=frame["weight"]))  # fmt: skip


def test_categories_gaps_and_missing_targets(frame, tmp_path):
    X = frame.drop(columns=[*NAMES, "weight"]).assign(kind=np.where(frame["x3"] > 0, "u", "v"))
    X.loc[3, "x1"] = np.nan
    model = riata.SparseRegressor(**OPTIONS).fit(X, frame[NAMES])
    assert model.coef_.shape == (3, 10)  # of one of two levels, and of gaps
    assert model.predict(X).shape == (N, 3)
    assert model.to_model().targets == NAMES
    gaps = frame.assign(b=frame["b"].where(frame.index != 7))
    data = riata.open(gaps, NAMES)
    assert data.n_rows == N - 1
    assert "1 of 5000 rows are without a target: left out" in data.profile.notes


def test_a_saved_model_predicts_and_scores_each_target(frame, fitted, tmp_path):
    model = riata.train(riata.open(frame, NAMES, weight="weight"), riata.Spec(**OPTIONS)).to_model()
    model.save(tmp_path / "m.json")
    kept = riata.load_model(tmp_path / "m.json")
    assert (kept.targets, kept.target) == (NAMES, "a, b, c")
    X = frame.drop(columns=NAMES)
    expected = fitted.predict(frame.iloc[:, :8].to_numpy())
    assert_allclose(kept.predict(X), expected)
    (table,) = predictions(kept, kept.rows(X, need_target=False))
    assert table.column_names == ["prediction_a", "prediction_b", "prediction_c"]
    found = quality(kept, riata.open(frame, NAMES))
    for k, name in enumerate(NAMES):
        assert_allclose(found.by_target[name].scores["r2"], r2_score(frame[name], expected[:, k]))
    assert_allclose(found.scores["r2"], r2_score(frame[NAMES], expected))
    means = np.average(frame[NAMES], axis=0, weights=frame["weight"])
    assert_allclose(kept.training.baseline, means)
    with pytest.raises(DataError, match="the model predicts 3, 'a', 'b', 'c', and the target here is 'a'"):
        kept.score(frame, "a")


@pytest.mark.parametrize("select", ["cv", "bic", "validation"])
def test_alpha_is_chosen_for_all_targets_at_once(rows, select):
    X, Y, _ = rows
    beside = {"validation": (X[:100], Y[:100])} if select == "validation" else {}
    model = riata.SparseRegressor(alpha="auto", n_alphas=10, select=select, cv=3).fit(X, Y, **beside)
    assert isinstance(model.alpha_, float)
    assert {0, 1, 2} <= set(model.get_support(indices=True))
    assert (model.coef_ != 0).any(axis=0).tolist() == (model.coef_ != 0).all(axis=0).tolist()
    if select == "cv":
        assert 0.8 < model.selection_.scores.min() < 1.2  # the mean squared error over rows and targets
        few = riata.SparseRegressor(alpha="auto", k=2, n_alphas=10).fit(X, Y)
        assert len(few.get_support(indices=True)) <= 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    {
        "groups": ({"k": 2, "groups": [0, 0, 1, 1, 2, 2, 3, 3]}, "groups beside k go with losses of one margin"),
        "certify": ({"k": 2, "certify": True}, "certify is for losses of one margin for each row by itself"),
        "of each": ({"k": 2, "shared_support": False}, "k counts features, which all classes or targets share"),
        "solver": ({"solver": "online"}, "3 targets at once go with solvers 'exact' and 'best-k', not with 'online'"),
        "loss": ({"loss": "huber"}, "loss 'huber' is of one target, and there are 3"),
        "l2": ({"alpha": 0.1, "l1_ratio": 0.5}, "a shared support has no l1_ratio: leave it at 1, or say"),
    }.values(),
)
def test_what_is_of_one_target_gets_a_sentence(rows, options, sentence):
    X, Y, _ = rows
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**options).fit(X, Y)


def test_wrong_targets_get_a_sentence(frame):
    X, Y = frame.iloc[:, :8].to_numpy(), frame[NAMES].to_numpy()
    with pytest.raises(DataError, match="the target 'y1' has the same value, 2, in every row"):
        riata.SparseRegressor(alpha=0.1).fit(X, np.column_stack([Y[:, 0], np.full(N, 2.0)]))
    with pytest.raises(OptionError, match="there is no offset for 3 targets at once"):
        riata.SparseRegressor(alpha=0.1).fit(X, Y, offset=np.ones(N))
    with pytest.raises(OptionError, match="partial_fit learns one target"):
        riata.SparseRegressor(solver="online").partial_fit(X, Y)
    with pytest.raises(DataError, match="there is no column 'cc'; did you mean 'c'"):
        riata.open(frame, ["a", "b", "cc"])
    with pytest.raises(DataError, match="the target 'a' is named twice"):
        riata.open(frame, "a,b,a")
    for named in ("0,1,0", [0, -8]):
        with pytest.raises(DataError, match="the target names a column twice"):
            riata.open(X, named)
    with pytest.raises(OptionError, match="3 targets at once go with solvers 'exact'"):
        riata.train(riata.open(frame, NAMES, one_pass=True), riata.Spec(solver="online"))
    with pytest.raises(OptionError, match="sample_negatives would do nothing: it is for one target"):
        riata.open(frame, NAMES, sample_negatives=0.5)
    with pytest.raises(DataError, match="have 3 targets, and the validation set has 1 target"):
        riata.SparseRegressor(alpha="auto", select="validation").fit(X, Y, validation=(X, Y[:, 0]))
    model = riata.SparseRegressor(alpha=0.1).fit(riata.open(frame[:99], NAMES)).to_model()
    with pytest.raises(DataError, match="the data has no column 'a', the target"):
        model.score(frame.drop(columns=NAMES))
    with pytest.raises(DataError, match="the model predicts 'a', 'b', 'c': name them in that order"):
        model.score(frame, ["c", "b", "a"])


def test_the_command_line_names_targets_with_commas(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.rename(columns={"c": "c, net"}).to_csv("rows.csv", index=False)

    def run(*arguments):
        done = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done

    target = 'a,b,"c, net"'
    run("fit", "rows.csv", "--target", target, "--alpha", "0.1", "--drop", "weight", "--report", "page.html", "--quiet")
    model = riata.load_model("rows.riata.json")
    assert model.targets == ["a", "b", "c, net"]
    page = (tmp_path / "page.html").read_text()
    assert "It predicts 3 targets at once" in page
    assert "the length of the coefficients of every feature" in page
    scores = json.loads(run("evaluate", "rows.riata.json", "rows.csv", "--json").stdout)
    assert list(scores["by_target"]) == model.targets
    assert_allclose(scores["r2"], np.mean([one["r2"] for one in scores["by_target"].values()]))
    printed = run("evaluate", "rows.riata.json", "rows.csv").output
    assert "Scores are means over the 3 targets" in " ".join(printed.split())
    assert run("predict", "rows.riata.json", "rows.csv").stdout.startswith(
        '"prediction_a","prediction_b","prediction_c'
    )
    run("fit", "rows.csv", "--target", target, "--alpha", "0.1", "--no-shared-support", "--drop", "weight", "--quiet")
    refused = CliRunner().invoke(main, ["fit", "rows.csv", "--target", target, "--k", "2", "--certify"])
    assert refused.exit_code == 2

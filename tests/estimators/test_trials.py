"""Successes of trials through the doors that people use: the same model as of every trial in a row of its own."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import riata
from riata.cli import main
from riata.data.opening.convert import convert
from riata.data.out_of_core import OutOfCore
from riata.errors import DataError, OptionError

N, OPTIONS = 5000, {"alpha": 0.01, "tol": 1e-9}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6)) * np.exp(rng.normal(size=6))
    trials = rng.integers(0, 6, N)
    margin = X[:, 0] / X[:, 0].std() - 0.7 * X[:, 3] / X[:, 3].std() - 1.0
    successes = rng.binomial(trials, 1.0 / (1.0 + np.exp(-margin)))
    columns = {f"x{j}": X[:, j] for j in range(6)}
    return pd.DataFrame(columns | {"cured": successes, "treated": trials, "weight": rng.integers(1, 3, N)})


@pytest.fixture(scope="module")
def arrays(frame):
    columns = [frame.iloc[:, :6], *(frame[name] for name in ("cured", "treated", "weight"))]
    return tuple(column.to_numpy(dtype=np.float64) for column in columns)


def one_by_one(X, successes, trials, *more):
    """Every trial as a row of its own, with a label."""
    rows = np.repeat(np.arange(len(X)), trials.astype(int))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(trials) - trials, trials.astype(int))
    return X[rows], place < successes[rows], *(one[rows] for one in more)


@pytest.fixture(scope="module")
def repeated(arrays):
    X, labels, weight = one_by_one(*arrays)
    return riata.SparseClassifier(**OPTIONS).fit(X, labels, weight)


@pytest.fixture(scope="module")
def fitted(arrays):
    X, successes, trials, weight = arrays
    return riata.SparseRegressor(loss="binomial", **OPTIONS).fit(X, successes, weight, trials=trials)


def test_it_is_the_logistic_regression_of_all_trials(arrays, fitted, repeated):
    X, successes, trials, weight = arrays
    assert_allclose(fitted.coef_, repeated.coef_[0], atol=1e-8)
    assert_allclose(fitted.intercept_, repeated.intercept_[0], atol=1e-8)
    assert_allclose(fitted.predict(X), repeated.predict_proba(X)[:, 1], atol=1e-9)
    there = trials > 0
    shares = riata.SparseRegressor(loss="binomial", **OPTIONS)
    shares.fit(X[there], successes[there] / trials[there], weight[there] * trials[there])
    assert_allclose(shares.coef_, fitted.coef_, atol=1e-9)
    assert 0.1 < fitted.score(X, successes, weight, trials=trials) < 1.0


@pytest.mark.parametrize("options", [{"k": 2}, {"alpha": "auto", "select": "bic", "n_alphas": 8}])
def test_best_k_and_criteria_count_trials(arrays, options):
    X, successes, trials, _ = arrays
    few = riata.SparseRegressor(loss="binomial", tol=1e-9, **options).fit(X, successes, trials=trials)
    other = riata.SparseClassifier(tol=1e-9, **options).fit(*one_by_one(X, successes, trials))
    assert_allclose(few.coef_, other.coef_[0], atol=1e-6)
    if "k" in options:
        assert few.get_support(indices=True).tolist() == [0, 3]
    else:
        assert_allclose(few.alpha_, other.alpha_)


def test_rows_are_learnt_as_they_come(arrays):
    X, successes, trials, _ = arrays
    model = riata.SparseRegressor(loss="binomial", solver="online", k=2)
    for i in range(0, N, 1000):
        part = slice(i, i + 1000)
        model.partial_fit(X[part], successes[part], trials=trials[part])
    assert model.get_support(indices=True).tolist() == [0, 3]


def from_csv(frame, folder, **how):
    frame.to_csv(folder / "rows.csv", index=False)
    return riata.open(folder / "rows.csv", "cured", memory="1MB", **how)


def from_converted(frame, folder, **how):
    convert(riata.open(frame, "cured", **how), folder / "rows.arrow")
    return riata.open(folder / "rows.arrow", memory="1MB")


SOURCES = {
    "csv": from_csv,
    "converted": from_converted,
    "frame": lambda frame, _, **how: riata.open(frame, "cured", **how),
    "array": lambda frame, _, **how: riata.open(
        frame.iloc[:, :6].to_numpy(), frame["cured"], **{role: frame[name] for role, name in how.items()}
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_model_is_the_same_from_every_source(source, frame, fitted, tmp_path):
    data = SOURCES[source](frame, tmp_path, trials="treated", weight="weight")
    assert isinstance(data, OutOfCore) == (source in ("csv", "converted"))
    found = riata.train(data, riata.Spec(loss="binomial", **OPTIONS))
    assert_allclose(found.coef[0], fitted.coef_, atol=1e-7)
    model = found.to_model()
    assert_allclose(model.training.baseline, data.target_moments.y_mean)
    if source != "array":
        model.save(tmp_path / "m.json")
        kept = riata.load_model(tmp_path / "m.json")
        assert_allclose(
            kept.predict(frame.drop(columns=["cured", "treated"])),
            fitted.predict(frame.iloc[:, :6].to_numpy()),
            atol=1e-7,
        )
        assert_allclose(kept.score(data), kept.score(frame))
        with pytest.raises(DataError, match=r"there is no column 'treated'.*it has the trials of the successes"):
            kept.score(frame.drop(columns="treated"))


def test_the_command_line_takes_the_loss_from_trials(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("rows.csv", index=False)

    def run(*arguments):
        done = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    run("fit", "rows.csv", "--target", "cured", "--trials", "treated", "--k", "2", "--report", "page.html", "--quiet")
    model = riata.load_model("rows.riata.json")
    assert (model.loss, sorted(model.names)) == ("binomial", ["x0", "x3"])
    scores = json.loads(run("evaluate", "rows.riata.json", "rows.csv", "--json"))
    assert 0.05 < scores["deviance_explained"] < 1.0
    assert "binomial loss (half the deviance of shares)" in (tmp_path / "page.html").read_text()


def wrong(frame, column, value):
    changed = frame.astype({column: float})
    changed.loc[7, column] = value
    return changed


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("cured", -1.0, "there are -1 successes of . trials, and successes are a whole number from zero"),
        ("cured", 0.5, "there are 0.5 successes of . trials, and successes are a whole number from zero"),
        ("cured", 99.0, "there are 99 successes of . trials"),
        ("treated", -2.0, "there are -2 trials, and trials are a whole number of zero or more"),
        ("treated", 2.5, "there are 2.5 trials, and trials are a whole number of zero or more"),
    ],
)
def test_wrong_counts_get_a_sentence(frame, column, value, sentence):
    rows = wrong(frame, column, value)
    with pytest.raises(DataError, match=f"row 8: {sentence}"):
        riata.open(rows, "cured", trials="treated")
    with pytest.raises(DataError, match=f"row 8: {sentence}"):
        riata.SparseRegressor(loss="binomial").fit(rows.iloc[:, :6], rows["cured"], trials=rows["treated"])


def test_what_does_not_go_together_gets_a_sentence(frame, arrays):
    X, successes, trials, _ = arrays
    with pytest.raises(OptionError, match="whose shares loss 'binomial' takes, and not 'squared'"):
        riata.SparseRegressor().fit(X, successes, trials=trials)
    with pytest.raises(OptionError, match="whose shares loss 'binomial' takes, and not 'poisson'"):
        riata.train(riata.open(frame, "cured", trials="treated"), riata.Spec(loss="poisson", alpha=0.1))
    with pytest.raises(DataError, match="the binomial loss is for shares: give successes beside their trials"):
        riata.SparseRegressor(loss="binomial", alpha=0.1).fit(X, successes)
    counts = riata.SparseRegressor(loss="binomial", alpha=0.01).fit(X[:99], successes[:99], trials=trials[:99])
    with pytest.raises(DataError, match="the binomial loss is for shares: give successes beside their trials"):
        counts.score(X, successes)
    with pytest.raises(OptionError, match="trials go with successes, whose share is a number"):
        riata.open(frame, "cured", trials="treated", task="classification")
    with pytest.raises(DataError, match="row 2: the trials are missing"):
        riata.open(X, successes, trials=np.where(np.arange(len(trials)) == 1, np.nan, trials))
    gaps = wrong(frame, "treated", np.nan)
    assert riata.open(gaps, "cured", trials="treated").n_rows == np.count_nonzero(gaps["treated"] > 0)

"""Models as SQL give what `predict` gives: run by DuckDB on mixed tables with gaps."""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import riata
from riata.cli import main
from riata.errors import DataError, OptionError


def mixed(rng, n=400):
    """Numbers, booleans, levels, dates and whole numbers, with gaps and names that need quoting."""
    frame = pd.DataFrame({
        "size": rng.normal(size=n),
        'odd "name"': rng.normal(size=n) * 1e-3,
        "kind": rng.choice(["a", "b's", "c;--", "ü"], n),
        "many": rng.choice([f"level{j}" for j in range(5)] * 20 + ["rare1", "rare2"], n),
        "flag": rng.random(n) < 0.5,
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 24 * 700, n), unit="h"),
    })  # fmt: skip
    for column in ("size", "kind", "day"):
        frame.loc[rng.random(n) < 0.15, column] = None
    return frame


def signal(frame, rng):
    day = frame["day"].dt
    return (
        frame["size"].fillna(3.0) + 2.0 * (frame["kind"] == "b's") - (frame["kind"].isna()) + frame["flag"]
        + 500.0 * frame['odd "name"'] + 0.5 * (day.month == 5) - 0.7 * (day.day_of_week == 6) + 0.6 * (day.hour == 13)
        + frame["day"].isna() + rng.normal(size=len(frame))
    ).to_numpy()  # fmt: skip


def run(frame, *expressions):
    """The columns that these expressions give for the rows of a frame, in their order."""
    table = frame.assign(row_number=np.arange(len(frame)))
    with duckdb.connect() as database:
        database.register("t", table)
        found = database.sql(f"SELECT {', '.join(expressions)} FROM t ORDER BY row_number").fetchall()
    return np.array(found, dtype=float)


NUMBERS = ["squared", "poisson", "huber", "quantile:0.7"]


@pytest.mark.parametrize("loss", NUMBERS)
def test_numbers_are_those_of_predict(rng, loss):
    frame = mixed(rng)
    y = signal(frame, rng)
    y = rng.poisson(np.exp(0.2 * y)) if loss == "poisson" else y
    model = riata.SparseRegressor(alpha_ratio=0.001, loss=loss).fit(frame, y).to_model()
    assert {"size", "size=(missing)", "kind=b's", "flag", 'odd "name"', "day.days"} <= set(model.names)
    for part in ("day.month=", "day.weekday=", "day.hour=", "many="):
        assert any(name.startswith(part) for name in model.names)
    later = mixed(rng)
    later.loc[:5, "kind"] = "never seen"
    assert_allclose(run(later, model.to_sql())[:, 0], model.predict(later), rtol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "cloglog", "squared-hinge"])
def test_two_classes_have_a_probability_or_a_margin(rng, loss):
    frame = mixed(rng)
    y = np.where(signal(frame, rng) > 1.0, "yes", "no")
    model = riata.SparseClassifier(k=8, loss=loss, ridge=0.01).fit(frame, y).to_model()
    expected = model.margins(frame).ravel() if loss == "squared-hinge" else model.predict_proba(frame)[:, 1]
    assert_allclose(run(frame, model.to_sql())[:, 0], expected, rtol=1e-6)


def test_several_classes_have_a_margin_each_on_the_command_line_too(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = mixed(rng)
    y = np.array(["low", "mid", 'hi"gh'])[np.digitize(signal(frame, rng), [0.0, 2.0])]
    model = riata.SparseClassifier(alpha=0.01).fit(frame, y).to_model()
    model.save("m.json")
    done = CliRunner().invoke(main, ["inspect", "m.json", "--sql"])
    assert done.exit_code == 0, done.output
    assert_allclose(run(frame, done.stdout), model.margins(frame), rtol=1e-6, atol=1e-9)
    with pytest.raises(OptionError, match="name one of 'hi"):
        model.to_sql()
    assert "the margin" in done.stderr


def test_products_exposures_and_arrays(rng):
    frame = mixed(rng)[["size", "kind", "flag"]].assign(years=rng.uniform(0.5, 2.0, 400))
    frame["claims"] = rng.poisson(frame["years"] * np.exp(0.3 * frame["size"].fillna(0.0) * (frame["kind"] == "a")))
    data = riata.open(frame, "claims", task="regression", exposure="years", interactions=[("size", "kind")])
    model = riata.train(data, riata.Spec(alpha_ratio=0.01, loss="poisson")).to_model()
    assert any("*" in name for name in model.names)
    assert_allclose(run(frame, model.to_sql())[:, 0], model.predict(frame), rtol=1e-6)
    X = rng.normal(size=(50, 3))
    plain = riata.SparseRegressor(k=2).fit(X, X[:, 0] - X[:, 2]).to_model()
    named = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    assert_allclose(run(named, plain.to_sql())[:, 0], plain.predict(X), rtol=1e-6)


def test_rare_levels_are_all_that_are_not_named(rng):
    frame = pd.DataFrame({"many": [f"l{j}" for j in range(3)] * 400 + [f"r{j}" for j in range(8)]})
    y = (frame["many"].str.startswith("r") * 5.0 + 0.1 * rng.normal(size=len(frame))).to_numpy()
    model = riata.SparseRegressor(k=2, ridge=0.001).fit(frame, y).to_model()
    assert "many=(rare)" in model.names
    later = pd.DataFrame({"many": ["l1", "r3", "new", None, "l2"]})
    assert_allclose(run(later, model.to_sql())[:, 0], model.predict(later), rtol=1e-6)


def test_what_sql_cannot_say_is_a_sentence(rng, tmp_path):
    words = [" ".join(rng.choice(["good", "bad", "fine", "poor", "long", "short"], 12)) for _ in range(200)]
    data = riata.open(pd.DataFrame({"review": words, "y": [text.count("good") for text in words]}), "y",
                      task="regression", text=["review"])  # fmt: skip
    model = riata.train(data, riata.Spec(k=1)).to_model()
    with pytest.raises(OptionError, match="which SQL cannot express"):
        model.to_sql()
    X = rng.normal(size=(40, 3))
    with pytest.raises(OptionError, match="divided by their norm"):
        riata.SparseRegressor(k=1, normalize="rows").fit(X, X[:, 0]).to_model().to_sql()
    with pytest.raises(OptionError, match="one output"):
        riata.SparseRegressor(k=1).fit(X, X[:, 0]).to_model().to_sql("y")


def test_a_backslash_is_no_way_out_of_a_string(rng):
    """Some databases take one before a quote for a sign that the quote is none."""
    hostile = ["\\' OR 1=1 --", "C:\\dir\\", "\\", "plain"]
    frame = pd.DataFrame({"kind": rng.choice(hostile, 400)})
    y = 2.0 * (frame["kind"] == hostile[0]) - 3.0 * (frame["kind"] == hostile[1]) + 0.1 * rng.normal(size=400)
    model = riata.SparseRegressor(alpha=0.001).fit(frame, y.to_numpy()).to_model()
    assert len(model.names) >= 3
    assert "\\" not in model.to_sql()
    assert_allclose(run(frame, model.to_sql())[:, 0], model.predict(frame), rtol=1e-6)
    named = riata.SparseRegressor(k=1).fit(frame.rename(columns={"kind": "a\\b"}), y.to_numpy()).to_model()
    with pytest.raises(OptionError, match="has a backslash"):
        named.to_sql()


def test_two_features_of_one_name_are_refused(rng):
    """As models had them before such columns were refused."""
    frame = pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50)})
    model = riata.SparseRegressor(k=2).fit(frame, rng.normal(size=50)).to_model()
    same = replace(model, names=["b", "b"])
    with pytest.raises(OptionError, match="the same name"):
        same.to_sql()
    with pytest.raises(DataError, match="two features of the model are called 'b'"):
        same.predict(frame)

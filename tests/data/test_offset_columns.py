"""Offsets and exposures as columns: of every source, in converted files and statistics, and of rows to predict."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from riata.data.opening.convert import convert
from riata.data.statistics import statistics_of
from riata.errors import DataError, OptionError
from riata.model.saved_model import load_model
from riata.training.spec import Spec

N = 8000
POISSON = Spec(loss="poisson", alpha=0.02, tol=1e-10)


@pytest.fixture
def claims(tmp_path, monkeypatch, rng):
    """Policies with years of exposure: two numbers, a level, and a count."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["age", "power"])
    frame["area"] = rng.choice(["town", "country"], N)
    frame["years"] = rng.uniform(0.1, 2.0, N)
    frame["noise"] = rng.normal(size=N)
    mean = frame["years"] * np.exp(0.5 * frame["age"] + 0.3 * (frame["area"] == "town"))
    frame["claims"] = rng.poisson(mean).astype(float)
    frame["log_years"] = np.log(frame["years"])
    frame.to_csv("claims.csv", index=False)
    pq.write_table(pa.Table.from_pandas(frame), "claims.parquet")
    return frame


def opened(source, **options):
    return riata.open(source, "claims", exposure="years", drop=["log_years"], task="regression", **options)


def assert_same(a, b, tolerance=1e-6):
    np.testing.assert_allclose(a.coef, b.coef, atol=tolerance)
    np.testing.assert_allclose(a.intercept, b.intercept, atol=tolerance)


@pytest.mark.parametrize("source", ["claims.csv", "claims.parquet"])
@pytest.mark.parametrize("how", [{}, {"memory": "1MB"}, {"memory": "1MB", "cache": False}])
def test_files_in_memory_and_beyond(claims, source, how):
    expected = riata.train(opened(claims), POISSON)
    data = opened(source, **how)
    assert data.cheap_passes == (not how)
    assert "years" not in data.feature_names
    assert_same(riata.train(data, POISSON), expected)


def test_an_offset_is_the_logarithm_of_an_exposure(claims):
    by_offset = riata.open(claims, "claims", offset="log_years", drop=["years"], task="regression")
    assert_same(riata.train(by_offset, POISSON), riata.train(opened(claims), POISSON))


def test_columns_arrays_and_files_of_their_own(claims):
    expected = riata.train(opened(claims), POISSON)
    rest = claims.drop(columns=["years", "log_years"])
    by_array = riata.open(rest, "claims", exposure=claims["years"].to_numpy(), task="regression")
    assert_same(riata.train(by_array, POISSON), expected)
    np.save("years.npy", claims["years"].to_numpy())
    by_file = riata.open(rest, "claims", exposure="years.npy", task="regression")
    assert_same(riata.train(by_file, POISSON), expected)


def test_streams_of_tuples_bring_their_offsets(claims):
    X, y, offset = claims[["age", "power"]].to_numpy(), claims["claims"].to_numpy(), claims["log_years"].to_numpy()
    rows = np.array_split(np.arange(N), 4)
    stream = riata.open((X[r], y[r], np.ones(len(r)), offset[r]) for r in rows)
    assert_same(riata.train(stream, POISSON), riata.train(riata.open(X, y, offset=offset), POISSON))


def test_a_converted_file_keeps_the_offsets(claims):
    convert(opened(claims), "rows.arrow")
    data = riata.open("rows.arrow", exposure="years")
    assert_same(riata.train(data, POISSON), riata.train(opened(claims), POISSON))
    with pytest.raises(OptionError, match="offset cannot be 'age' any more"):
        riata.open("rows.arrow", offset="age")


def test_statistics_are_of_what_the_offset_leaves_over(claims):
    spec = Spec(k=2)
    data = riata.open(claims, "claims", offset="log_years", drop=["years"], task="regression")
    statistics_of(data).save("day.stats")
    found = riata.train(riata.open("day.stats"), spec)
    assert_same(found, riata.train(data, spec), 1e-8)
    assert found.to_model().offset == data.facts.offset


def test_a_model_asks_new_rows_for_its_column(claims):
    found = riata.train(opened(claims), POISSON)
    found.to_model().save("model.json")
    model = load_model("model.json")
    assert model.offset.column == "years"
    assert model.offset.exposure
    rates = model.predict(claims.assign(years=1.0))
    np.testing.assert_allclose(model.predict(claims), claims["years"] * rates)
    np.testing.assert_allclose(model.predict(claims, offset="log_years"), claims["years"] * rates)
    np.testing.assert_allclose(model.predict(claims, exposure=2.0 * claims["years"]), 2.0 * claims["years"] * rates)
    with pytest.raises(DataError, match=r"no column 'years'.*: it is the exposure that the model was fitted with"):
        model.predict(claims.drop(columns="years"))
    without = riata.open("claims.csv", "claims", task="regression")
    assert model.score(without) == pytest.approx(model.score(opened(claims)))


def test_models_and_rows_that_do_not_go_together(claims):
    X, y = claims[["age", "power"]].to_numpy(), claims["claims"].to_numpy()
    with_it = riata.train(riata.open(X, y, exposure=claims["years"]), POISSON).to_model()
    plain = riata.train(riata.open(X, y), POISSON).to_model()
    with pytest.raises(DataError, match=r"fitted to rows with an exposure, and these have none.*exposure=\.\.\."):
        with_it.score(riata.open(X, y))
    with pytest.raises(DataError, match="these rows have an offset, and those that the model was fitted to had none"):
        plain.score(riata.open(X, y, exposure=claims["years"]))
    with pytest.raises(OptionError, match="fitted without an offset"):
        plain.predict(X, offset=np.zeros(N))
    np.testing.assert_allclose(with_it.predict(X, exposure=np.full(N, 3.0)), 3.0 * with_it.predict(X))


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("exposure", 0.0, "the exposure in 'years' is 0; an exposure is a positive number"),
        ("exposure", np.nan, "the exposure in 'years' is nan"),
        ("offset", np.inf, "the offset in 'years' is inf; an offset is a finite number"),
    ],
)
def test_wrong_values_say_where(claims, column, value, sentence):
    claims.loc[6, "years"] = value
    claims.to_csv("wrong.csv", index=False)
    with pytest.raises(DataError, match=rf"wrong.csv.*8.*{sentence}"):
        riata.open("wrong.csv", "claims", **{column: "years"})
    with pytest.raises(DataError, match="row 7: " + sentence.replace(" in 'years'", "")):
        riata.open(claims[["age"]].to_numpy(), claims["claims"], **{column: claims["years"].to_numpy()})


def test_a_column_has_one_role(claims):
    with pytest.raises(DataError, match="'years' is the exposure, which cannot be part of a cross"):
        riata.open(claims, "claims", exposure="years", crosses=[("years", "area")])
    with pytest.raises(OptionError, match="give an offset or an exposure"):
        riata.open(claims, "claims", exposure="years", offset="log_years")
    with pytest.raises(DataError, match="there is no column 'year', nor a file of that name; did you mean 'years'"):
        riata.open(claims, "claims", exposure="year")


def test_estimators_take_frames(claims):
    X, y = claims[["age", "power", "area"]], claims["claims"]
    model = riata.SparseRegressor(loss="poisson", alpha=0.02).fit(X, y, exposure=claims["years"])
    rates = model.predict(X)
    np.testing.assert_allclose(model.predict(X, exposure=claims["years"]), claims["years"] * rates)
    other = riata.SparseRegressor(loss="poisson", alpha=0.02).fit(X, y)
    assert model.score(X, y, exposure=claims["years"]) > other.score(X, y)
    chosen = riata.SparseRegressor(loss="poisson", alpha="auto", select="validation")
    chosen.fit(X, y, exposure=claims["years"], validation=(X, y, None, claims["years"]))
    assert chosen.get_support().any()

"""Estimators take frames as they are: by the encoding of files, from every library, in pipelines and searches."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import riata
from riata.errors import DataError, OptionError


def mixed(n: int, seed: int, first_day: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "carrier": pd.Categorical(rng.choice(["UA", "AA", "DL"], n)),
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(3.0, 1.0, n)),
            "day": pd.Timestamp("2013-01-01") + pd.to_timedelta(first_day + np.arange(n) % 97, unit="D"),
            "dest": rng.choice(["SFO", "LAX", "JFK", None], n, p=[0.4, 0.3, 0.2, 0.1]),
            "seats": rng.integers(50, 400, n),
        }
    )


def answer(frame: pd.DataFrame) -> pd.Series:
    y = 4.0 * (frame["carrier"] == "UA") + 2.0 * frame["size"].fillna(3.0) + 0.01 * frame["seats"]
    return (y - 3.0 * (frame["dest"] == "LAX") + 0.1 * frame["day"].dt.day_of_year).rename("delay")


FRAME = mixed(400, 1)
Y = answer(FRAME)
LATER = mixed(120, 2, first_day=200)
LABELS = pd.Series(np.where(Y > Y.median(), "late", "early"), name="late")

FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "table": pa.Table.from_pandas,
    "record batch": lambda frame: pa.RecordBatch.from_pandas(frame),
    "stream": lambda frame: Exporting(pa.Table.from_pandas(frame)),
    "pandas of Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow").astype({"carrier": "category"}),
    "pandas, nullable": lambda frame: frame.convert_dtypes(),
}
TARGETS = {
    "pandas": lambda y: y,
    "category": lambda y: y.astype("category") if y.dtype.kind == "O" or y.dtype == "str" else y.astype("Float64"),
    "polars": pl.from_pandas,
    "arrow": lambda y: pa.array(y),
    "chunks": lambda y: pa.chunked_array([pa.array(y[:100]), pa.array(y[100:])]),
    "dictionary": lambda y: pa.array(y).dictionary_encode() if y.dtype.kind == "O" or y.dtype == "str" else pa.array(y),
    "list": list,
}


class Exporting:
    """A frame of a library that riata has never heard of, which speaks Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def regressor(**options):
    return riata.SparseRegressor(**{"alpha": 0.01, "tol": 1e-9, **options})


@pytest.fixture(scope="module")
def reference():
    """The fit to a dataset of the same rows, as a file would give it."""
    return regressor().fit(riata.open(FRAME.assign(delay=Y), "delay"))


@pytest.mark.parametrize("fit", FRAMES)
def test_every_frame_fits_and_predicts_as_a_file_does(fit, reference, tmp_path):
    fitted = regressor().fit(FRAMES[fit](FRAME), Y)
    np.testing.assert_allclose(fitted.coef_, reference.coef_, rtol=1e-6, atol=1e-9)
    assert list(fitted.get_feature_names_out()) == list(reference.get_feature_names_out())
    LATER.to_parquet(tmp_path / "later.parquet")
    expected = reference.predict(LATER)
    shuffled = LATER[["dest", "seats", "day", "size", "carrier"]].assign(more="x")
    ways = [make(LATER) for make in FRAMES.values()]
    for new in (
        *ways,
        shuffled,
        tmp_path / "later.parquet",
        riata.open(LATER.assign(delay=0.0), "delay", task="regression"),
    ):
        np.testing.assert_allclose(fitted.predict(new), expected, rtol=1e-6)
        np.testing.assert_allclose(fitted.to_model().predict(new), expected, rtol=1e-6)
    assert fitted.score(FRAMES[fit](LATER), answer(LATER)) == pytest.approx(
        reference.score(LATER.assign(delay=answer(LATER)))
    )


@pytest.mark.parametrize("kind", TARGETS)
def test_every_target_and_weight_is_taken(kind, reference):
    weights = np.where(np.arange(len(Y)) % 3, 1.0, 2.0)
    given = TARGETS[kind](pd.Series(weights))
    fitted = regressor().fit(pl.from_pandas(FRAME), TARGETS[kind](Y), sample_weight=given)
    expected = regressor().fit(riata.open(FRAME.assign(delay=Y, w=weights), "delay", weight="w"))
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    numbers = FRAME[["seats"]].assign(other=FRAME["size"].fillna(0.0))
    plain = regressor().fit(pl.from_pandas(numbers), TARGETS[kind](Y), sample_weight=given)
    np.testing.assert_allclose(plain.coef_, regressor().fit(numbers, Y, weights).coef_)
    for X in (FRAME, numbers):
        classifier = riata.SparseClassifier(alpha=0.01).fit(X, TARGETS[kind](LABELS))
        assert classifier.classes_.tolist() == ["early", "late"]
        assert classifier.score(X, TARGETS[kind](LABELS)) == (classifier.predict(X) == LABELS).mean() > 0.5


@pytest.mark.parametrize("labels", [Y > Y.median(), (Y > Y.median()).astype(int) * 3, np.digitize(Y, [5.0, 12.0])])
def test_labels_keep_their_type(labels):
    fitted = riata.SparseClassifier(alpha=0.01).fit(FRAME, labels)
    assert fitted.classes_.dtype == np.asarray(labels).dtype
    assert set(fitted.predict(LATER)) <= set(np.asarray(labels))
    assert fitted.score(FRAME, labels) > 0.6


def test_names_are_those_of_the_columns_and_features_those_of_the_encoding():
    fitted = regressor().fit(FRAME, Y)
    assert list(fitted.feature_names_in_) == list(FRAME)
    assert fitted.n_features_in_ == FRAME.shape[1]
    assert fitted.coef_.shape == fitted.get_support().shape
    names = fitted.get_feature_names_out()
    assert "carrier=UA" in names
    assert "size=(missing)" in riata.open(FRAME.assign(y=Y), "y").feature_names
    assert fitted.to_model().target == "delay"
    assert regressor().fit(FRAME[["size", "seats"]], Y).to_model().target == "delay"
    chosen = fitted.set_output(transform="pandas").transform(FRAME)
    assert list(chosen.columns) == list(names)
    np.testing.assert_array_equal(chosen["carrier=UA"] == 1.0, FRAME["carrier"] == "UA")
    many = FRAME.assign(level=[f"l{i % 60}" for i in range(400)])
    wide = riata.SparseRegressor(k=3).fit(many, Y).set_output(transform="pandas")
    assert wide.transform(many).shape == (400, 3)  # dense, though the features it is chosen from are sparse
    data = riata.open(FRAME.assign(delay=Y), "delay")
    np.testing.assert_array_equal(regressor().fit(data).transform(data), chosen)
    arrays = riata.open(FRAME[["seats"]].to_numpy(), Y.to_numpy())
    np.testing.assert_array_equal(regressor().fit(arrays).transform(arrays), FRAME[["seats"]])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(LATER), fitted.predict(LATER))


def test_numbers_without_gaps_are_a_matrix_as_before():
    numbers = FRAME[["seats"]].assign(other=FRAME["size"].fillna(0.0))
    for frame in (numbers, pl.from_pandas(numbers), pa.Table.from_pandas(numbers), numbers.convert_dtypes()):
        fitted = regressor().fit(frame, Y)
        assert fitted.trained_.encoding is None
        assert list(fitted.feature_names_in_) == ["seats", "other"]
        np.testing.assert_array_equal(fitted.coef_, regressor().fit(numbers.to_numpy(), Y).coef_)
        with pytest.raises(ValueError, match="same order"):
            fitted.predict(numbers[["other", "seats"]])


def test_gaps_in_new_rows_of_numbers_are_filled_with_means():
    numbers = FRAME[["seats"]].assign(other=FRAME["size"].fillna(0.0))
    gaps, means = numbers.assign(other=np.nan), numbers.assign(other=numbers["other"].mean())
    for X in (numbers, numbers.to_numpy()):
        fitted = regressor().fit(X, Y)
        like = type(X) if isinstance(X, pd.DataFrame) else np.asarray
        np.testing.assert_allclose(fitted.predict(like(gaps)), fitted.predict(like(means)))
    with pytest.raises(DataError, match="fill them in"):
        regressor(normalize="rows").fit(numbers, Y).predict(gaps)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_arrays_with_gaps_and_strings_have_columns_too():
    some = FRAME[["carrier", "size", "seats"]].astype({"carrier": object})
    named = regressor().fit(some, Y)
    array = some.to_numpy()
    assert array.dtype == object
    by_array = regressor().fit(array, Y)
    np.testing.assert_allclose(by_array.coef_, named.coef_, rtol=1e-9)
    assert by_array.n_features_in_ == 3
    assert not hasattr(by_array, "feature_names_in_")
    assert by_array.get_feature_names_out()[0].startswith("x0=")
    np.testing.assert_allclose(by_array.predict(array), named.predict(some))
    np.testing.assert_allclose(named.predict(array), named.predict(some))  # by position
    as_lists = regressor().fit(array.tolist(), Y)
    np.testing.assert_allclose(as_lists.predict(array.tolist()), named.predict(some))
    gaps = FRAME[["size", "seats"]]
    np.testing.assert_allclose(regressor().fit(gaps.to_numpy(), Y).coef_, regressor().fit(gaps, Y).coef_)
    with pytest.raises(DataError, match="2 columns, and the model was fitted to 3"):
        by_array.predict(array[:, :2])


def test_pipelines_and_searches_take_frames():
    for frame in (FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
        scores = cross_val_score(regressor(), frame, Y, cv=3, error_score="raise")
        assert scores.min() > 0.8
    search = GridSearchCV(regressor(), {"alpha": [0.01, 10.0]}, cv=3, error_score="raise").fit(FRAME, Y)
    assert search.best_params_ == {"alpha": 0.01}
    assert search.predict(LATER).shape == (120,)
    predicted = cross_val_predict(riata.SparseClassifier(alpha=0.01), FRAME, LABELS, cv=3, method="predict_proba")
    assert predicted.shape == (400, 2)
    scaled = ColumnTransformer([("scaled", StandardScaler(), ["seats"])], remainder="passthrough")
    for output in ("default", "pandas", "polars"):
        steps = make_pipeline(clone(scaled).set_output(transform=output), regressor())
        assert steps.fit(FRAME, Y).score(LATER, answer(LATER)) > 0.8
    chosen = make_pipeline(regressor(), regressor(alpha=0.001)).fit(FRAME, Y)  # the first one selects for the second
    assert chosen.score(LATER, answer(LATER)) > 0.8


def test_a_fold_without_gaps_predicts_one_with_gaps():
    frame = FRAME[["seats", "size"]].copy()
    frame["size"] = frame["size"].fillna(3.0)
    frame.loc[:20, "size"] = np.nan
    for X in (frame, frame.to_numpy()):
        assert np.isfinite(cross_val_score(regressor(), X, Y, cv=4, error_score="raise")).all()


def test_what_the_tags_say_is_true():
    for estimator in (riata.SparseRegressor(), riata.SparseClassifier()):
        tags = get_tags(estimator).input_tags
        assert tags.allow_nan
        assert tags.categorical
        assert tags.string
        assert tags.sparse


def test_validation_rows_and_stability_take_frames():
    fit = regressor(alpha="auto", select="validation", n_alphas=10).fit
    later, truth = mixed(200, 3), answer(mixed(200, 3))
    scores = [
        fit(X, Y, validation=(V, truth)).selection_.scores
        for X, V in ((FRAME, later), (pl.from_pandas(FRAME), later), (FRAME, pl.from_pandas(later)))
    ]
    np.testing.assert_allclose(scores[1], scores[0])
    np.testing.assert_allclose(scores[2], scores[0])
    found = riata.stability_selection(riata.SparseRegressor(k=2), FRAME, Y, rounds=2)
    assert len(found.stable) >= 1


def test_options_by_column_go_with_frames():
    whole = riata.SparseRegressor(k=2, groups="columns").fit(FRAME, Y)
    assert {name.partition("=")[0].partition(".")[0] for name in whole.get_feature_names_out()} < set(FRAME)
    free = regressor(alpha=100.0, penalty_factors={"seats": 0.0}).fit(FRAME, Y)
    assert list(free.get_feature_names_out()) == ["seats"]


N = 60
PARTS = np.arange(N)
COLUMNS = {
    "nullable integers": (pd.array(np.where(PARTS % 5, PARTS, None), dtype="Int64"), ["c", "c=(missing)"]),
    "nullable booleans": (pd.array(np.where(PARTS % 5, PARTS % 2 == 0, None), dtype="boolean"), ["c", "c=(missing)"]),
    "decimals": ([Decimal(i) / 4 for i in range(N)], ["c"]),
    "durations": (pd.to_timedelta(PARTS, unit="h"), ["c"]),
    "periods": (pd.period_range("2020-01", periods=N, freq="M"), ["c.days", "c.month=1"]),
    "dates": ([datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(N)], ["c.days", "c.month=1"]),
    "times with a zone": (pd.date_range("2020", periods=N, freq="h", tz="Europe/Berlin"), ["c.days", "c.hour=0"]),
    "lists": ([[i, i * i] for i in range(N)], ["c[0]", "c[1]"]),
    "structs": ([{"a": i, "b": {"d": "xy"[i % 2]}} for i in range(N)], ["c.a", "c.b.d=y"]),
    "bins": (pd.cut(PARTS, [-1, 20, 60]), ["c=(-1, 20]"]),
    "intervals": (pd.arrays.IntervalArray.from_arrays(PARTS % 2, PARTS % 2 + 1), ["c=(1, 2]"]),
    "levels of several types": (pd.Categorical([1 if i % 2 else "a" for i in range(N)]), ["c=a"]),
    "sparse": (pd.arrays.SparseArray(PARTS % 3 == 0, dtype=float), ["c"]),
    "half floats": (PARTS.astype(np.float16), ["c"]),
    "long floats": (PARTS.astype(np.longdouble), ["c"]),
    "128 bits": (pl.Series(PARTS.tolist(), dtype=pl.Int128), ["c"]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_many_kinds_become_features(kind):
    values, names = COLUMNS[kind]
    y = np.arange(N) % 7 * 1.0
    if isinstance(values, pl.Series):
        frame = pl.DataFrame({"a": y, "name": ["x", "y"] * 30, "c": values})
    else:
        frame = pd.DataFrame({"a": y, "name": ["x", "y"] * 30, "c": values})
    fitted = regressor(alpha=1e-3).fit(frame, y + 1.0)
    assert list(fitted.feature_names_in_) == ["a", "name", "c"]
    made = [name for name in fitted.trained_.feature_names if name.startswith("c")]
    assert made[: len(names)] == names or set(names) <= set(made)
    assert np.isfinite(fitted.predict(frame)).all()
    data = riata.open(frame, "a")
    assert [name for name in data.feature_names if name.startswith("c")] == made


ODD = {
    "mixed objects": ([1 if i % 2 else "a" for i in range(N)], "of int and str"),
    "complex numbers": (np.arange(N) * 1j, "of type complex128"),
    "objects": ([object() for _ in range(N)], "of object"),
    "bytes": ([b"a"] * N, "binary"),
    "integers beyond 64 bits": ([2**70] * N, "of int"),
}


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_column_is_dropped_with_a_note(kind):
    values, what = ODD[kind]
    frame = pd.DataFrame({"a": np.arange(N) % 7 * 1.0, "odd": values})
    with pytest.warns(UserWarning, match=f"1 column was left out: 'odd' is {what}"):
        fitted = regressor(alpha=1e-3).fit(frame, frame["a"] + 1.0)
    assert list(fitted.trained_.feature_names) == ["a"]
    note = f"column 'odd' is {what}, which is no feature: dropped"
    assert note in fitted.profile_.notes
    assert note in riata.open(frame.assign(y=np.arange(N)), "y").profile.notes
    assert fitted.predict(frame).shape == (N,)
    with pytest.raises(DataError, match="column 'odd'"):
        riata.open(frame, "odd")


def test_what_no_frame_can_be_is_refused_in_a_sentence():
    twice = pd.DataFrame([[1, "a"], [2, "b"]] * 5, columns=["c", "c"])
    with pytest.raises(DataError, match="more than one column called 'c'"):
        regressor().fit(twice, np.arange(10.0))
    with pytest.raises(DataError, match="needs a target"):
        regressor().fit(FRAME)
    with pytest.raises(DataError, match="400 rows, and y 399 values"):
        regressor().fit(FRAME, Y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        riata.SparseClassifier().fit(FRAME, LABELS.where(LABELS == "late"))
    with pytest.raises(ValueError, match="Unknown label type"):
        riata.SparseClassifier().fit(FRAME, Y)
    with pytest.raises(ValueError, match="NaN"):
        regressor().fit(FRAME, Y.where(Y > 5))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        regressor().fit(FRAME, Y, sample_weight=-np.ones(400))
    with pytest.raises(OptionError, match=r"open rows\.csv with riata\.open"):
        regressor().fit("rows.csv", Y)
    with pytest.raises(OptionError, match=r"riata\.open"):
        regressor().fit(iter([FRAME]), Y)
    with pytest.raises(DataError, match="no column 'carrier', which the model needs"):
        regressor().fit(FRAME, Y).predict(LATER.drop(columns="carrier"))
    with pytest.raises(ValueError, match="infinite"):
        regressor().fit(FRAME.assign(size=np.inf), Y)
    with pytest.raises(OptionError, match="partial_fit takes numbers"):
        riata.SparseRegressor(solver="online").partial_fit(FRAME, Y)


def test_columns_may_have_numbers_for_names():
    frame = pd.DataFrame({0: np.arange(50.0), 1: np.arange(50) % 4 * 1.0, ("a", 2): np.arange(50) % 3})
    data = riata.open(frame, target=0)
    assert list(data.feature_names) == ["1", "('a', 2)"]
    assert riata.open(frame, target=("a", 2), drop=[0], task="regression").encoding.target.column == "('a', 2)"
    weighted = riata.open(frame, target=0, weight=1, categorical=[("a", 2)])
    assert list(weighted.feature_names) == ["('a', 2)=0", "('a', 2)=1", "('a', 2)=2"]


def test_the_index_of_pandas_is_no_feature(tmp_path):
    frame = FRAME.assign(delay=Y)[FRAME["seats"] > 100]
    frame.to_parquet(tmp_path / "rows.parquet", index=True)
    for source in (tmp_path / "rows.parquet", pl.read_parquet(tmp_path / "rows.parquet")):
        data = riata.open(source, "delay")
        assert "__index_level_0__" not in data.feature_names
        assert any("'__index_level_0__' is the index of a pandas frame" in note for note in data.profile.notes)
    kept = riata.open(tmp_path / "rows.parquet", "delay", features=["__index_level_0__"])
    assert list(kept.feature_names) == ["__index_level_0__"]


def test_columns_that_are_left_out_are_warned_of_once():
    frame = mixed(60, 0).assign(PassengerId=np.arange(60), nothing=None, code=[f"c{i}" for i in range(60)])
    said = (
        "4 columns were left out: 'PassengerId' numbers the rows, 'nothing' is empty, 'code' has another value in "
        "nearly every row, 'names' is list<item: string>, which is no feature; see profile_.notes"
    )
    table = pa.Table.from_pandas(frame, preserve_index=False).append_column("names", pa.array([["a"]] * 60))
    with pytest.warns(UserWarning, match="left out") as warned:
        model = riata.SparseRegressor(k=2).fit(table, answer(frame))
    assert [str(one.message) for one in warned] == [said]
    assert warned[0].filename == __file__
    assert len([note for note in model.profile_.notes if "left out" in note or "dropped" in note]) == 4
    model.predict(table)  # without a word


def test_columns_of_one_name_are_refused(rng):
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "a"])
    with pytest.raises(DataError, match="more than one column called 'a'"):
        riata.SparseRegressor(k=1).fit(frame, frame["b"])


@pytest.mark.parametrize(
    ("kind", "wanted"), {"boolean": bool, "Int64": np.int64, "UInt8": np.uint8, "bool[pyarrow]": bool}.items()
)
def test_labels_of_nullable_types_keep_them(kind, wanted):
    frame = mixed(60, 0)
    y = (frame["seats"] > 200).astype(int).astype(kind)
    for X in (frame, frame[["seats"]]):
        model = riata.SparseClassifier(k=1).fit(X, y)
        assert model.classes_.dtype == model.predict(X).dtype == wanted
    with pytest.raises(DataError, match="y has no value in row 1 of 60"):
        model.fit(frame, y.where(y.index > 0))

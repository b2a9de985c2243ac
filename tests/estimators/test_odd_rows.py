"""Rows, targets, weights and options that nobody expects: a model, the same as `riata.open` leads to, or a sentence."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import riata
from riata.errors import DataError, OptionError

N = 60
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
Y = X[:, 0] - 2.0 * X[:, 1] + 0.1 * rng.normal(size=N)
LABELS = np.where(Y > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=list("abcd"))
TABLE = pa.Table.from_pandas(FRAME)
I = np.arange(N)
WORDS = np.array(["u", "v", None], dtype=object)[I % 3]


def beside(**columns) -> pd.DataFrame:
    return FRAME.assign(**columns)


ROWS = {
    "names of letters beyond ASCII": pd.DataFrame(X, columns=["é", "日本", "🙂", "a b\tc\nd"]),
    "very long names": pd.DataFrame(X, columns=["x" * 5000, "x" * 5001, "b", "c"]),
    "an empty name": pd.DataFrame(X, columns=["", "b", "c", "d"]),
    "all missing numbers": beside(m=np.nan),
    "all None": beside(m=None),
    "all NaT": beside(m=pd.NaT),
    "all NA": beside(m=pd.array([pd.NA] * N, dtype="Int64")),
    "booleans": beside(m=X[:, 0] > 0),
    "nullable booleans": beside(m=pd.array([True, False, None] * 20, dtype="boolean")),
    "nullable whole numbers": beside(m=pd.array([1, 2, None] * 20, dtype="Int64")),
    "strings of Arrow": beside(m=pd.array(WORDS, dtype="string[pyarrow]")),
    "a level that no row has": beside(m=pd.Categorical(["u", "v"] * 30, categories=["u", "v", "w"])),
    "one level": beside(m=pd.Categorical(["u"] * N)),
    "levels of numbers": beside(m=pd.Categorical([3, 7] * 30)),
    "intervals": beside(m=pd.cut(X[:, 0], 3)),
    "times in a zone": beside(m=pd.date_range("2024", periods=N, tz="Europe/Berlin")),
    "days": beside(m=[datetime.date(2024, 1, 1) + datetime.timedelta(int(i)) for i in I]),
    "periods": beside(m=pd.period_range("2024", periods=N, freq="M")),
    "spans of time": beside(m=pd.to_timedelta(X[:, 0], "h")),
    "decimals": beside(m=[decimal.Decimal(f"{x:.3f}") for x in X[:, 0]]),
    "objects of several types": beside(m=[1, "a", 2.5] * 20),
    "numbers as objects": beside(m=pd.Series(X[:, 0], dtype=object)),
    "lists": beside(m=[[1.0, x] for x in X[:, 0]]),
    "dicts": beside(m=[{"a": x} for x in X[:, 0]]),
    "complex numbers": beside(m=X[:, 0] + 1j),
    "a sparse column": beside(m=pd.arrays.SparseArray(np.maximum(X[:, 0], 0.0))),
    "an index of its own": FRAME.set_index(pd.Index(I[::-1] * 10)),
    "an index of one value": FRAME.set_index(pd.Index([0] * N)),
    "a lazy frame": pl.from_pandas(FRAME).lazy(),
    "categories of polars": pl.from_pandas(FRAME).with_columns(m=pl.Series(["u", "v", "w"] * 20, dtype=pl.Categorical)),
    "an enum of polars": pl.from_pandas(FRAME).with_columns(m=pl.Series(["u", "v"] * 30, dtype=pl.Enum(["u", "v"]))),
    "nulls of polars": pl.from_pandas(FRAME).with_columns(m=pl.lit(None)),
    "a dictionary of Arrow": TABLE.append_column("m", pa.array(WORDS).dictionary_encode()),
    "two dictionaries of Arrow": TABLE.append_column(
        "m", pa.chunked_array([pa.array(["u", "v"] * 15).dictionary_encode(), pa.array(["w"] * 30).dictionary_encode()])
    ),
    "structs of Arrow": TABLE.append_column("m", pa.array([{"p": x, "q": w} for x, w in zip(I, WORDS, strict=True)])),
    "maps of Arrow": TABLE.append_column(
        "m", pa.array([[("k", x)] for x in X[:, 0]], pa.map_(pa.string(), pa.float64()))
    ),
    "half floats of Arrow": TABLE.append_column("m", pa.array(X[:, 0].astype(np.float16))),
    "views of Arrow": TABLE.append_column("m", pa.array(WORDS, pa.string_view())),
    "runs of Arrow": TABLE.append_column(
        "m", pa.RunEndEncodedArray.from_arrays(pa.array([30, N], pa.int32()), pa.array([1.0, 2.0]))
    ),
    "an array of booleans": X > 0,
    "half floats": X.astype(np.float16),
    "bytes": (X * 10).astype(np.int8),
    "large unsigned numbers": (np.abs(X) * 2**62).astype(np.uint64),
    "long floats": X.astype(np.longdouble),
    "floats of the other end": X.astype(">f8"),
    "columns one after the other": np.asfortranarray(X),
    "every other column": np.repeat(X, 2, axis=1)[:, ::2],
    "a masked array without gaps": np.ma.masked_array(X, False),
    "entries that are there twice": sp.coo_array((np.ones(8), ([0, 1] * 4, [0, 0, 1, 1, 2, 2, 0, 0])), shape=(N, 4)),
    "sparse booleans": sp.csr_array(X > 1),
    "lists of lists, sparse": sp.lil_array(X),
    "blocks, sparse": sp.bsr_array(X),
    "no entries": sp.csr_array((N, 4)),
}  # fmt: skip


def found(trained) -> dict[str, float]:
    """The coefficients of a model by the names of their features."""
    model = trained.to_model()
    return dict(zip(model.names, model.coef.ravel().round(8).tolist(), strict=True))


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.filterwarnings("ignore::riata.errors.DataWarning", "ignore:pandas.DataFrame with sparse columns")
def test_odd_rows_give_the_same_model_through_an_estimator_and_a_dataset(kind):
    fitted = riata.SparseRegressor(alpha=0.05, tol=1e-10).fit(ROWS[kind], Y)
    opened = riata.open(ROWS[kind], target=Y)
    assert found(fitted) == pytest.approx(found(riata.train(opened, riata.Spec(alpha=0.05, tol=1e-10))), abs=1e-6)
    assert np.isfinite(fitted.predict(ROWS[kind])).all()
    if kind not in ("an array of booleans", "entries that are there twice", "sparse booleans", "no entries"):
        assert len(found(fitted)) >= 2


@pytest.mark.filterwarnings("ignore::riata.errors.DataWarning")
def test_numbers_as_strings_and_gaps_as_none_are_what_they_stand_for():
    plain = riata.SparseRegressor(alpha=0.05).fit(X, Y)
    np.testing.assert_allclose(riata.SparseRegressor(alpha=0.05).fit(X.astype(str), Y).coef_, plain.coef_)
    np.testing.assert_allclose(riata.SparseRegressor(alpha=0.05).fit(X.astype(object), Y).coef_, plain.coef_)
    gaps = riata.SparseRegressor(alpha=0.05).fit(np.where(X > 2, np.nan, X), Y)
    objects = riata.SparseRegressor(alpha=0.05).fit(np.where(X > 2, None, X), Y)
    assert found(objects) == pytest.approx(found(gaps))


REFUSED_ROWS = {
    "a series": (FRAME["a"], "2-dimensional", None),
    "no columns": (FRAME[[]], "no columns", "0 rows of features"),
    "no rows": (FRAME[:0], "0 sample", "no rows"),
    "two columns of a name": (pd.DataFrame(X, columns=list("aabc")), "more than one column called 'a'", "more"),
    "lists that differ": (TABLE.append_column("m", pa.array([[1.0], [1.0, 2.0]] * 30)), "row 2: 'm' has 2", "row 2"),
    "a list of rows": (X.tolist(), None, "rows in a list are opened as an array"),
    "a list of rows that differ": ([[1.0], [1.0, 2.0]] * 30, "inhomogeneous", "rows in a list"),
    "columns in a dict": ({"a": X[:, 0]}, "not 'dict'", "columns in a dict as a frame"),
    "infinite numbers": (np.where(X > 2, np.inf, X), "infinity", "is inf"),
    "numbers whose squares overflow": (X * 1e300, "holds numbers whose squares are beyond", "squares are beyond"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED_ROWS)
def test_what_rows_cannot_be_is_refused_in_a_sentence(kind):
    rows, of_estimator, of_dataset = REFUSED_ROWS[kind]
    if of_estimator is not None:
        with pytest.raises((ValueError, TypeError), match=of_estimator):
            riata.SparseRegressor().fit(rows, Y[: len(rows)] if isinstance(rows, pd.DataFrame) else Y)
    if of_dataset is not None:
        with pytest.raises(DataError, match=of_dataset):
            riata.train(riata.open(rows, target=Y[: len(rows)] if kind == "no rows" else Y), riata.Spec(alpha=0.1))


LABELLED = {
    "booleans": Y > 0,
    "booleans as objects": (Y > 0).astype(object),
    "3 and 7": np.where(Y > 0, 7, 3),
    "3 and 7 as objects": np.where(Y > 0, 7, 3).astype(object),
    "small whole numbers": (Y > 0).astype(np.int8),
    "numbers that floats cannot tell apart": np.where(Y > 0, 2**63 - 1, 2**63 - 2).astype(np.uint64),
    "categories of which one is nowhere": pd.Series(pd.Categorical(LABELS, categories=["no", "yes", "maybe"])),
    "strings of Arrow": pd.Series(LABELS, dtype="string[pyarrow]"),
    "a column of Arrow": pa.chunked_array([LABELS.tolist()]),
    "another index": pd.Series(LABELS, index=I[::-1]),
    "an empty string": np.where(Y > 0, "yes", ""),
}


@pytest.mark.parametrize("kind", LABELLED)
def test_two_labels_of_any_type_give_the_same_model(kind):
    wanted = riata.SparseClassifier(alpha=0.02).fit(FRAME, LABELS)
    fitted = riata.SparseClassifier(alpha=0.02).fit(FRAME, LABELLED[kind])
    np.testing.assert_allclose(fitted.coef_, wanted.coef_)
    assert (fitted.predict(FRAME) == np.asarray(LABELLED[kind])).mean() > 0.9
    opened = riata.open(FRAME, target=LABELLED[kind])
    assert found(riata.train(opened, riata.Spec(alpha=0.02, loss="logistic"))) == pytest.approx(found(fitted), rel=1e-5)


def test_spans_of_time_are_seconds_through_every_door():
    spans = pd.Series(pd.to_timedelta(Y, "h"))
    hours = riata.SparseRegressor(alpha=0.02 * 3600.0).fit(FRAME, Y * 3600.0)
    for given in (spans, spans.to_numpy(), pa.array(spans)):
        assert found(riata.SparseRegressor(alpha=0.02 * 3600.0).fit(FRAME, given)) == pytest.approx(
            found(hours), rel=1e-6
        )
    opened = riata.train(riata.open(FRAME, target=spans), riata.Spec(alpha=0.02 * 3600.0))
    assert found(opened) == pytest.approx(found(hours), rel=1e-5)


REFUSED_TARGETS = {  # of a classifier, of a regressor, of a dataset of an array
    "words and numbers": (np.array(["a", 1, "b"] * 20, dtype=object), "labels of one type", "holds 'a'", "int and str"),
    "words in a column": (LABELS[:, None], None, "holds '(yes|no)'", None),
    "dates": (pd.Series(pd.date_range("2024", periods=N)), None, "holds dates", "holds dates"),
    "complex numbers": (Y + 1j, "Complex", "Complex", "of type complex128"),
    "one class": (np.array(["a"] * N), "one class", "holds 'a'", "one class"),
    "a constant": (np.ones(N), "one class", "same value, 1", "same value, 1"),
    "a gap": (np.where(I == 3, np.nan, Y), "row 4", "row 4", "missing or not finite"),
    "an infinite number": (np.where(I == 3, np.inf, Y), "infinity", "infinity", "missing or not finite"),
    "squares that overflow": (Y * 1e200, None, "holds numbers whose squares", "holds numbers whose squares"),
    "one value less": (Y[:-1], None, "inconsistent", "60 rows of data but 59"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED_TARGETS)
def test_what_a_target_cannot_be_is_refused_in_a_sentence(kind):
    y, of_classifier, of_regressor, of_dataset = REFUSED_TARGETS[kind]
    if of_classifier is not None:
        with pytest.raises(ValueError, match=of_classifier):
            riata.SparseClassifier().fit(X, y)
    if of_regressor is not None:
        with pytest.raises(ValueError, match=of_regressor):
            riata.SparseRegressor().fit(X, y)
    if of_dataset is not None:
        with pytest.raises(DataError, match=of_dataset):
            riata.train(riata.open(X, target=y), riata.Spec(alpha=0.1))


REFUSED_WEIGHTS = {
    "all zero": (np.zeros(N), "all weights are zero"),
    "one negative": (np.where(I == 3, -1.0, 1.0), "row 4: the weight is -1"),
    "one missing": (np.where(I == 3, np.nan, 1.0), "row 4: the weight is nan"),
    "one infinite": (np.where(I == 3, np.inf, 1.0), "row 4: the weight is inf"),
    "words": (np.array(["a"] * N), "row 1: column 'weight' holds 'a', and numbers are needed"),
    "complex numbers": (np.ones(N) + 1j, "of type complex128"),
    "two columns": (np.ones((N, 2)), "one column"),
    "one value less": (np.ones(N - 1), "59 values of the weight"),
    "of no size": (np.full(N, 1e-300), "unit near 1"),
}


@pytest.mark.parametrize("kind", REFUSED_WEIGHTS)
def test_what_weights_cannot_be_is_refused_in_a_sentence(kind):
    weights, said = REFUSED_WEIGHTS[kind]
    with pytest.raises(DataError, match=said):
        riata.train(riata.open(X, target=Y, weight=weights), riata.Spec(alpha=0.1))
    with pytest.raises(ValueError, match=r"."):
        riata.SparseRegressor().fit(X, Y, sample_weight=weights)


REFUSED_OPTIONS = {
    "alpha": [-1, np.inf, np.nan, "0.1", [0.1, 0.2], 1j],
    "k": [0, -1, 2.0, 2.5, True, "2", [1, 2], np.nan],
    "tol": [-1, np.nan, "x"],
    "max_passes": [0, -1, 1.5, "x"],
    "fit_intercept": ["no", None, 2],
    "standardize": ["no", 0.5],
    "l1_ratio": [0, 2, -1, "x"],
    "memory": ["abc", -5],
}


@pytest.mark.parametrize("name", REFUSED_OPTIONS)
def test_what_an_option_cannot_be_is_refused_with_its_name(name):
    for value in REFUSED_OPTIONS[name]:
        strength = {} if name in ("alpha", "k") else {"alpha": 0.1}
        with pytest.raises(OptionError, match=name):
            riata.SparseRegressor(**strength | {name: value}).fit(X, Y)
    with pytest.raises(OptionError, match="the seed must be a whole number of zero or more, not -1"):
        riata.train(riata.open(X, target=Y), riata.Spec(alpha=0.1, seed=-1))


def test_a_model_of_numbers_says_which_column_is_text():
    model = riata.SparseRegressor(alpha=0.05).fit(FRAME, Y).to_model()
    with pytest.raises(DataError, match="column 'a' has gaps or is not of numbers"):
        model.predict(FRAME.astype(str) + " kg or so")

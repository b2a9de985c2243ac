"""What a column of each kind becomes: names, numbers, missing values; and that an encoding survives JSON."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from catalogue import frame_of_everything
from numpy.testing import assert_allclose, assert_array_equal

import riata
from riata.data.columns.dates import DateLearner
from riata.data.encoding import Encoding
from riata.data.opening.open import open_data
from riata.errors import DataError


def opened(frame, **options):
    """Features as a dense frame with names, beside the dataset."""
    data = open_data(frame, "y", task="regression", **options)
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    return pd.DataFrame(X, columns=list(data.feature_names)), data


def test_numbers_take_their_mean_where_missing_and_say_so():
    X, _ = opened(pd.DataFrame({"a": [1.0, np.nan, 4.0, 7.0], "b": [1, 2, 3, 4], "y": [1.0, 2, 3, 4]}))
    assert_allclose(X["a"], [1, 4, 4, 7])
    assert_allclose(X["a=(missing)"], [0, 1, 0, 0])
    assert list(X) == ["a", "a=(missing)", "b"]


def test_the_mean_of_missing_values_is_weighted_as_the_rows_are():
    frame = pd.DataFrame({"a": [1.0, np.nan, 4.0], "w": [3.0, 1.0, 1.0], "y": [1.0, 2, 3]})
    X, data = opened(frame, weight="w")
    assert X["a"][1] == (3 * 1.0 + 1 * 4.0) / 4
    assert data.total_weight == 5.0


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 3], pa.int8()),
        pa.array([1, 2, 3], pa.uint64()),
        pa.array([1, 2, 3], pa.float16()),
        pa.array([1, 2, 3], pa.decimal128(10, 2)),
        pa.array([1, 2, 3], pa.duration("s")),
        pa.array([1, 2, 3], pa.float32()),
    ],
    ids=lambda column: str(column.type),
)
def test_every_kind_of_number_is_a_number(column):
    X, _ = opened(pa.table({"a": column, "y": [1.0, 2, 3]}))
    assert_allclose(X["a"], [1, 2, 3])


def test_float32_is_used_only_where_it_is_exact():
    assert opened(pa.table({"a": [0.5, 2.0], "y": [1.0, 2]}))[1].X.dtype == np.float32
    assert opened(pa.table({"a": [0.1, 2.0], "y": [1.0, 2]}))[1].X.dtype == np.float64
    assert opened(pa.table({"a": [2**24 + 1, 2], "y": [1.0, 2]}))[1].X.dtype == np.float64


@pytest.mark.parametrize("dictionary", [False, True])
def test_categories_are_named_and_missing_is_a_level(dictionary):
    column = pa.array(["UA", None, "AA", "UA"])
    column = column.dictionary_encode() if dictionary else column
    X, _ = opened(pa.table({"carrier": column, "y": [1.0, 2, 3, 4]}))
    assert list(X) == ["carrier=AA", "carrier=UA", "carrier=(missing)"]
    assert_allclose(X.to_numpy(), [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_numbers_can_be_declared_categories():
    X, _ = opened(pd.DataFrame({"zip": [10, 20, 10], "y": [1.0, 2, 3]}), categorical=["zip"])
    assert list(X) == ["zip=20"]


def test_rare_levels_share_a_feature_and_unseen_ones_join_them():
    levels = ["often"] * 2500 + ["too"] * 2500 + ["seldom"] * 3 + ["once"]
    X, data = opened(pd.DataFrame({"c": levels, "y": np.arange(5004.0)}))
    assert list(X) == ["c=often", "c=too", "c=(rare)"]
    assert X["c=(rare)"].sum() == 4
    batch = pa.record_batch({"c": ["never seen", "often"]})
    assert_allclose(data.encoding.features(batch).toarray() if data.encoding.sparse else data.encoding.features(batch),
                    [[0, 0, 1], [1, 0, 0]])  # fmt: skip


@pytest.mark.parametrize(
    ("n_rows", "fewest"), [(19, 1), (20, 2), (150, 2), (250, 3), (999, 10), (1000, 10), (50_000, 10)]
)
def test_a_level_of_one_row_is_rare_and_so_are_those_below_one_per_cent_and_ten_rows(n_rows, fewest):
    sizes = {"few": fewest - 1, "enough": fewest}
    levels = [name for name, size in sizes.items() for _ in range(size)]
    n_often = (n_rows - len(levels)) // 2
    levels += ["often"] * n_often + ["too"] * (n_rows - len(levels) - n_often)
    X, _ = opened(pd.DataFrame({"c": levels, "y": np.arange(float(n_rows))}))
    assert list(X) == ["c=enough", "c=often", "c=too"] + ["c=(rare)"] * (
        fewest > 2
    )  # one row is no feature by any name


def test_a_word_of_one_row_is_no_feature():
    texts = ["a good read", "not a bad read at all"] * 15 + ["superb"]
    X, _ = opened(pd.DataFrame({"review": texts, "y": np.arange(31.0)}), text=["review"])
    assert "review:good" in X
    assert "review:superb" not in X


def test_many_levels_are_hashed_and_keep_their_names():
    levels = [f"user{i}" for i in range(300)] * 2
    X, data = opened(pd.DataFrame({"u": levels, "y": np.arange(600.0)}), max_levels=100, hash_bits=12)
    assert data.n_features == 2**12 + 1
    assert_allclose(X.sum(axis=1), 1)
    column = X.columns[X.iloc[7].to_numpy() > 0][0]
    assert "user7" in column
    assert X[column][307] == 1


def test_dates_become_days_and_parts():
    stamps = pd.to_datetime(["2013-01-01 05:00", "2013-02-02 05:00", None, "2013-02-03 17:00"])
    frame = pd.DataFrame({"t": stamps, "y": [1.0, 2, 3, 4]})
    X, _ = opened(frame)
    assert_allclose(X["t.days"][[0, 1, 3]], [5 / 24, 32 + 5 / 24, 33 + 17 / 24])
    assert_allclose(X["t.month=2"], [0, 1, 0, 1])
    assert_allclose(X["t.weekday=Sun"], [0, 0, 0, 1])
    assert_allclose(X["t.hour=17"], [0, 0, 0, 1])
    assert_allclose(X["t=(missing)"], [0, 0, 1, 0])
    text, _ = opened(frame.assign(t=stamps.strftime("%Y-%m-%dT%H:%M:%SZ")))
    assert_allclose(text.to_numpy(), X.to_numpy())


@pytest.mark.parametrize(("freq", "weekdays"), [("MS", 0), ("ME", 0), ("YS", 0), ("D", 7), ("W", 0), ("10D", 7)])
def test_first_and_last_days_of_months_have_no_weekdays(freq, weekdays):
    """On which weekday a month begins is chance."""
    days = pd.date_range("2013-01-01", periods=40, freq=freq)
    X, data = opened(pd.DataFrame({"t": days, "y": np.arange(40.0)}))
    assert len([name for name in X if "weekday" in name]) == weekdays
    parts = [DateLearner("t") for _ in range(3)]
    stamps = pa.array(days)
    for learner, piece in zip(parts, (stamps, stamps[:1], stamps[1:]), strict=True):
        learner.add([piece], np.ones(len(piece)), None)
    parts[1].merge(parts[2])
    assert parts[0].encoder(40).names == parts[1].encoder(40).names == list(data.feature_names)


def test_times_of_day_are_shown_without_a_day():
    times = pa.array([3600 * hour for hour in range(24)], pa.time32("s"))
    _, data = opened(pa.table({"t": times, "y": np.arange(24.0)}))
    found = data.profile.columns["t"]
    assert (found.least, found.largest) == ("00:00:00", "23:00:00")


def test_text_counts_words_and_pairs():
    frame = pd.DataFrame({"review": ["Not good!", "good GOOD café", None], "y": [1.0, 2, 3]})
    X, _ = opened(frame, text=["review"])
    assert_allclose(X["review:good"], [1, 2, 0])
    assert_allclose(X["review:café"], [0, 1, 0])
    pairs, _ = opened(frame, text=["review"], ngrams=2)
    assert_allclose(pairs["review:not good"], [1, 0, 0])
    assert_allclose(pairs["review:good good"], [0, 1, 0])
    assert_allclose(pairs["review:not"], X["review:not"])


def test_hashed_text_counts_the_same_words():
    frame = pd.DataFrame({"review": ["Not good!", "good GOOD café", None], "y": [1.0, 2, 3]})
    X, data = opened(frame, text=["review"], hash_text=True, hash_bits=10)
    assert data.n_features == 2**10
    assert_allclose(X["review:good"], [1, 2, 0])


def test_a_vocabulary_keeps_the_words_of_most_rows(rng):
    texts = [f"common w{i}" if i % 2 else f"common often w{i}" for i in range(400)]
    X, _ = opened(pd.DataFrame({"t": texts, "y": rng.normal(size=400)}), text=["t"], max_words=10)
    assert {"t:common", "t:often"} <= set(X)
    assert X.shape[1] <= 10


def test_lists_and_pairs_of_lists():
    table = pa.table({
        "v": pa.array([[1.0, 2.0], [3.0, 4.0]]),
        "doc_indices": pa.array([[0, 2], []], pa.list_(pa.int32())),
        "doc_values": pa.array([[5.0, 6.0], []]),
        "y": [1.0, 2.0],
    })  # fmt: skip
    X, _ = opened(table)
    assert list(X) == ["v[0]", "v[1]", "doc.0", "doc.1", "doc.2"]
    assert_allclose(X.to_numpy(), [[1, 2, 5, 0, 6], [3, 4, 0, 0, 0]])


def test_columns_that_cannot_be_features_are_dropped_with_a_note():
    _, data = opened(pa.table({"s": [b"a", b"b"], "b": [1.0, 2], "y": [1.0, 2]}))
    assert list(data.feature_names) == ["b"]
    assert any("'s'" in note and "dropped" in note for note in data.profile.notes)


def test_rows_without_target_or_weight_are_left_out_and_counted():
    frame = pd.DataFrame({"a": [1.0, 100, 3, 200], "w": [1.0, 0, 1, 1], "y": [1.0, 2, 3, np.nan]})
    X, data = opened(frame, weight="w")
    assert_allclose(X["a"], [1, 3])
    assert (data.profile.without_target, data.profile.zero_weight, data.profile.n_read) == (1, 1, 4)
    assert data.profile.columns["a"].largest == 3  # such rows change nothing, the profile included


def test_a_column_that_gives_the_target_away_is_pointed_out(rng):
    y = rng.normal(size=200)
    _, data = opened(pd.DataFrame({"leak": y + 0.1 * rng.normal(size=200), "b": rng.normal(size=200), "y": y}))
    notes = [note for note in data.profile.notes if "explains" in note]
    assert len(notes) == 1
    assert "'leak'" in notes[0]


@pytest.mark.parametrize("chunked", [False, True])
def test_an_encoding_survives_json_and_does_not_depend_on_chunks(rng, chunked, request):
    frame = frame_of_everything(rng)
    X, data = opened(frame, text=["review"])
    encoding = Encoding.from_json(json.loads(json.dumps(data.encoding.to_json())))
    assert encoding == data.encoding
    if chunked:
        request.getfixturevalue("larger_than_memory")
    shuffled = frame[frame.columns[::-1]].assign(extra="not of the model")
    again = open_data(shuffled, "y", encoding=encoding, memory="1MB")
    parts = [c.X.toarray() for c in again.visit()]
    assert_allclose(np.concatenate(parts), X.to_numpy())
    assert len(parts) > 5 or not chunked


def test_encoding_of_few_features_reads_few_columns(rng):
    _, data = opened(frame_of_everything(rng), text=["review"])
    part = data.encoding.of_features(["carrier=UA", "whole"])
    assert part.columns == ["whole", "carrier", "y"]


def test_a_missing_column_is_named(rng):
    frame = frame_of_everything(rng)
    _, data = opened(frame, text=["review"])
    with pytest.raises(DataError, match="no column 'carrier', which the model needs"):
        open_data(frame.drop(columns="carrier"), "y", encoding=data.encoding)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes", None, "no"], ["no", "yes"]),
        ([True, False, None, True], [False, True]),
        ([1, -1, None, 1], [-1, 1]),
    ],
)
def test_classes_are_recognised(labels, classes):
    data = open_data(pa.table({"a": [1.0, 2, 3, 4], "y": pa.array(labels)}), "y")
    assert data.classes.tolist() == classes
    assert_allclose(data.targets()[0], [classes.index(label) for label in labels if label is not None])


def test_numbers_are_classes_only_when_asked_for():
    table = pa.table({"a": [1.0, 2, 3], "y": [1, 2, 3]})
    assert open_data(table, "y").classes is None
    assert open_data(table, "y", task="classification").classes.tolist() == [1, 2, 3]
    assert open_data(pa.table({"a": [1.0, 2], "y": [1, 2]}), "y", task="regression").classes is None


def test_a_new_label_is_an_error_that_names_it():
    data = open_data(pa.table({"a": [1.0, 2], "y": ["no", "yes"]}), "y")
    with pytest.raises(DataError, match="'maybe'"):
        open_data(pa.table({"a": [1.0], "y": ["maybe"]}), "y", encoding=data.encoding)


def test_two_levels_are_one_feature_that_of_fewer_rows(rng):
    """Two would mirror each other, and an L1 penalty divides a coefficient between them as it likes."""
    y = rng.normal(size=300)
    frame = pd.DataFrame({
        "sex": rng.choice(["man", "woman"], 300, p=[0.7, 0.3]), "gaps": rng.choice(["a", "b", None], 300),
        "three": rng.choice(["p", "q", "r"], 300), "y": y,
    })  # fmt: skip
    data = riata.open(frame, "y")
    assert list(data.feature_names) == [
        "sex=woman", "gaps=a", "gaps=b", "gaps=(missing)", "three=p", "three=q", "three=r",
    ]  # fmt: skip
    woman = np.concatenate([chunk.X.columns(np.array([0]))[:, 0] for chunk in data.visit()])
    assert_array_equal(woman, frame["sex"] == "woman")
    streamed = riata.open((frame[start : start + 50] for start in range(0, 300, 50)), "y")
    assert list(streamed.feature_names) == list(data.feature_names)
    gaps = riata.open(frame.assign(sex=frame["sex"].where(frame["sex"] == "man")), "y")
    assert next(iter(gaps.feature_names)) == "sex=(missing)"
    stream = riata.open((frame[start : start + 50] for start in range(0, 300, 50)), "y", one_pass=True)
    assert {"sex=man", "sex=woman"} <= set(stream.feature_names)  # others may follow


def test_one_column_may_be_named_without_a_list():
    frame = pd.DataFrame({"review": ["good", "bad film", "good film"] * 10, "x": range(30), "y": [1.0, 2.0, 3.0] * 10})
    for option, names in (("text", ["review:bad", "review:film", "review:good", "x"]), ("drop", ["x"])):
        assert list(riata.open(frame, "y", **{option: "review"}).feature_names) == names
    assert list(riata.open(frame, "y", features="x").feature_names) == ["x"]
    assert "review=good" in list(riata.open(frame, "y", categorical="review").feature_names)

"""Columns that should not be in: noticed, said, and left out or kept by the rules of docs/data.md."""

import copy

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import ipc

import riata
from riata.data.columns.categories import CategoryLearner
from riata.data.columns.dates import DateLearner
from riata.data.columns.distinct import DistinctCount, scattered
from riata.data.columns.explained import Labels
from riata.data.columns.numbers import NumberLearner
from riata.data.columns.unfit import named_as_id
from riata.errors import DataError

N = 600


def frame_with(**columns) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"x": rng.normal(size=N), **columns, "y": rng.normal(size=N)})


def notes_on(data, column) -> list[str]:
    return [note for note in data.profile.notes if f"column {column!r}" in note]


def codes(n=N, seed=0):
    return [f"{value:08x}" for value in np.random.default_rng(seed).permutation(10**6)[:n]]


LEFT_OUT = {
    "nothing": [None] * N,
    "one": [7.0] * N,
    "one_level": ["a"] * N,
    "one_day": [pd.Timestamp("2024-02-03")] * N,
    "code": codes(),
    "row_id": range(N),
    "PassengerId": np.random.default_rng(1).permutation(N) + 1000,
    "key": np.cumsum(np.random.default_rng(1).integers(1, 900, N)),
}
KEPT_WITH_A_NOTE = {
    "count": range(N),
    "shuffled": np.random.default_rng(1).permutation(N),
    "day": pd.date_range("2020-01-01", periods=N),
    "customer_id": np.random.default_rng(1).integers(100, 150, N),
}
KEPT = {
    "measured": np.random.default_rng(1).normal(size=N),
    "price": np.random.default_rng(1).integers(0, 10**6, N),  # all different, and still no numbering
    "some": np.random.default_rng(1).integers(0, 200, N),
    "name": np.random.default_rng(1).choice(codes(100), N),
    "constant_or_missing": [1.0, None] * (N // 2),
    "days_repeat": pd.date_range("2020-01-01", periods=N // 2).repeat(2),
    "has_id": np.random.default_rng(1).integers(0, 2, N),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_left_out_with_a_note_unless_it_is_named(name):
    frame = frame_with(**{name: LEFT_OUT[name]})
    data = riata.open(frame, target="y")
    named = riata.open(frame, target="y", features=["x", name])
    assert list(data.feature_names) == ["x"]
    assert len(notes_on(data, name)) == 1
    assert "left out" in notes_on(data, name)[0]
    assert name in data.profile.columns  # what it holds is still told
    assert len(named.feature_names) > 1
    assert not notes_on(named, name)


@pytest.mark.parametrize("missing", [0, 50])
def test_a_column_of_rare_levels_alone_is_left_out_unless_it_is_asked_for(missing):
    names = [f"n{i}" for i in range(N // 3)] * 3  # below one per cent each
    frame = frame_with(name=[None] * missing + names[missing:])
    data, asked = (riata.open(frame, target="y", **options) for options in ({}, {"categorical": ["name"]}))
    assert list(data.feature_names) == ["x"] + ["name=(missing)"] * (missing > 0)
    assert "has 200 levels of 5 rows at most each, too few to learn from: left out" in notes_on(data, "name")[0]
    assert len(asked.feature_names) == 201 + (missing > 0)


def test_hashed_levels_are_said():
    names = [f"n{i}" for i in range(N // 2)] * 2
    data = riata.open(frame_with(card=names), target="y", max_levels=100)
    (note,) = notes_on(data, "card")
    assert "levels in 600 rows: hashed into 65,536 features; if it is an identifier, drop it (drop=['card'])" in note
    assert len(data.feature_names) == 2**16 + 2


def test_rare_levels_are_the_same_whoever_counts_them():
    rng = np.random.default_rng(5)
    levels = pa.array([f"l{i}" for i in np.minimum(rng.geometric(0.05, N), 80)])
    parts = []
    for piece in (levels, levels[:37], levels[37:]):
        learner = CategoryLearner("c", 1000, 8)
        learner.add([piece], rng.random(len(piece)), None)  # weights of rows say nothing of how many there are
        parts.append(learner)
    whole, merged, last = parts
    merged.merge(last)
    assert whole.encoder(N) == merged.encoder(N)
    assert 0 < len(whole.encoder(N).levels) < len(whole.seen)


@pytest.mark.parametrize("name", KEPT_WITH_A_NOTE)
def test_kept_with_a_note(name):
    data = riata.open(frame_with(**{name: KEPT_WITH_A_NOTE[name]}), target="y")
    assert any(feature.startswith(name) for feature in data.feature_names)
    assert len(notes_on(data, name)) == 1
    assert f"drop=[{name!r}]" in notes_on(data, name)[0]


@pytest.mark.parametrize("name", KEPT)
def test_kept_without_a_word(name):
    data = riata.open(frame_with(**{name: KEPT[name]}), target="y")
    assert any(feature.startswith(name) for feature in data.feature_names)
    assert not notes_on(data, name)


def test_of_an_identifier_that_is_missing_at_times_only_that_is_kept():
    some = [code if i % 3 else None for i, code in enumerate(codes())]
    data = riata.open(frame_with(voucher=some), target="y", max_levels=100)
    assert list(data.feature_names) == ["x", "voucher=(missing)"]
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    assert X[:, 1].tolist() == [float(code is None) for code in some]
    again = riata.open(frame_with(voucher=codes(seed=5)), target="y", encoding=data.encoding)
    assert not np.asarray(again.X[:, [1]]).any()


def test_the_first_rows_of_a_stream_do_not_tell_what_is_constant():
    chunks = (frame_with(late=[float(i)] * N) for i in range(3))
    data = riata.open(chunks, target="y", cache=False)
    assert list(data.feature_names) == ["x", "late"]


def test_a_model_of_plain_columns_predicts_rows_in_which_one_is_constant(rng):
    frame = frame_with(z=rng.normal(size=N))
    model = riata.SparseRegressor(k=2).fit(frame[["x", "z"]], frame["y"]).to_model()
    assert model.predict(frame.assign(z=1.0)).shape == (N,)


def test_few_rows_tell_nothing():
    data = riata.open(frame_with(one=[1.0] * N)[:10], target="y")
    assert list(data.feature_names) == ["x", "one"]


def test_where_nothing_is_left_the_reasons_are_given():
    frame = frame_with(one=[1.0] * N).drop(columns="x")
    with pytest.raises(DataError, match="column 'one' has the same value in all rows"):
        riata.open(frame, target="y")


def answers(rng):
    """Targets of numbers and of classes, beside columns that give them away and columns that do not."""
    late = rng.random(N) < 0.1
    kind = rng.choice(["a", "b", "c"], N)
    return {
        "status": (np.where(late, "late", "in time"), np.where(late, "LATE", rng.choice(["OK", "EARLY"], N))),
        "coded": (kind, pd.Series(kind).map({"a": 1, "b": 2, "c": 3}).to_numpy()),
        "middle": (kind, np.where(kind == "b", rng.normal(size=N), rng.normal(size=N) + rng.choice([-30, 30], N))),
        "one_class": (kind, np.where(kind == "a", "A", rng.choice(["p", "q"], N))),
        "shop": (rng.normal(size=N) + 9 * (kind == "a"), kind),
        "square": ((square := rng.uniform(-1, 1, N)) ** 2, square),
        "gone": (late.astype(float), np.where(late, np.nan, rng.normal(size=N))),
        "closed": (late, pd.to_datetime(np.where(late, None, "2024-01-05"))),
    }


@pytest.mark.parametrize("name", ["status", "coded", "middle", "one_class", "shop", "square", "gone", "closed"])
@pytest.mark.parametrize("rows", [37, N])
def test_a_column_that_gives_the_answer_away_is_said_whatever_its_kind(name, rows, rng):
    y, column = answers(rng)[name]
    noise = rng.choice([f"level {i}" for i in range(40)], N)
    frame = pd.DataFrame({name: column, "noise": noise, "number": rng.normal(size=N), "y": y})
    parts = [frame[start : start + rows] for start in range(0, N, rows)]
    data = riata.open((part for part in parts), target="y")
    (note,) = [note for note in notes_on(data, name) if "explains" in note or "copy" in note]
    assert f"drop=[{name!r}]" in note
    if name == "one_class":
        assert "of whether 'y' is 'a'" in note
    assert not notes_on(data, "noise")
    assert not notes_on(data, "number")


def test_columns_that_explain_much_share_one_note(rng):
    y = rng.normal(size=N)
    columns = {f"x{i}": y + 0.5 * rng.normal(size=N) for i in range(7)}
    data = riata.open(pd.DataFrame({"copy": 2 * y, **columns, "noise": rng.normal(size=N), "y": y}), target="y")
    copy, others = [note for note in data.profile.notes if "when predicting" in note]
    assert "'copy' is all but a copy" in copy
    assert others.startswith("7 columns explain more than half of 'y' each, 'x")
    assert " and 2 more: drop those" in others
    assert "noise" not in others


def test_numbers_that_are_asked_to_be_classes_have_leaks_too(rng):
    y = rng.integers(0, 4, N)
    frame = pd.DataFrame({"copy": (y * 7 + 3) % 4, "x": rng.normal(size=N), "y": y})
    data = riata.open(frame, target="y", task="classification")
    assert any("column 'copy' is all but a copy of 'y'" in note for note in data.profile.notes)


@pytest.mark.parametrize("n_rows", [1, 2])
@pytest.mark.parametrize("what", ["missing", "level"])
@pytest.mark.parametrize("labels", [False, True])
def test_one_row_or_two_give_nothing_away(what, n_rows, labels, rng):
    """A cell that is missing, or a rare level, beside an outlier of the target explains that alone."""
    y = rng.normal(size=500)
    y[:n_rows] = 1e6
    x = rng.normal(size=500) if what == "missing" else np.array(["u", "v"] * 250, dtype=object)
    x[:n_rows] = np.nan if what == "missing" else "w"
    y = np.where(y > 1e5, "far", "near") if labels else y
    data = riata.open(pd.DataFrame({"x": x, "z": rng.normal(size=500)}), target=y)
    assert data.profile.columns["x"].explains <= 0.41


def test_a_few_values_beside_many_gaps_give_nothing_away(rng):
    """Six values lie near a line by chance, or even on it: of the target in all rows that explains little."""
    y = rng.normal(size=N)
    gaps = np.full(N, np.nan)
    gaps[:6] = 2 * y[:6]
    data = riata.open(pd.DataFrame({"gaps": gaps, "x": rng.normal(size=N), "y": y}), target="y")
    assert data.profile.columns["gaps"].explains < 0.1
    assert not notes_on(data, "gaps")


@pytest.mark.parametrize("n", [19, 20])
def test_few_rows_and_columns_that_are_left_out_give_nothing_away(n):
    frame = pd.DataFrame({"copy": np.arange(n) % 7.0, "row_id": np.arange(n), "y": np.arange(n) % 7.0})
    data = riata.open(frame.assign(y=lambda rows: rows["y"] + rows["row_id"] / 3), target="y")
    assert any("explain" in note for note in data.profile.notes) == (n == 20)
    assert data.profile.columns["row_id"].explains > 0.5  # and so does the other
    assert all("explain" not in note for note in notes_on(data, "row_id"))


def test_levels_explain_nothing_by_chance(rng):
    """Three hundred levels of two rows each 'explain' half of any target; that is no leak."""
    levels = [f"level {i // 2}" for i in range(N)]
    for y in (rng.normal(size=N), rng.choice(["a", "b"], N)):
        frame = pd.DataFrame({"level": levels, "x": rng.normal(size=N), "y": y})
        data = riata.open(frame, target="y", categorical=["level"])
        assert not notes_on(data, "level")


def test_what_a_column_explains_does_not_depend_on_chunks_or_threads(rng, tmp_path):
    kind = rng.choice(["a", "b", "c", None], 3000, p=[0.4, 0.3, 0.2, 0.1])
    x = rng.normal(size=3000)
    table = pa.table({"kind": kind, "x": x, "y": np.where(kind == "a", "yes", rng.choice(["no", "perhaps"], 3000))})
    found = []
    for rows in (3000, 100, 7):
        with ipc.new_file(tmp_path / f"{rows}.arrow", table.schema) as file:
            file.write_table(table, max_chunksize=rows)
        found.append(riata.open(tmp_path / f"{rows}.arrow", target="y").profile.columns)
    found.append(riata.open((table[i : i + 500] for i in range(0, 3000, 500)), target="y").profile.columns)
    for columns in found[1:]:
        for name in ("kind", "x"):
            assert columns[name].explains == pytest.approx(found[0][name].explains, abs=1e-12)
            assert columns[name].tells.label == found[0][name].tells.label
            assert columns[name].tells.share == pytest.approx(found[0][name].tells.share, abs=1e-12)
    # against the definition: one less the variance within groups, corrected for their number
    grouped = pd.DataFrame({"kind": kind, "yes": (table["y"].to_numpy() == "yes").astype(float)}).fillna("missing")
    within = grouped.groupby("kind").yes.transform(lambda part: part - part.mean())
    share = 1 - (within**2).sum() / ((grouped.yes - grouped.yes.mean()) ** 2).sum() * 2999 / 2996
    assert found[0]["kind"].tells.label == "yes"
    assert found[0]["kind"].tells.share == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("target", ["number", "label"])
@pytest.mark.parametrize("sizes", [[1, 2, 3, 294], [150, 150], [100, 0, 200]])
def test_what_was_learnt_of_parts_is_put_together(target, sizes, rng):
    """As threads and the workers of a cluster do; later parts have other levels and labels than earlier ones."""
    n = sum(sizes)
    levels = pa.array([None if i % 7 == 0 else f"level {i // 20 + i % 3}" for i in range(n)])
    columns = {
        "category": (CategoryLearner("a", 1000, 8), levels),
        "number": (NumberLearner("a"), pa.array(np.where(rng.random(n) < 0.1, None, rng.normal(size=n).cumsum()))),
        "rows": (NumberLearner("a"), pa.array(np.arange(n) * 3)),
        "date": (DateLearner("a"), pa.array(pd.date_range("2020-01-01", periods=n).where(np.arange(n) % 5 > 0))),
    }
    y = rng.normal(size=n) if target == "number" else Labels(["a", "b", "c", "d"], np.arange(n) * 4 // n)
    weight = rng.uniform(0.5, 2, n)
    ends = np.cumsum(sizes)
    for name, (learner, values) in columns.items():
        parts = []
        for part in (np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)):
            parts.append(copy.deepcopy(learner))
            if len(part):
                some = y[part] if target == "number" else of_these(y.at(part))
                parts[-1].add([values.take(pa.array(part))], weight[part], some)
        learner.add([values], weight, y)
        for later in parts[1:]:
            parts[0].merge(later)
        spread = 0.0 if target == "label" else float(weight @ (y - np.average(y, weights=weight)) ** 2)
        together, at_once = parts[0].explained(spread), learner.explained(spread)
        assert together.share == pytest.approx(at_once.share, abs=1e-12), name
        if target == "label":
            assert together.told.label == at_once.told.label
            assert together.told.share == pytest.approx(at_once.told.share, abs=1e-12), name
        assert parts[0].summary().numbers_rows == learner.summary().numbers_rows
        assert learner.summary().numbers_rows == {"rows": True, "date": True, "number": False}.get(name)


def of_these(seen):
    """The same labels, of which only those that occur are known."""
    found, positions = np.unique(seen.positions, return_inverse=True)
    return Labels([seen.labels[i] for i in found][::-1], len(found) - 1 - positions)


@pytest.mark.parametrize("n", [0, 1, 50, 3000, 60_000, 400_000])
def test_different_values_are_counted_to_a_few_per_cent(n):
    count, half = DistinctCount(), DistinctCount()
    count.add(scattered(np.arange(n) * 3.0))
    half.add(scattered(np.arange(n // 2, n) * 3.0))
    count.merge(half)
    assert count.count == pytest.approx(n, rel=0.03)


def test_names_of_identifiers():
    assert all(map(named_as_id, ["id", "ID", "customer_id", "PassengerId", "rowIndex", "IDpol", "order.id", "uuid"]))
    assert not any(map(named_as_id, ["paid", "video", "grid", "idle", "identity", "humid", "key_figure", "x"]))


def test_numbers_that_are_written_as_text_are_no_identifiers(rng):
    amounts, codes = rng.lognormal(6, 1, 60), rng.choice(10**6, 60, replace=False)
    frame = pd.DataFrame({"paid": [f"${x:,.2f}" for x in amounts], "zip": [f"{x:06d}" for x in codes], "a": amounts})
    data = riata.open(frame.assign(y=rng.normal(size=60)), target="y")
    assert "numbers that are written as text, such as '$" in notes_on(data, "paid")[0]
    assert "as an identifier has" in notes_on(data, "zip")[0]

"""Crosses: combinations of levels as features, with names, in files and models of all kinds."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import riata
from riata.data.columns import combined_levels, levels
from riata.data.columns.categories import Category, CategoryLearner, HashedCategory
from riata.data.columns.combined_levels import CombinedLevels, CrossedColumns
from riata.data.columns.crosses import Cross, CrossLearner
from riata.data.columns.strings import BucketNames, GrowingNames
from riata.data.encoding import Encoding
from riata.data.opening.open import open_data
from riata.errors import DataError, OptionError
from riata.model.saved_model import load_model


@pytest.fixture
def flights():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"carrier": rng.choice(["AA", "UA", None], 600), "dest": rng.choice(["SFO", "JFK"], 600),
                          "hour": rng.choice([7.0, 17.0], 600)})  # fmt: skip
    frame["delay"] = 1.0 * ((frame["carrier"] == "AA") & (frame["dest"] == "SFO")) + 0.01 * rng.normal(size=600)
    return frame


def test_every_combination_is_a_feature(flights):
    data = open_data(flights, "delay", crosses=[("carrier", "dest")])
    names = list(data.feature_names)
    assert "carrier=AA^dest=SFO" in names
    assert "carrier=(missing)^dest=JFK" in names
    both = ((flights["carrier"] == "AA") & (flights["dest"] == "SFO")).to_numpy()
    column = data.X[:, [names.index("carrier=AA^dest=SFO")]]
    assert_array_equal(np.asarray(column).ravel(), both.astype(float))


def test_a_column_of_numbers_is_written_alike_in_every_file(flights, tmp_path):
    data = open_data(flights, "delay", crosses=[("carrier", "hour")], drop=["carrier", "hour"])
    assert "carrier=AA^hour=7" in data.feature_names
    flights["hour"] = flights["hour"].astype(int)
    flights.to_csv(tmp_path / "flights.csv", index=False)
    again = open_data(str(tmp_path / "flights.csv"), "delay", encoding=data.encoding)
    assert_array_equal(np.asarray(again.X), np.asarray(data.X))


def test_rare_and_hashed_combinations(flights):
    flights["user"] = np.arange(600).astype(str)
    data = open_data(flights, "delay", crosses=[("user", "dest")], max_levels=100, hash_bits=4, drop=["user"])
    names = [name for name in data.feature_names if "user" in name]
    assert len(names) == 17
    assert any(name.startswith("user=0^dest=") for name in names)


def test_the_model_file_keeps_crosses(flights, tmp_path):
    data = open_data(flights, "delay", crosses=[("carrier", "dest"), ("carrier", "dest", "hour")])
    model = riata.SparseRegressor(k=1).fit(data)
    assert list(model.get_feature_names_out()) == ["carrier=AA^dest=SFO"]
    model.to_model().save(tmp_path / "model.json")
    encoding = Encoding.from_json(json.loads(json.dumps(load_model(tmp_path / "model.json").encoding)))
    (cross,) = encoding.encoders  # the only one that the model needs
    assert isinstance(cross, Cross)
    assert cross.columns == ("carrier", "dest")


def test_what_is_no_cross_is_refused(flights):
    for wrong in (["carrier"], [("carrier",)], [("carrier", "carrier")]):
        with pytest.raises(OptionError, match="two columns or more"):
            open_data(flights, "delay", crosses=wrong)
    with pytest.raises(DataError, match="no column 'origin'"):
        open_data(flights, "delay", crosses=[("carrier", "origin")])
    for role in ({"target": "delay"}, {"target": "hour", "weight": "delay"}):
        with pytest.raises(DataError, match=r"'delay' is the (target|weight)"):
            open_data(flights, **role, crosses=[("carrier", "delay")])


def test_all_crosses_are_those_of_every_pair_of_columns_of_levels(rng):
    n = 300
    table = pa.table({
        "a": rng.choice(["x", "y", "z"], n), "b": rng.choice(["u", "v", "w"], n), "c": rng.choice(["p", "q"], n),
        "number": rng.normal(size=n),
    })  # fmt: skip
    named = open_data(table, rng.normal(size=n), crosses=[("a", "b"), ("a", "c"), ("b", "c")])
    for asked in ("all", [("all",)], [("a", "c"), ("all",)]):
        found = open_data(table, rng.normal(size=n), crosses=asked)
        assert set(found.feature_names) == set(named.feature_names)


def columns_of(rng, n):
    """Levels with gaps, plain and as codes, and numbers, of which some are written as whole ones."""
    plain = pa.array(rng.choice(["a", "bé", "c^d=e", ""], n), mask=rng.random(n) < 0.2)
    coded = pa.array([f"level {i}" for i in rng.integers(0, 30, n)], mask=rng.random(n) < 0.1).dictionary_encode()
    return {"plain": plain, "coded": coded, "number": pa.array(rng.choice([7.0, 0.5, np.nan], n))}


def inner_encoders(levels):
    for rare in (False, True):
        yield lambda rare=rare: Category("x", tuple(sorted(levels)[::3]), rare, missing=False)
    yield lambda: HashedCategory("x", 4, {})
    yield lambda: HashedCategory("x", 3, GrowingNames(BucketNames(3)))


@pytest.mark.parametrize("crossed", [("plain", "coded"), ("coded", "plain"), ("number", "coded"),
                                     ("coded", "number", "plain")], ids="^".join)  # fmt: skip
def test_combinations_are_found_by_their_hashes_as_by_their_strings(crossed, rng, monkeypatch):
    columns = columns_of(rng, 400)
    numeric = tuple(name == "number" for name in crossed)
    strings = CombinedLevels(CrossedColumns(columns.__getitem__), crossed, numeric).strings()
    cells = [["(missing)" if v is None else f"{v:g}" if name == "number" else v for v in columns[name].to_pylist()]
             for name in crossed]  # fmt: skip
    cells = [["(missing)" if v == "nan" else v for v in column] for column in cells]
    rows = zip(*cells, strict=True)
    assert strings.to_pylist() == ["^".join(map("=".join, zip(crossed, row, strict=True))) for row in rows]
    for make in inner_encoders(set(strings.to_pylist())):
        found = {}
        for compiling in (False, True):
            monkeypatch.setattr(levels, "worth_compiling", lambda _, compiling=compiling: compiling)
            monkeypatch.setattr(combined_levels, "worth_compiling", lambda _, compiling=compiling: compiling)
            cross = Cross("x", crossed, numeric, make())
            parts = [
                cross.part([columns[name].slice(start, 150) for name in crossed], np.float64)
                for start in range(0, 400, 150)
            ]
            found[compiling] = [part.codes.tolist() for part in parts], parts[0].width, list(cross.names)
            assert [cross.names.find(name) for name in found[compiling][2]] == list(range(parts[0].width))
        assert found[False] == found[True]


@pytest.mark.parametrize("max_levels", [3, 60, 1000])
def test_a_first_pass_learns_combinations_by_their_hashes_as_by_their_strings(max_levels, rng, monkeypatch):
    columns = columns_of(rng, 400)
    found = {}
    for compiling in (False, True):
        monkeypatch.setattr(levels, "worth_compiling", lambda _, compiling=compiling: compiling)
        monkeypatch.setattr(combined_levels, "worth_compiling", lambda _, compiling=compiling: compiling)
        learner = CrossLearner(("coded", "plain"), (False, False), CategoryLearner("coded^plain", max_levels, 5))
        for start in range(0, 400, 150):
            some = [columns[name].slice(start, 150) for name in ("coded", "plain")]
            learner.add(some, np.ones(len(some[0])), None)
        found[compiling] = list(learner.encoder(400).names), learner.summary()
    assert found[False] == found[True]


def test_many_crosses_share_what_there_is_room_for(rng):
    n = 3000
    table = pa.table({name: [f"{i:x}" for i in rng.integers(0, 2000, n)] for name in "abcdef"})
    y = rng.normal(size=n)
    one = open_data(table, y, crosses=[("a", "b")], max_levels=100)
    assert one.n_features == 7 * (2**16 + 1)
    assert not any("crosses" in note for note in one.facts.profile.notes)
    many = open_data(table, y, crosses="all", max_levels=100, memory="128MB")
    assert many.n_features == 6 * (2**16 + 1) + 15 * (2**14 + 1)  # a quarter of 128 MB, 128 bytes each
    assert any("15 crosses are hashed into 16,384 buckets each" in note for note in many.facts.profile.notes)
    asked = open_data(table, y, crosses="all", max_levels=100, memory="128MB", hash_bits=10)
    assert asked.n_features == 21 * (2**10 + 1)


def test_rows_of_a_stream_that_become_too_many_numbers_are_learnt_in_parts(rng):
    n = 4000
    table = pa.table({name: [f"{i:x}" for i in rng.integers(0, 2000, n)] for name in "abcdefghijklmnopqr"})
    data = open_data(iter([table.append_column("y", pa.array(rng.normal(size=n)))]), "y", crosses="all", cache=False,
                     memory="100MB", hash_bits=8)  # fmt: skip
    sizes = [chunk.n_rows for chunk in data.visit()]
    assert sum(sizes) == n
    assert max(sizes) <= data.chunk_rows < n

"""Crosses: combinations of levels as features, with names, in files and models of all kinds."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import riata
from riata.data.columns.crosses import Cross
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

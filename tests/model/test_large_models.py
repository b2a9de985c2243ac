"""Models of very many features: read without objects of Python for each, and their memory is counted."""

import io
import json

import numpy as np
import pytest

import riata
from riata.data.columns.kept_names import KeptNames
from riata.errors import ModelFileError, OptionError
from riata.model import json_pieces
from riata.model.json_pieces import Pieces
from riata.model.listed_features import ListedFeatures

TEXTS = [
    "{}", ' { "a" : 1 , "b":[1,2.5,-3e-7] } ', '{"a": {"b": [{}, [], null, true, "\\u00e9 \\" ]"]}, "c": 1234567890}',
    '{"a": 1, "a": 2}', '{"features": []}', '{"x": NaN, "y": -Infinity}', "[1, 2]", "12345", '"text"', "\n{\n}\n",
]  # fmt: skip
NO_JSON = ["", " ", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{"a" 1}', "{1: 2}", "{} {}", '{"a":1]', "x"]
NO_JSON += ['{"a":1 "b":2}', '{"features": [1, 2}', '{"features": [1,]}', '{"features": [}', "\ufeff{}"]


def parsed(text):
    """As the file of a model is, but that features are a list."""
    from riata.model.model_file import _parsed

    found = _parsed(Pieces(io.StringIO(text)))
    if isinstance(found, dict) and isinstance(found.get("features"), ListedFeatures):
        found["features"] = list(found["features"])
    return found


@pytest.mark.parametrize("letters", [1, 2, 3, 7, 1 << 16])
def test_pieces_of_json_say_what_the_whole_says(letters, monkeypatch):
    monkeypatch.setattr(json_pieces, "LETTERS", letters)
    for text in TEXTS:
        assert repr(parsed(text)) == repr(json.loads(text)), text
    for text in NO_JSON:
        for read in (json.loads, parsed):
            with pytest.raises(ValueError):  # noqa: PT011 (of several kinds)
                read(text)


def test_features_that_cannot_be_stay_where_they_are():
    plain = [{"name": f"x{j}", "column": j, "coef": [0.5 * j, 1.0], "deviation": 2.0} for j in range(3)]
    odd = [3, {}, plain[0] | {"coef": [1.0]}, plain[0] | {"column": -1}, plain[0] | {"deviation": None}]
    mixed = [odd[0], plain[0], *odd[1:3], *plain[1:], *odd[3:]]
    listed = ListedFeatures(mixed)
    assert list(listed) == mixed
    assert len(listed) == len(mixed)
    listed = ListedFeatures(plain)
    assert (listed.names, listed.indices, listed.deviations) == (["x0", "x1", "x2"], [0, 1, 2], [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(listed.coef(2), [[0.0, 0.5, 1.0], [1.0, 1.0, 1.0]])


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of 25,000 features, and some rows of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 25_000))
    model = riata.SparseRegressor(alpha=1e-9, solver="fobos", max_passes=1).fit(X, rng.normal(size=30)).to_model()
    assert len(model.names) > 20_000
    path = tmp_path_factory.mktemp("large") / "m.json"
    model.save(path)
    return model, path, X


def test_a_large_model_comes_back_as_it_was(large):
    model, path, X = large
    loaded = riata.load_model(path)
    assert isinstance(loaded.names, KeptNames)
    assert not isinstance(loaded.indices, list)
    assert list(loaded.names) == list(model.names)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.save(path.with_name("again.json"))
    assert path.with_name("again.json").read_bytes() == path.read_bytes()


def test_a_large_model_is_checked_to_its_last_feature(large, tmp_path):
    document = json.loads(large[1].read_text())
    document["features"][-1]["coef"] = [1.0, 2.0]
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="the coefficient of 'x2"):
        riata.load_model(tmp_path / "m.json")
    document["features"][-1] = document["features"][0]
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="same column"):
        riata.load_model(tmp_path / "m.json")


def test_rows_are_read_in_the_memory_that_a_large_model_leaves(large, tmp_path):
    model, _, X = large
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(
        OptionError, match=r"the model has 2.,... features, which take .* MB, .* give it .* MB of memory"
    ):
        model.rows(str(tmp_path / "rows.npy"), need_target=False, memory="1MB")
    assert model.rows(str(tmp_path / "rows.npy"), need_target=False, memory="64MB").n_rows == 30

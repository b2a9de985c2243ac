"""A model's file holds the levels that the model uses, and predicts as if it held all of them."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import riata
from riata.data.columns import hashed_names, packed_names
from riata.data.encoding import Encoding
from riata.model.saved_model import load_model
from riata.training import trained as trained_models

KINDS = {
    "levels": {"features": ["level"]},
    "hashed levels": {"features": ["level"], "max_levels": 50, "hash_bits": 10},
    "words": {"features": ["words"], "text": ["words"]},
    "hashed words": {"features": ["words"], "text": ["words"], "hash_text": True, "hash_bits": 10},
    "weighted words": {"features": ["words"], "text": ["words"], "tfidf": True},
    "a cross": {"features": ["level"], "crosses": [("few", "level")]},
    "a hashed cross": {"features": ["few"], "crosses": [("few", "level")], "max_levels": 50, "hash_bits": 10},
    "a product": {"features": ["length"], "interactions": [("length", "few"), ("length", "level")]},
    "all": {},
}


def table(rng, n, more=0):
    """Rows with many levels, of which some are rare, missing, or, with `more`, in no other table."""
    level = rng.zipf(1.2, n).clip(max=3000) + more * rng.integers(0, 2, n) * 5000
    few = rng.choice(["a", "b", "(rare)"], n)
    words = [" ".join(f"w{j}" for j in rng.zipf(1.5, 5) % 200) for _ in range(n)]
    y = (level < 4) * 2.0 + (few == "a") + np.array(["w3 " in text for text in words]) + rng.normal(0, 0.1, n)
    names = pd.Series([f"l{i}" for i in level]).where(rng.random(n) > 0.05)
    length = rng.normal(size=n)
    return pd.DataFrame({"level": names, "few": few, "words": words, "length": length, "y": y + length * (few == "a")})


@pytest.mark.parametrize("kind", KINDS)
def test_it_predicts_as_with_all_levels(rng, tmp_path, kind):
    rows, others = table(rng, 1500), table(rng, 300, more=1)
    data = riata.open(rows, "y", **KINDS[kind])
    trained = riata.train(data, riata.Spec(k=8))
    trained.to_model().save(tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    everything = data.encoding.features(others_batch(others, data))
    dense = everything.toarray() if hasattr(everything, "toarray") else everything
    expected = dense[:, trained.support] @ trained.coef[0, trained.support] + trained.intercept[0]
    assert_allclose(model.predict(others), expected, rtol=1e-9)
    assert_allclose(model.predict(data), trained.to_model().predict(data), rtol=1e-9)


@pytest.mark.parametrize("kind", ["hashed levels", "hashed words", "a hashed cross"])
def test_names_of_many_buckets_are_narrowed_and_written_as_few_are(rng, tmp_path, monkeypatch, kind):
    rows = table(rng, 1500)
    trained = riata.train(riata.open(rows, "y", **KINDS[kind]), riata.Spec(k=8))
    few = trained.to_model()
    monkeypatch.setattr(packed_names, "MANY", 3)
    monkeypatch.setattr(hashed_names, "MANY", 3)
    monkeypatch.setattr(trained_models, "MANY", 3)
    data = riata.open(rows, "y", **KINDS[kind])
    model = riata.train(data, riata.Spec(k=8)).to_model()
    assert Encoding.from_json(model.encoding) == Encoding.from_json(few.encoding)
    model.save(tmp_path / "model.json")
    assert '"ends": "' in (tmp_path / "model.json").read_text()
    for again in (model, load_model(tmp_path / "model.json")):
        assert again.names == few.names
        assert list(again.indices) == few.indices
        assert list(again.deviations) == few.deviations
        assert [name for name, *_ in again.ranked] == [name for name, *_ in few.ranked]
        assert str(again) == str(few)
        assert again.predict(rows).tolist() == few.predict(rows).tolist()
        assert again.score(data) == few.score(data)


def others_batch(others, data):
    import pyarrow as pa

    return pa.RecordBatch.from_pandas(others[data.encoding.columns], preserve_index=False)


def test_its_file_is_small_where_columns_have_many_levels(rng, tmp_path):
    n = 30_000
    columns = {f"c{j}": [f"{i:08x}" for i in rng.zipf(1.1, n) % 20_000] for j in range(4)}
    y = np.array([one == f"{1:08x}" for one in columns["c0"]]) + rng.normal(0, 0.1, n)
    data = riata.open(pd.DataFrame(columns | {"y": y}), "y")
    riata.train(data, riata.Spec(k=3)).to_model().save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 20_000
    assert len(json.loads((tmp_path / "model.json").read_text())["features"]) == 3

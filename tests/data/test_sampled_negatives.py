"""All positive rows and a share of the others: the same in all passes, with weights that make up for the rest."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import riata
from riata.data.formats.parts import parts_of
from riata.data.formats.sampled_negatives import SampledNegatives
from riata.data.opening.sources import Reading, open_source
from riata.errors import DataError, OptionError

N = 20_000


def frame_of(rng, n=N):
    x = rng.normal(size=(n, 3))
    y = rng.random(n) < 1 / (1 + np.exp(3.0 - x[:, 0]))
    return pd.DataFrame(x, columns=list("abc")).assign(w=rng.integers(1, 4, n), row=np.arange(n), y=y.astype(int))


def chosen(data):
    """(row numbers, targets, weights) of all rows that are read."""
    chunks = list(data.visit())
    rows = np.concatenate([np.asarray(chunk.X.array)[:, 3] for chunk in chunks])
    return rows, *(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("y", "weight"))


@pytest.mark.parametrize("how", ["frame", "parquet", "csv", "one pass", "weights"])
def test_positives_stay_and_weights_make_up_for_the_rest(how, tmp_path, rng):
    frame = frame_of(rng)
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv", index=False)
    source = {"frame": frame, "csv": tmp_path / "x.csv"}.get(how, tmp_path / "x.parquet")
    weights = frame["w"].to_numpy() if how == "weights" else np.ones(N)
    options = {"weight": "w"} if how == "weights" else {"one_pass": True} if how == "one pass" else {}
    data = riata.open(source, "y", features=["a", "b", "c", "row"], sample_negatives=0.2, **options)
    rows, y, weight = chosen(data)
    positive = frame["y"].to_numpy() > 0
    kept = np.isin(np.arange(N), rows)
    assert kept[positive].all()
    assert kept[~positive].mean() == pytest.approx(0.2, abs=0.01)
    assert_allclose(y, frame["y"][rows.astype(int)])
    assert_allclose(weight, np.where(positive, 1.0, 5.0)[rows.astype(int)] * weights[rows.astype(int)])
    if how != "one pass":
        assert_allclose(chosen(data)[0], rows)  # a second pass
        assert any("a share of 0.2 is kept, which counts 5-fold" in note for note in data.profile.notes)


@pytest.mark.parametrize("spec", [{"alpha": 1e-3}, {"solver": "online", "k": 1}, {"solver": "sketch", "k": 1}], ids=str)
def test_models_are_those_of_all_rows_but_for_noise(spec, rng, tmp_path):
    frame_of(rng, 30_000).to_parquet(tmp_path / "x.parquet")
    probe = pd.DataFrame({"a": [-1.0, 0.0, 2.0], "b": 0.0, "c": 0.0})
    found = []
    for share in (None, 0.3):
        data = riata.open(
            tmp_path / "x.parquet",
            "y",
            features=["a", "b", "c"],
            sample_negatives=share,
            hashed=spec.get("solver") == "sketch",
        )
        model = riata.train(data, riata.Spec(loss="logistic", **spec)).to_model()
        p = model.predict_proba(probe)[:, list(model.classes).index(1)]
        found.append(np.log(p / (1 - p)))
    assert_allclose(found[1], found[0], atol=0.3)  # wrong weights would shift them by log(1 / 0.3) = 1.2


def test_a_bad_row_is_named_by_its_place_in_the_file(tmp_path, rng):
    frame = frame_of(rng, 200)
    frame["y"] = 0
    frame.loc[150, ["y", "w"]] = [1, -1]
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(DataError, match=r"row 151|line 152"):
        riata.open(tmp_path / "x.csv", "y", weight="w", sample_negatives=0.1)


def test_parts_of_a_source_choose_other_rows(rng, tmp_path):
    rows = frame_of(rng, 1000).assign(y=0)
    pd.concat([rows, rows]).to_parquet(tmp_path / "x.parquet", row_group_size=1000)
    source = SampledNegatives(open_source(tmp_path / "x.parquet", Reading(memory=10**6)), "y", None, 0.5)
    first, second = (
        set(pa.Table.from_batches(part.batches(["row"], 100))["row"].to_pylist()) for part in parts_of(source, 2)
    )
    assert 400 < len(first) < 600
    assert 150 < len(first & second) < 350


def test_what_cannot_be_sampled_is_refused(rng):
    frame = frame_of(rng, 50)
    words = frame.assign(y=np.where(frame["y"] > 0, "yes", "no"))
    with pytest.raises(DataError, match="make it 0 and 1"):
        riata.open(words, "y", sample_negatives=0.5)
    for share in (0.0, 1.5, "0.1", True):
        with pytest.raises(OptionError, match="above 0 and up to 1"):
            riata.open(frame, "y", sample_negatives=share)
    with pytest.raises(OptionError, match="sample_negatives would do nothing"):
        riata.open(frame[["a", "b"]].to_numpy(), frame["y"].to_numpy(), sample_negatives=0.5)

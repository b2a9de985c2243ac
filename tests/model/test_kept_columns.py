"""Columns written beside predictions: the same rows, as they are written."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.errors import DataError, OptionError
from riata.model.kept_columns import beside


def command(*words):
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture
def fitted(tmp_path, monkeypatch, rng):
    """A model, and rows with identifiers that look like numbers."""
    monkeypatch.chdir(tmp_path)
    n = 500
    rows = pd.DataFrame({"id": [f"{i:05d}" for i in range(n)]})
    rows["name"] = ["O'Hara, Jo" if i % 3 else None for i in range(n)]
    rows["x"], rows["level"] = rng.normal(size=n).round(3), rng.choice(["a", "b"], n)
    rows["y"] = 2 * rows["x"] + (rows["level"] == "a")
    rows.to_csv("rows.csv", index=False)
    result = command("fit", "rows.csv", "--target", "y", "--drop", "id,name", "--k", "2", "--out", "m.json")
    assert result.exit_code == 0, result.output
    return rows


@pytest.mark.parametrize("options", [[], ["--memory", "2MB"], ["--on-error", "skip"]], ids=str)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_stand_beside_the_predictions_of_their_rows(fitted, ending, options):
    many = pd.concat([fitted] * 40, ignore_index=True)  # several chunks, and several batches
    many["id"] = [f"{i:05d}" for i in range(len(many))]
    getattr(many, f"to_{ending}")(f"many.{ending}", index=False)
    result = command("predict", "m.json", f"many.{ending}", "--keep", "id,name", "--out", "out.csv", *options)
    assert result.exit_code == 0, result.output
    found = pd.read_csv("out.csv", dtype={"id": str})
    assert list(found) == ["id", "name", "prediction"]
    assert found["id"].tolist() == many["id"].tolist()
    assert found["name"].isna().tolist() == many["name"].isna().tolist()
    np.testing.assert_allclose(found["prediction"], riata.load_model("m.json").predict(many), rtol=1e-12)


def test_rows_that_are_left_out_are_left_out_of_both(fitted):
    lines = fitted.to_csv(index=False).splitlines()
    lines[7] = lines[7].replace(lines[7].split(",")[-3], "a word")
    with open("bad.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    result = command("predict", "m.json", "bad.csv", "--keep", "id", "--out", "out.csv", "--on-error", "skip")
    assert result.exit_code == 0, result.output
    found = pd.read_csv("out.csv", dtype={"id": str})
    assert found["id"].tolist() == fitted["id"].drop(6).tolist()


@pytest.mark.parametrize("options", [[], ["--on-error", "skip"]], ids=str)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_without_rows_the_columns_are_there(fitted, ending, options):
    getattr(fitted[:0], f"to_{ending}")(f"none.{ending}", index=False)
    for out in ("out.csv", "out.parquet"):
        result = command("predict", "m.json", f"none.{ending}", "--keep", "id,name", "--out", out, *options)
        assert result.exit_code == 0, result.output
        written = pd.read_csv(out) if out.endswith("csv") else pd.read_parquet(out)
        assert list(written.columns) == ["id", "name", "prediction"]
        assert len(written) == 0


def test_what_cannot_be_kept_is_refused(fitted):
    result = command("predict", "m.json", "rows.csv", "--keep", "idd")
    assert result.exit_code == 2
    assert "no column 'idd' to keep; did you mean 'id'?" in result.output
    fitted.rename(columns={"id": "prediction"}).to_csv("clash.csv", index=False)
    result = command("predict", "m.json", "clash.csv", "--keep", "prediction")
    assert result.exit_code == 2
    assert "of their own" in result.output
    np.save("rows.npy", np.zeros((3, 2)))
    for data, sentence in (("rows.npy", "an array without names"), ("digits49:test", "features and labels alone")):
        result = command("predict", "m.json", data, "--keep", "id")
        assert result.exit_code == 2
        assert f"{sentence}: " in result.output
        assert "no column 'id' to keep" in result.output


@pytest.mark.parametrize("sizes", [[3, 4], [7], [1, 1, 5], [0, 7]])
@pytest.mark.parametrize("batches", [[7], [2, 0, 5], [1] * 7])
def test_rows_meet_whatever_the_sizes_of_their_runs(sizes, batches):
    def runs(counts, name, start=0):
        for count in counts:
            yield pa.record_batch({name: pa.array(range(start, start + count), pa.int64())})
            start += count

    tables = [pa.Table.from_batches([batch]) for batch in runs(sizes, "prediction")]
    joined = pa.concat_tables(beside(runs(batches, "id"), tables))
    assert joined.column("id").to_pylist() == joined.column("prediction").to_pylist() == list(range(7))
    with pytest.raises(DataError, match="fewer rows"):
        list(beside(runs(batches[:-1], "id"), tables))
    with pytest.raises(DataError, match="more rows"):
        list(beside(runs([*batches, 1], "id"), tables))
    with pytest.raises(OptionError, match="of their own"):
        list(beside(runs(batches, "prediction"), tables))

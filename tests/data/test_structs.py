"""Structs: their fields are columns with dotted names, whatever the rows come from."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import riata
from riata.errors import DataError

N = 300


@pytest.fixture
def table(rng):
    size = rng.normal(size=N)
    homes = [
        None if i % 7 == 0 else {"size": float(v), "deep": {"city": "OU"[i % 2], "tags": ["a"]}}
        for i, v in enumerate(size)
    ]
    return pa.table({"home": homes, "Sepal.Width": rng.normal(size=N), "y": size + rng.normal(size=N)})


def written(table, kind, folder):
    """The table as something that riata opens."""
    if kind == "parquet":
        pq.write_table(table, folder / "a.parquet", row_group_size=70)
        return folder / "a.parquet"
    if kind == "arrow":
        with pa.OSFile(str(folder / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=70)
        return folder / "a.arrow"
    if kind == "dataset":
        written(table, "parquet", folder)
        return ds.dataset(folder)
    return table.to_reader(max_chunksize=70)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "dataset", "reader"])
def test_fields_of_structs_are_columns_as_those_of_a_table_are(kind, table, tmp_path):
    wanted = riata.open(table, target="y")
    data = riata.open(written(table, kind, tmp_path), target="y")
    assert {"home.size", "home.size=(missing)", "home.deep.city=U"} <= set(data.feature_names)
    assert list(data.feature_names) == list(wanted.feature_names)
    models = [riata.SparseRegressor(alpha_ratio=0.01).fit(one) for one in (data, wanted)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-9)
    if kind != "reader":  # which has been read
        np.testing.assert_allclose(models[1].predict(written(table, kind, tmp_path)), models[1].predict(table))


def test_fields_of_structs_are_read_from_wide_row_groups(rng, tmp_path):
    """Of a thousand columns and more, Parquet is read some columns at a time."""
    wide = {f"x{i}": rng.normal(size=40) for i in range(1200)}
    table = pa.table({"s": [{"a": float(i), "b": i % 3} for i in range(40)], **wide, "y": rng.normal(size=40)})
    pq.write_table(table, tmp_path / "wide.parquet")
    data = riata.open(tmp_path / "wide.parquet", target="y", drop=["s.b"])
    assert list(data.feature_names)[:2] == ["s.a", "x0"]
    assert data.profile.columns["s.a"].largest == 39.0


def test_a_struct_is_left_out_by_its_name(table, tmp_path):
    for source in (table, written(table, "parquet", tmp_path)):
        assert list(riata.open(source, target="y", drop=["home"]).feature_names) == ["Sepal.Width"]
        assert "home.size" in riata.open(source, target="y", drop=["home.deep"]).feature_names
        with pytest.raises(DataError, match="there is no column 'hom'"):
            riata.open(source, target="y", drop=["hom"])
        with pytest.raises(DataError, match=r"there is no column 'Sepal\.'"):
            riata.open(source, target="y", drop=["Sepal."])

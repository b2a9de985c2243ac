"""Parquet of thousands of columns: some columns at a time, and refused where memory is short."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from riata.data.formats import parquet
from riata.data.formats.files import find_files
from riata.data.formats.parquet import Parquet


@pytest.fixture
def file(tmp_path):
    """Columns of numbers, levels and lists, one of them without a name that can stand alone; some cells are missing."""
    rng = np.random.default_rng(0)
    table = pa.table({
        **{f"x{j}": pa.array(rng.normal(size=50), mask=rng.random(50) < 0.1) for j in range(20)},
        "x1.part": rng.normal(size=50),
        "level": [f"l{i % 3}" for i in range(50)],
        "coded": pa.array([f"c{i % 4}" for i in range(50)]).dictionary_encode(),
        "vector": pa.array([[float(i), 1.0] for i in range(50)]),
        "pair": pa.array([{"a": i, "b": i / 7} for i in range(50)]),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=17)
    return tmp_path / "rows.parquet"


@pytest.mark.parametrize("rows", [4, 17, 100])
def test_rows_are_the_same_some_columns_at_a_time(file, rows, monkeypatch):
    source = Parquet(find_files(str(file)), 10**6)
    names = source.schema.names[::-1]  # in another order than that of the file

    def read():
        return pa.Table.from_batches(source.batches(names, rows)).to_pylist()

    expected = read()
    assert len(expected) == 50
    monkeypatch.setattr(parquet, "MANY_COLUMNS", 3)
    monkeypatch.setattr(parquet, "AT_ONCE", 4)
    called = []
    some = parquet._some_columns_at_a_time
    monkeypatch.setattr(parquet, "_some_columns_at_a_time", lambda *words: called.append(1) or some(*words))
    assert read() == expected
    assert called


def test_more_columns_than_there_is_memory_for_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({f"x{j}": np.arange(3.0) for j in range(3000)}), path)
    with pytest.raises(
        riata.errors.DataError,
        match=r"to read 3,000 columns of Parquet takes about 42\.7 MB, more than the budget of 40",
    ):
        riata.open(path, target="x0", memory="40MB")
    assert riata.open(path, target="x0", features=["x1", "x2"], memory="40MB").n_features == 2

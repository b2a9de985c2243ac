"""Strings that Parquet stores as codes stay codes: what is made of them is what is made of plain strings."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from riata.data.formats.files import find_files
from riata.data.formats.parquet import Parquet

N = 150_000  # enough for batches of which codes pay
WORDS = np.array(["the cat sat on a mat today", "a dog ran over the green hill", "birds sing in the tall old tree"])


def a_table(kind):
    rng = np.random.default_rng(0)
    second = np.arange(N) >= N // 2  # whose row group has other levels
    colour = np.where(second, rng.choice(["blue", "green"], N), rng.choice(["red", "blue"], N))
    missing = rng.random(N) < 0.01
    day = np.datetime_as_string(np.datetime64("2026-01-01") + rng.integers(0, 300, N))
    return pa.table({
        "colour": pa.array(colour, mask=missing).cast(kind),
        "rare": pa.array(np.where(np.arange(N) == 7, "once", "often")).cast(kind),
        "day": pa.array(day).cast(kind),
        "said": pa.array(WORDS[rng.integers(0, 3, N)]).cast(kind),
        "age": rng.integers(20, 60, N).astype(np.int32),
        "answer": pa.array(np.where(rng.random(N) < 0.3, "yes", "no")).cast(kind),
    })  # fmt: skip


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_features_and_targets_are_those_of_plain_strings(tmp_path, kind):
    table = a_table(kind)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=N // 2)
    coded = riata.open(tmp_path / "rows.parquet", "answer", categorical=["age"])
    plain = riata.open(table, "answer", categorical=["age"])
    assert list(coded.feature_names) == list(plain.feature_names)
    assert list(coded.classes) == list(plain.classes) == ["no", "yes"]
    X, Y = (data.gather(np.arange(data.n_features)).as_csr() for data in (coded, plain))
    assert abs(X - Y).max() <= 1e-9  # the mean day is a sum over other batches
    for mine, others in zip(coded.targets(), plain.targets(), strict=True):
        np.testing.assert_array_equal(mine, others)


def test_within_a_budget_too(tmp_path):
    table = a_table(pa.string())
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=N // 2)
    coded = riata.open(tmp_path / "rows.parquet", "answer", memory="16MB")
    plain = riata.open(table, "answer")
    assert coded.n_chunks > 1
    np.testing.assert_allclose(coded.moments.mean, plain.moments.mean, rtol=1e-12)
    np.testing.assert_allclose(coded.moments.cross, plain.moments.cross, rtol=1e-9, atol=1e-9)


def test_strings_that_no_two_rows_share_are_read_as_they_are(tmp_path):
    """A dictionary would be one more copy of them."""
    n = 20_000
    table = pa.table({"person": [f"a-long-name-{i}" for i in range(n)], "town": [f"town {i % 300}" for i in range(n)]})
    pq.write_table(table, tmp_path / "rows.parquet")
    rows = Parquet(find_files(str(tmp_path / "rows.parquet")))
    rows.as_codes()
    batch = next(iter(rows.batches(["person", "town"], n)))
    assert [pa.types.is_dictionary(column.type) for column in batch.columns] == [False, True]
    assert batch.column("person").to_pylist() == table["person"].to_pylist()

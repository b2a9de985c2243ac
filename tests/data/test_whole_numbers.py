"""Whole numbers beyond 2^53: floats tell them apart well enough, or a sentence says that they do not."""

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import DataError


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("of", [np.asarray, lambda X: pd.DataFrame(X, columns=["x0", "b"])])
def test_large_whole_numbers_near_each_other_are_refused(dtype, of, rng):
    near = rng.integers(0, 1000, 200).astype(dtype)
    X = np.column_stack([near + dtype(2**62), rng.integers(0, 9, 200).astype(dtype)])
    y = 2.0 * near + rng.normal(size=200)
    with pytest.raises(DataError, match=r"column 'x0' has whole numbers from 46116860.* hardly tells apart"):
        riata.SparseRegressor(alpha=0.01).fit(of(X), y)


def test_an_opened_array_of_them_is_refused(rng):
    X = rng.integers(2**63, 2**63 + 1000, (200, 1), dtype=np.uint64)
    with pytest.raises(DataError, match="hardly tells apart"):
        riata.open(X, target=rng.normal(size=200))


@pytest.mark.parametrize("base", [2**62, 2**63 - 1000])
def test_a_file_of_them_is_refused_unless_others_are_far_away(base, rng, tmp_path):
    path = tmp_path / "rows.parquet"

    def write(numbers):
        frame = pd.DataFrame({"id": numbers, "b": rng.integers(0, 9, 200), "y": rng.normal(size=200)})
        frame.to_parquet(path, index=False)

    near = rng.integers(0, 999, 200) + base
    write(near)
    with pytest.raises(DataError, match=r"column 'id' in .*rows\..* has whole numbers from .* hardly tells apart"):
        riata.open(str(path), target="y")
    near[3] = 7
    write(near)
    assert riata.open(str(path), target="y", features=["id", "b"]).n_features == 2


def test_those_that_are_far_from_each_other_or_all_the_same_are_not(rng):
    spread = rng.integers(0, 2**63, 200, dtype=np.uint64)
    X = np.column_stack([spread, np.full(200, 2**63, np.uint64)])
    model = riata.SparseRegressor(alpha=0.01).fit(X, 2e-18 * spread.astype(float) + 0.01 * rng.normal(size=200))
    assert model.coef_[0] == pytest.approx(2e-18, rel=0.05)
    assert model.coef_[1] == 0.0


def frame_of(numbers, rng):
    return pd.DataFrame({"id": numbers, "b": rng.integers(0, 9, len(numbers)), "y": rng.normal(size=len(numbers))})


WRITTEN = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "json": lambda frame, path: frame.to_json(path, orient="records"),
}


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("base", [2**62, 2**63 - 1000, 2**64 - 1000, -(2**62)])
def test_text_is_looked_at_once_more_where_floats_are_nearly_the_same(ending, base, rng, tmp_path):
    path = tmp_path / f"rows.{ending}"
    numbers = [base + int(step) for step in rng.integers(0, 900, 200)]
    WRITTEN[ending](frame_of(np.array(numbers, dtype=object if base >= 2**63 else np.int64), rng), path)
    with pytest.raises(DataError, match=rf"'id' in .*rows\..* has whole numbers from {min(numbers)} to {max(numbers)}"):
        riata.open(str(path), target="y")


@pytest.mark.parametrize("ending", WRITTEN)
def test_text_of_one_large_number_and_of_fractions_is_read(ending, rng, tmp_path):
    path = tmp_path / f"rows.{ending}"
    WRITTEN[ending](frame_of(np.full(200, 2**62 + 1), rng), path)
    assert riata.open(str(path), target="y", features=["id", "b"]).n_features == 2
    WRITTEN[ending](frame_of(rng.choice([2.0**60, np.nextafter(2.0**60, np.inf)], 200), rng), path)
    assert riata.open(str(path), target="y", features=["id", "b"]).n_features == 2


def test_arrays_in_files_lists_and_rows_that_are_lists_are_refused_as_arrays_are(rng, tmp_path):
    near = rng.integers(2**62, 2**62 + 1000, 200)
    X, y = np.column_stack([rng.integers(0, 9, 200), near]), rng.normal(size=200)
    np.save(tmp_path / "rows.npy", X)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    pd.DataFrame({"v": X.tolist(), "y": y}).to_parquet(tmp_path / "lists.parquet")
    for name, target, column in (("rows.npy", y, "x1"), ("rows.npz", None, "x1"), ("lists.parquet", "y", r"v\[1\]")):
        with pytest.raises(DataError, match=f"column '{column}' in .* has whole numbers from .* hardly tells apart"):
            riata.open(str(tmp_path / name), target=target)
    mixed = [[0.5 * a, b] for a, b in X.tolist()]
    for rows in (X.tolist(), mixed):
        with pytest.raises(DataError, match=r"column 'x1' has whole numbers from .* hardly tells apart"):
            riata.SparseRegressor(alpha=0.01).fit(rows, y)
    X[0, 1] = 0
    np.save(tmp_path / "rows.npy", X)
    assert riata.open(str(tmp_path / "rows.npy"), target=y).n_features == 2

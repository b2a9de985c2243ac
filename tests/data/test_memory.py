"""The memory budget is kept whatever the number of rows: peak memory of fits in processes of their own."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from peak_memory import peaks_mb
from riata.errors import OptionError

BUDGET_MB = 80
N_FEATURES = 20


def write_rows(path, n_rows):
    """Rows of numbers and a category, some thousands at a time."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, 50_000):
        n = min(50_000, n_rows - start)
        X = rng.normal(size=(n, N_FEATURES)).round(3)
        columns = {f"x{j}": X[:, j] for j in range(N_FEATURES)} | {"y": X[:, 0] - X[:, 1] + rng.normal(size=n)}
        table = pa.table(columns | {"c": rng.choice(["p", "q", "r"], n)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def command(path, *options, target="y", budget_mb=BUDGET_MB):
    return ["fit", str(path), "--target", str(target), "--task", "regression", "--quiet", *options,
            "--memory", f"{budget_mb}MB", "--out", str(path.with_suffix(".json"))]  # fmt: skip


def test_four_times_the_rows_keep_the_same_peak_memory(tmp_path):
    """The further rows, encoded, are 105 MB: had they been kept, no bound here would hold."""
    few, many = tmp_path / "few.parquet", tmp_path / "many.parquet"
    write_rows(few, 200_000)
    write_rows(many, 800_000)
    assert 600_000 * 8 * (N_FEATURES + 2) >= 100e6
    once, four_times = peaks_mb(*(command(path, "--alpha-ratio", "0.3") for path in (few, many)))
    assert max(once, four_times) < BUDGET_MB
    assert four_times - once < 40


def test_rows_that_just_fit_in_memory_keep_to_the_budget(tmp_path):
    """Decoded and encoded they are a quarter of the budget each, and are never there as a whole at the same time."""
    few, path = tmp_path / "few.parquet", tmp_path / "fits.parquet"
    write_rows(few, 5000)  # too many to be interpreted: what compiled code takes is there before the peak is measured
    write_rows(path, 100_000)
    assert BUDGET_MB / 5 < 100_000 * 8 * (N_FEATURES + 2) / 1e6 < BUDGET_MB / 4
    _, peak = peaks_mb(*(command(rows, "--alpha-ratio", "0.3") for rows in (few, path)))  # the first runs twice
    assert peak < BUDGET_MB


def test_many_classes_keep_to_the_budget(tmp_path, rng):
    """The margins of all rows and classes are 20 MB, and the targets and weights of all classes 40: none stay."""
    for name, n in (("few", 5000), ("many", 125_000)):
        X = rng.normal(size=(n, 8)).round(2)
        columns = {f"x{j}": X[:, j] for j in range(8)}
        label = (np.abs(X[:, 0]) * 8).astype(int).clip(max=19)
        pq.write_table(pa.table(columns | {"y": [f"class {k}" for k in label]}), tmp_path / f"{name}.parquet")
    budget = 64
    commands = [command(tmp_path / f"{name}.parquet", "--alpha-ratio", "0.5", budget_mb=budget)
                for name in ("few", "many")]  # fmt: skip
    of_classes = [[word.replace("regression", "classification") for word in words] for words in commands]
    _, peak = peaks_mb(*of_classes)
    assert peak < budget


def test_the_best_k_of_a_cross_keeps_to_the_budget(tmp_path, rng):
    """Of 200 times 200 levels, more than are kept apart: 2^16 features, and a row of H of one of them is 0.5 MB."""
    for name, n in (("few", 1000), ("many", 100_000)):
        levels = {c: rng.choice([f"{c}{i}" for i in range(200)], n) for c in "ab"}
        pq.write_table(
            pa.table({"x": rng.normal(size=n), "y": rng.normal(size=n), **levels}), tmp_path / f"{name}.parquet"
        )
    cross = ("--k", "5", "--cross", "a,b")
    _, peak = peaks_mb(*(command(tmp_path / f"{name}.parquet", *cross, budget_mb=96) for name in ("few", "many")))
    assert peak < 96


def test_the_best_k_of_wide_rows_keep_to_the_budget(tmp_path, rng):
    """A row of H of every candidate is 0.3 MB, and there are as many candidates as the budget allows."""
    np.save(tmp_path / "wide.npy", rng.normal(size=(400, 40_001)).astype(np.float32))
    (peak,) = peaks_mb(command(tmp_path / "wide.npy", "--k", "10", target=0, budget_mb=128))
    assert peak < 128


def test_a_budget_given_to_open_holds_for_the_solver_too(tmp_path, rng):
    """Five hundred features that all want in need a curvature of 8 MB, and there is 1 MB."""
    X = rng.normal(size=(600, 500))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", X @ rng.normal(size=500))
    data = riata.open(str(tmp_path / "X.npy"), target=str(tmp_path / "y.npy"), memory="1MB")
    with pytest.raises(OptionError, match="more than the budget of 1 MB"):
        riata.SparseRegressor(alpha_ratio=1e-4).fit(data)

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


def test_rows_that_just_fit_in_memory_and_many_times_more_keep_to_the_budget(tmp_path):
    """What just fits is a quarter of the budget decoded and encoded each, and never there as a whole at the same time.

    Of the many rows, which are more than the budget, no share can have stayed.
    """
    n_rows = {"few": 5000, "fits": 100_000, "many": 600_000}  # few: too many to be interpreted, so that all is loaded
    encoded_mb = {name: n * 8 * (N_FEATURES + 2) / 1e6 for name, n in n_rows.items()}
    assert BUDGET_MB / 5 < encoded_mb["fits"] < BUDGET_MB / 4
    assert encoded_mb["many"] > 1.25 * BUDGET_MB
    for name, n in n_rows.items():
        write_rows(tmp_path / f"{name}.parquet", n)
    peaks = peaks_mb(*(command(tmp_path / f"{name}.parquet", "--alpha-ratio", "0.3") for name in n_rows))
    assert max(peaks) < BUDGET_MB, peaks


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
    for name, n, n_levels in (("few", 5000, 20), ("many", 100_000, 200)):
        levels = {c: rng.choice([f"{c}{i}" for i in range(n_levels)], n) for c in "ab"}
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

"""The memory budget is kept whatever the number of rows: peak memory of fits in processes of their own."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
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


def peak_mb(path, tmp_path, *options, target="y", budget_mb=BUDGET_MB):
    code = "from riata.cli import main; main()"
    arguments = ["fit", str(path), "--target", str(target), "--task", "regression", "--json", *options,
                 "--memory", f"{budget_mb}MB", "--out", str(tmp_path / "model.json")]  # fmt: skip
    for _ in range(2):  # compiling takes memory too: what the first run compiles, the second finds on the disk
        result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["peak_rss_mb"]


def test_twice_the_rows_keep_the_same_peak_memory(tmp_path):
    peaks = []
    for n_rows in (100, 150_000, 300_000):
        path = tmp_path / f"{n_rows}.parquet"
        write_rows(path, n_rows)
        peaks.append(peak_mb(path, tmp_path, "--alpha-ratio", "0.3"))
    nothing, once, twice = peaks
    assert max(once, twice) - nothing < BUDGET_MB
    assert twice - once < 15  # the encoded rows alone would be 28 MB more


def test_the_best_k_of_wide_rows_keep_to_the_budget(tmp_path, rng):
    """A row of H of every candidate is 0.3 MB, and there are as many candidates as the budget allows."""
    wide = rng.normal(size=(400, 40_001)).astype(np.float32)
    np.save(tmp_path / "wide.npy", wide)
    np.save(tmp_path / "few.npy", wide[:, :50])
    few, many = (
        peak_mb(tmp_path / f"{name}.npy", tmp_path, "--k", "10", target=0, budget_mb=128) for name in ("few", "wide")
    )
    assert many - few < 128


def test_a_budget_given_to_open_holds_for_the_solver_too(tmp_path, rng):
    """Five hundred features that all want in need a curvature of 8 MB, and there is 1 MB."""
    X = rng.normal(size=(600, 500))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", X @ rng.normal(size=500))
    data = riata.open(str(tmp_path / "X.npy"), target=str(tmp_path / "y.npy"), memory="1MB")
    with pytest.raises(OptionError, match="more than the budget of 1 MB"):
        riata.SparseRegressor(alpha_ratio=1e-4).fit(data)

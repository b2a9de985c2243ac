"""Peak memory and time of fits from files of 1, 2 and 4 times the rows, each in a process of its own.

    python benchmarks/memory.py [--megabytes 8000] [--format npy] [--memory 256MB] [--folder /tmp]

The largest file has about so many megabytes. The first line is a fit to 100 rows: what the process needs anyway. The
budget is kept where no other line is above that one by more than it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.lib.format import write_array_header_1_0

N_FEATURES, STEP = 100, 20_000
ROW_BYTES = {"npy": 4 * (N_FEATURES + 1), "parquet": 4.3 * (N_FEATURES + 1), "csv": 11 * (N_FEATURES + 1)}


def parts(n_rows: int):
    """Rows and their targets, some thousands at a time."""
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, STEP):
        X = rng.standard_normal((min(STEP, n_rows - start), N_FEATURES), dtype=np.float32)
        yield X, X[:, 0] - X[:, 1] + rng.standard_normal(len(X), dtype=np.float32)


def write_rows(path: Path, n_rows: int) -> None:
    if path.suffix == ".npy":
        head = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, N_FEATURES + 1)}
        with path.open("wb") as file:
            write_array_header_1_0(file, head)
            for X, y in parts(n_rows):
                np.column_stack([X, y]).tofile(file)
        return
    writer = None
    for X, y in parts(n_rows):
        table = pa.table({f"x{j}": X[:, j] for j in range(N_FEATURES)} | {"y": y})
        writer = writer or (pacsv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter)(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def fit(path: Path, memory: str) -> dict:
    target = str(N_FEATURES) if path.suffix == ".npy" else "y"
    command = [sys.executable, "-c", "from riata.cli import main; main()", "fit", str(path), "--target", target,
               "--task", "regression", "--alpha-ratio", "0.1", "--memory", memory, "--json",
               "--cache-dir", str(path.parent), "--out", str(path.parent / "model.json")]  # fmt: skip
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=8000)
    parser.add_argument("--format", choices=list(ROW_BYTES), default="npy")
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--folder")
    options = parser.parse_args()
    most = int(options.megabytes * 1e6 / ROW_BYTES[options.format])
    print(f"{options.format}, {N_FEATURES} features, --memory {options.memory}\n")
    print("| rows | file, MB | peak, MB | seconds | passes |\n| --- | --- | --- | --- | --- |")
    for n_rows in (100, most // 4, most // 2, most):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder) / f"rows.{options.format}"
            write_rows(path, n_rows)
            found = fit(path, options.memory)
            size = path.stat().st_size / 1e6
        print(
            f"| {n_rows:,} | {size:,.0f} | {found['peak_rss_mb']:.0f} | {found['seconds']:.1f} | {found['passes']:g} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

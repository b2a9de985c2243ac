"""The exact Lasso from a file far larger than the budget: its time against that of reading the file once per pass.

    python benchmarks/disk.py [--gigabytes 8] [--memory 256MB] [--folder /tmp]

The aim is at most 1.5, with no more memory than a fit to 100 rows and the budget. The file, float32 .npy of correlated
columns of which fifty matter, is made first and deleted at the end. Reading once is riata's own pass over the chunks
with nothing done to them. Where the file fits the page cache neither touches the disk; then it is the processor's time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.lib.format import write_array_header_1_0

N_FEATURES, STEP, MATTER = 1000, 5_000, 50


def write_rows(path: Path, n_rows: int) -> None:
    """Rows x = noise + a common factor of ten, the target last."""
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(10, N_FEATURES)).astype(np.float32)
    with path.open("wb") as file:
        shape = (n_rows, N_FEATURES + 1)
        write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        for start in range(0, n_rows, STEP):
            n = min(STEP, n_rows - start)
            X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
            X += 0.5 * rng.standard_normal((n, 10), dtype=np.float32) @ loadings
            y = X[:, ::20] @ np.linspace(-1.0, 1.0, MATTER, dtype=np.float32) + rng.standard_normal(n, dtype=np.float32)
            np.column_stack([X, y]).tofile(file)


def fit(path: Path, memory: str) -> dict:
    """What `riata fit` says of itself, in a process of its own."""
    command = [sys.executable, "-c", "from riata.cli import main; main()", "fit", str(path), "--task", "regression",
               "--target", str(N_FEATURES), "--alpha-ratio", "0.01", "--memory", memory, "--json",
               "--out", str(path.with_suffix(".json"))]  # fmt: skip
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def reading_seconds(path: Path, memory: str) -> float:
    """One pass over the chunks that does nothing with them but look at their bytes."""
    import riata

    data = riata.open(path, target=N_FEATURES, task="regression", memory=memory)
    started = time.perf_counter()
    data.sum(lambda chunk: float(np.add.reduce(chunk.X, axis=None)))
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        few, path = Path(folder) / "few.npy", Path(folder) / "rows.npy"
        write_rows(few, 100)
        n_rows = int(options.gigabytes * 1e9 / (4 * (N_FEATURES + 1)))
        write_rows(path, n_rows)
        idle, found = fit(few, options.memory), fit(path, options.memory)
        once = reading_seconds(path, options.memory)
    ratio = found["seconds"] / (found["passes"] * once)
    print("| GB | rows | features chosen | gap | passes | seconds | reading once s | ratio | peak MB | above idle MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    above = found["peak_rss_mb"] - idle["peak_rss_mb"]
    print(
        f"| {options.gigabytes:g} | {n_rows} | {found['n_selected']} | {found['gap']:.0e} | {found['passes']:g} | "
        f"{found['seconds']:.1f} | {once:.2f} | {ratio:.2f} | {found['peak_rss_mb']:.0f} | {above:.0f} |"
    )


if __name__ == "__main__":
    main()

"""Best k of a million features from a file, within a budget of memory: passes, seconds and peak memory.

    python benchmarks/wide_best_k.py [--dense] [--rows 20000] [--k 100] [--memory 1GB] [--certify] [--folder /tmp]

Sparse rows (svmlight) have 100 of the features each; dense ones (`--dense`, npy) are normal numbers of 4 bytes, a file
of 4 MB for every row. The target is a sum of k features, with noise of half its deviation. Every fit is in a process of
its own; the first is one of 2000 rows of 60 features, which says what the process needs anyway: the budget is kept
where the other is above it by no more. With `--certify` the fit, which then has a ridge of 1 in units of deviations, is
followed by the best bound at the root, screening, and a search if what is left fits; the last lines say how far.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.lib.format import write_array_header_1_0

IN_A_ROW = 100  # features of a sparse row
STEP = 50  # dense rows at a time


def write_sparse(path, n_rows, n_features, k):
    """Rows of counts from 1 to 3: a fifth of them of the k features of the model, the others of any."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="ascii") as file:
        for _ in range(n_rows):
            model = rng.choice(min(k, n_features), min(IN_A_ROW // 5, k, n_features), replace=False)
            others = rng.integers(0, n_features, IN_A_ROW - len(model))
            features = np.unique(np.append(model, others))
            counts = rng.integers(1, 4, len(features))
            signal = counts[features < k] @ np.where(features[features < k] % 2, 1.0, -1.0)
            y = signal + rng.normal() * np.sqrt(IN_A_ROW // 5)
            file.write(f"{y:.6g} " + " ".join(f"{j + 1}:{c}" for j, c in zip(features, counts, strict=True)) + "\n")


def write_dense(path, n_rows, n_features, k):
    """Normal numbers, the target in the last column."""
    rng = np.random.default_rng(0)
    k = min(k, n_features)
    with path.open("wb") as file:
        write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n_rows, n_features + 1)})
        for start in range(0, n_rows, STEP):
            X = rng.standard_normal((min(STEP, n_rows - start), n_features), dtype=np.float32)
            y = X[:, :k].sum(axis=1) + 0.5 * np.sqrt(k) * rng.standard_normal(len(X), dtype=np.float32)
            np.column_stack([X, y]).astype(np.float32).tofile(file)


def fit(path, k, memory, n_features, options):
    """What `riata fit --json` says."""
    target = ["--target", str(n_features)] if path.suffix == ".npy" else []
    certify = ["--certify", "--ridge", str(options.ridge), "--certify-time", options.seconds] if options.certify else []
    command = [sys.executable, "-c", "from riata.cli import main; main()", "fit", str(path), *target, "--k", str(k),
               "--task", "regression", "--memory", memory, "--json", "--cache-dir", str(path.parent), *certify,
               "--out", str(path.parent / "model.json")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--certify", action="store_true")
    parser.add_argument("--ridge", type=float, default=1.0, help="beside --certify")
    parser.add_argument("--seconds", default="600s", help="of a certificate's search")
    parser.add_argument("--folder")
    options = parser.parse_args()
    print("| rows x features | k | file, MB | passes | seconds | peak, MB |\n| --- | --- | --- | --- | --- | --- |")
    for n_rows, n_features, k in ((2000, 60, 2), (options.rows, options.features, options.k)):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder) / ("rows.npy" if options.dense else "rows.svm")
            (write_dense if options.dense else write_sparse)(path, n_rows, n_features, k)
            found = fit(path, k, options.memory, n_features, options)
            size = path.stat().st_size / 1e6
        print(
            f"| {n_rows:,} x {n_features:,} | {k} | {size:,.1f} | {found['passes']:g} | {found['seconds']:.1f} | "
            f"{found['peak_rss_mb']:.0f} |",
            flush=True,
        )
    print(f"\n{found['stopped_because']}\n{found['how_much_better']}")


if __name__ == "__main__":
    main()

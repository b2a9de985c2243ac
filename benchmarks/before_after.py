"""This checkout against an earlier one: processor seconds of the same fits, in turn, as ratios.

    python benchmarks/before_after.py --base REVISION [--only digits49] [--rounds 3] [--calls 4]

The earlier source is checked out into a temporary folder. Every case runs in a fresh process of either source, one
after the other so that both see the same machine, and its figure is the least processor time of the warm calls of all
rounds. Only the public interface is used, so that the two sources may differ in everything else; a case that fails with
either is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

NOISE = 1.1  # ratios of identical sources on a busy machine reach this


def _fits(estimator, data, loss=None, **options):
    """A function that fits the options to a data set of `problems.py`."""
    options = options if loss is None else {**options, "loss": loss}

    def prepare():
        import riata
        from problems import LOADERS

        X, y = LOADERS[data]()
        model = getattr(riata, estimator)(**options)
        return lambda: model.fit(X, y)

    return prepare


def _path(data, reach, loss="squared"):
    """A path of a hundred alphas, scored on the rows it was learnt from (no folds)."""

    def prepare():
        import riata
        from problems import LOADERS

        X, y = LOADERS[data]()
        kind = riata.SparseRegressor if loss == "squared" else riata.SparseClassifier
        model = kind(alpha="auto", select="bic", alpha_reach=reach, standardize=False)
        return lambda: model.fit(X, y)

    return prepare


def _from_file(suffix, **options):
    """A fit from a file of 200,000 rows of 60 correlated numbers, 40 MB of budget."""

    def prepare():
        import pyarrow as pa
        import pyarrow.parquet as pq

        import riata

        rng = np.random.default_rng(0)
        X = rng.normal(size=(200_000, 60)) + rng.normal(size=(200_000, 1))
        y = X[:, :5].sum(axis=1) + rng.normal(size=len(X))
        folder = Path(tempfile.mkdtemp())
        if suffix == "npy":
            path, target = folder / "rows.npy", -1
            np.save(path, np.column_stack([X, y]))
        else:
            path, target = folder / "rows.parquet", "y"
            columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
            pq.write_table(pa.table(columns), path)
        model = riata.SparseRegressor(**options)
        return lambda: model.fit(riata.open(path, target=target, memory="40MB"))

    return prepare


CASES = {
    "digits49 Lasso max/30": _fits("SparseRegressor", "digits49", alpha_ratio=1 / 30, standardize=False),
    "digits49 Lasso max/100": _fits("SparseRegressor", "digits49", alpha_ratio=1 / 100, standardize=False),
    "digits49 logistic max/30": _fits("SparseClassifier", "digits49", alpha_ratio=1 / 30, standardize=False),
    "digits49 best 50": _fits("SparseRegressor", "digits49", k=50),
    "digits49 best 20, logistic": _fits("SparseClassifier", "digits49", k=20),
    "digits49 online": _fits("SparseClassifier", "digits49", solver="online", random_state=0),
    "imdb Lasso max/10": _fits("SparseRegressor", "imdb", alpha_ratio=0.1, standardize=False),
    "imdb logistic max/10": _fits("SparseClassifier", "imdb", alpha_ratio=0.1, standardize=False),
    "imdb online": _fits("SparseClassifier", "imdb", solver="online", random_state=0),
    "imdb ftrl": _fits("SparseClassifier", "imdb", solver="ftrl", alpha=1e-4, max_passes=1, standardize=False),
    "golub Lasso path": _path("golub", 0.1),
    "golub logistic path": _path("golub", 0.1, "logistic"),
    "riboflavin Lasso path": _path("riboflavin", 0.1),
    "covtype logistic max/10": _fits("SparseClassifier", "covtype", alpha_ratio=0.1, standardize=False),
    "covtype logistic max/100": _fits("SparseClassifier", "covtype", alpha_ratio=0.01, standardize=False),
    "Parquet Lasso, 40 MB": _from_file("parquet", alpha_ratio=0.03),
    ".npy best 10, 40 MB": _from_file("npy", k=10),
}


def measure(case: str, calls: int) -> None:
    """In a process of its own: the least processor time of the warm calls, as JSON."""
    import warnings

    warnings.simplefilter("ignore")
    call = CASES[case]()
    seconds = []
    for _ in range(calls):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    print(json.dumps(min(seconds[1:])))


def run(source: Path, case: str, calls: int) -> float | None:
    """Processor seconds of a case with this source; None, and a line that says why, where it fails."""
    here = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source / "src"), str(here)])}
    command = [sys.executable, __file__, "--measure", case, "--calls", str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        print(f"{case} failed with {source}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="the revision to compare with")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--calls", type=int, default=4, help="of a case in a process; the first compiles or loads, and is not counted"
    )
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.calls)
        return
    head = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        subprocess.run(["git", "-C", head, "worktree", "add", "--detach", "-q", base, options.base], check=True)
        try:
            print(f"| fit | {options.base} s | here s | here / {options.base} |\n| --- | --- | --- | --- |")
            for case in CASES:
                if options.only not in case:
                    continue
                before, after = [], []
                for _ in range(options.rounds):
                    before.append(run(base, case, options.calls))
                    after.append(run(head, case, options.calls))
                if None in before or None in after:
                    continue
                ratio = min(after) / min(before)
                mark = " (slower)" if ratio > NOISE else ""
                print(f"| {case} | {min(before):.3f} | {min(after):.3f} | {ratio:.2f}{mark} |", flush=True)
        finally:
            subprocess.run(["git", "-C", head, "worktree", "remove", "--force", base], check=True)


if __name__ == "__main__":
    main()

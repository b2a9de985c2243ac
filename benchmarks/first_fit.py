"""What the first fit of a machine costs, and the second: processor seconds of `riata fit` in fresh processes.

    python benchmarks/first_fit.py [--kernels] [--only exact]

The first runs with an empty cache and so compiles what it calls; the second finds machine code there. `--kernels` lists
the seconds that each compiled kernel took, those it calls and compiles on the way not counted.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS, NUMBERS = 1000, 10
TASKS = ("regression", "classification")
OPTIONS = {"exact": ["--alpha-ratio", "0.1"], "best-k": ["--k", "3"]}
PROFILED = """
import sys, time
from numba.core import dispatcher
spent, stack, compile_one = {}, [], dispatcher.Dispatcher.compile
def timed(self, signature):
    stack.append(0.0)
    began, missed = time.process_time(), sum(self._cache_misses.values())
    try:
        return compile_one(self, signature)
    finally:
        seconds, inner = time.process_time() - began, stack.pop()
        if stack:
            stack[-1] += seconds
        kind = "compile" if sum(self._cache_misses.values()) > missed else "load"
        name = f"{kind} {self.py_func.__module__}.{self.py_func.__name__} {signature}"
        spent[name] = spent.get(name, 0.0) + seconds - inner
dispatcher.Dispatcher.compile = timed
sys.argv[0] = "riata"
from riata.cli import main
try:
    main()
finally:
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        if seconds > 0.003:
            print(f"{seconds:7.3f}  {name}", file=sys.stderr)
"""


def write_csv(path: Path, task: str) -> None:
    """1000 rows of ten numbers and a target of three of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, NUMBERS))
    y = X[:, 0] - 2.0 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=ROWS)
    target = y if task == "regression" else np.where(y > 0.0, 1.0, 0.0)
    header = ",".join([f"x{j}" for j in range(NUMBERS)] + ["y"])
    np.savetxt(path, np.column_stack([X, target]), delimiter=",", header=header, comments="", fmt="%.6g")


def processor_seconds(command: list[str], environment: dict[str, str], show: bool) -> float:
    """Of a process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or show:
        print(done.stderr)
    done.check_returncode()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--only", choices=OPTIONS)
    parser.add_argument("--task", choices=TASKS)
    asked = parser.parse_args()
    print("| solver | task | first fit (s) | second |\n| --- | --- | --- | --- |")
    for solver, options in OPTIONS.items():
        for task in TASKS:
            if asked.only in (None, solver) and asked.task in (None, task):
                with tempfile.TemporaryDirectory() as folder:
                    data = Path(folder, "small.csv")
                    write_csv(data, task)
                    start = ["-c", PROFILED] if asked.kernels else ["-c", "from riata.cli import main; main()"]
                    command = [sys.executable, *start, "fit", str(data), "--target", "y", *options]
                    command += ["--out", f"{folder}/model.json"]
                    environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache", "RIATA_CACHE": f"{folder}/cache"}
                    first, second = (processor_seconds(command, environment, asked.kernels) for _ in range(2))
                    print(f"| {solver} | {task} | {first:.1f} | {second:.2f} |")


if __name__ == "__main__":
    main()

"""What the first fit of a machine costs, and the second: processor seconds of fresh processes, all imports included.

    python benchmarks/first_fit.py [--kernels] [--only exact] [--task regression] [--face Python] [--rows 1000]

The first runs with an empty cache and so compiles what it calls; the second finds machine code there. Fits as small as
the default are interpreted; `--rows 10000` are not. Least of some rounds. `--kernels` lists the seconds that each
compiled kernel took, those it calls and compiles on the way not counted.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

NUMBERS = 10
TASKS = ("regression", "classification")
OPTIONS = {"exact": ["--alpha-ratio", "0.1"], "best-k": ["--k", "3"]}
PARAMETERS = {"exact": "alpha_ratio=0.1", "best-k": "k=3"}
ESTIMATORS = {"regression": "SparseRegressor", "classification": "SparseClassifier"}
FACES = ("Python", "command line")
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
try:
    START
finally:
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        if seconds > 0.003:
            print(f"{seconds:7.3f}  {name}", file=sys.stderr)
"""


def write_csv(path: Path, task: str, n_rows: int) -> None:
    """Rows of ten numbers and a target of three of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, NUMBERS))
    y = X[:, 0] - 2.0 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=n_rows)
    target = y if task == "regression" else np.where(y > 0.0, 1.0, 0.0)
    header = ",".join([f"x{j}" for j in range(NUMBERS)] + ["y"])
    np.savetxt(path, np.column_stack([X, target]), delimiter=",", header=header, comments="", fmt="%.6g")


def command_of(face: str, solver: str, task: str, folder: str, kernels: bool) -> list[str]:
    """The fit in a process of its own."""
    data = f"{folder}/small.csv"
    if face == "Python":
        read = f"import numpy; rows = numpy.loadtxt({data!r}, delimiter=',', skiprows=1)"
        start = f"{read}; import riata; riata.{ESTIMATORS[task]}({PARAMETERS[solver]}).fit(rows[:, :-1], rows[:, -1])"
        arguments = []
    else:
        start = "from riata.cli import main; main()"
        arguments = ["fit", data, "--target", "y", *OPTIONS[solver], "--out", f"{folder}/model.json"]
    return [sys.executable, "-c", PROFILED.replace("START", start) if kernels else start, *arguments]


def processor_seconds(command: list[str], environment: dict[str, str], show: bool) -> float:
    """Of a process, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or show:
        print(done.stderr)
    done.check_returncode()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_and_second(face: str, solver: str, task: str, n_rows: int, kernels: bool) -> tuple[float, float]:
    """With an empty cache, and with what the first left there."""
    with tempfile.TemporaryDirectory() as folder:
        write_csv(Path(folder, "small.csv"), task, n_rows)
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache", "RIATA_CACHE": f"{folder}/cache"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or imports would be compiled in every process
        command = command_of(face, solver, task, folder, kernels)
        first, second = (processor_seconds(command, environment, kernels) for _ in range(2))
        return first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--only", choices=OPTIONS)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--face", choices=FACES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    asked = parser.parse_args()
    print("| from | solver | task | first fit (s) | second |\n| --- | --- | --- | --- | --- |")
    for face, solver, task in product(FACES, OPTIONS, TASKS):
        if asked.only in (None, solver) and asked.task in (None, task) and asked.face in (None, face):
            found = [first_and_second(face, solver, task, asked.rows, asked.kernels) for _ in range(asked.rounds)]
            first, second = map(min, zip(*found, strict=True))
            print(f"| {face} | {solver} | {task} | {first:.1f} | {second:.2f} |", flush=True)


if __name__ == "__main__":
    main()

"""What a command costs before it does anything: processor time of small commands, compiled caches warm.

    python benchmarks/startup.py [--repeats 7]

Each command runs in a process of its own; the first run, which may compile, does not count.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COMMANDS = {
    "riata --help": ["--help"],
    "riata fit small.csv --k 3": ["fit", "small.csv", "--target", "y", "--k", "3"],
    "riata fit small.csv --alpha auto": ["fit", "small.csv", "--target", "y", "--alpha", "auto"],
}


def seconds_of_children() -> float:
    """Processor time, of users and of the system, of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(arguments: list[str], folder: str) -> float:
    """Processor time of one run."""
    before = seconds_of_children()
    code = "from riata.cli import main; main()"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )
    return seconds_of_children() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    rows = np.column_stack([X, X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=1000)])
    with tempfile.TemporaryDirectory() as folder:
        names = ",".join([*(f"x{j}" for j in range(10)), "y"])
        np.savetxt(Path(folder) / "small.csv", rows, delimiter=",", header=names, comments="")
        print(f"{'command':40s} {'least':>8s} {'median':>8s}  seconds of processor time")
        for name, arguments in COMMANDS.items():
            measure(arguments, folder)
            times = [measure(arguments, folder) for _ in range(repeats)]
            print(f"{name:40s} {min(times):8.2f} {statistics.median(times):8.2f}")


if __name__ == "__main__":
    main()

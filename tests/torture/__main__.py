"""python -m torture: commands ended at random moments, for so many minutes, and a table of what came of it.

Each round takes a command and an end: SIGKILL, SIGTERM, SIGHUP or Ctrl-C after a random time, or a disk that is full
after a random number of bytes. What is wrong is a file that is neither the old one nor the new one, a traceback, an
exit code that is not documented, a temporary file after the next start, or another result of the next run.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

import platformdirs

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(name, "1")  # before NumPy is imported: a process with threads cannot be forked safely
os.environ.setdefault(
    "NUMBA_CACHE_DIR", platformdirs.user_cache_dir("riata")
)  # machine code is kept where it always is


def main() -> int:
    from torture.commands import trials
    from torture.rounds import FULL, SIGNALS, Wrong, prepare, torture, undisturbed

    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--rounds", type=int, default=None, help="how many, whatever time they take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="what the names of commands begin with")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    folder = Path(tempfile.mkdtemp(prefix="riata-torture-"))
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    try:
        prepare(folder)
        chosen = [one for one in trials() if one.name.startswith(asked.only)]
        expected = cache(lambda trial: undisturbed(trial, folder))
        end = time.monotonic() + 60.0 * asked.minutes
        done = 0
        while time.monotonic() < end if asked.rounds is None else done < asked.rounds:
            trial, how = chance.choice(chosen), chance.choice(["SIGKILL", "SIGKILL", *SIGNALS, FULL])
            place = folder / f"round{done}"
            place.mkdir()
            try:
                counts[trial.name, how] += torture(trial, how, expected(trial), place, chance)
            except Wrong as wrong:
                failures.append(f"round {done}, {trial.name}, {how}: {wrong}")
            shutil.rmtree(place)
            done += 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(counts, [*SIGNALS, FULL], failures, done)
    return 1 if failures else 0


def show(counts: Counter, kinds: list[str], failures: list[str], rounds: int) -> None:
    """A table of ends by command and kind, and what was wrong."""
    write(f"{'ended before their time':32} " + " ".join(f"{kind:>9}" for kind in kinds))
    for name in sorted({name for name, _ in counts}):
        write(f"{name:32} " + " ".join(f"{counts[name, kind]:9}" for kind in kinds))
    write(f"{rounds} rounds, {sum(counts.values())} ends before their time, {len(failures)} failures")
    for failure in failures:
        write(failure)


def write(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())

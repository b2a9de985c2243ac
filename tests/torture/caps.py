"""python -m torture.caps: whether memory stays within the budget, for every solver, source, shape and budget.

What is measured is the peak of resident memory, as the system keeps it (VmHWM), above what a process of the same
imports holds, which has fitted a small file of the same format by the same solver: a limit on address space would count
files that are mapped, stacks of threads and reserves that nobody touches. A fit ends well within its budget, or is
refused before it starts in a sentence that says how much memory it would need.
"""

import argparse
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import platformdirs

from riata.cli import main as riata  # before Arrow is loaded, as in a command: it says how memory is returned
from torture.cap_files import CONVERTED, KINDS, make

HERE = Path(__file__).parents[1]
BUDGETS_MB = (64, 128, 256)
ENDINGS = {CONVERTED: "arrow"}
STUCK_SECONDS = 600
MOST_MB = 3000  # beyond which a process is not let, whatever it would take


class Case(NamedTuple):
    """A solver, a shape of data and the format of its file."""

    solver: str
    shape: str
    kind: str

    def words(self, path: Path, budget_mb: int) -> list[str]:
        from riata.solvers.registry import SOLVERS

        strength = ("--k", "5") if SOLVERS[self.solver].takes == "k" else ("--alpha-ratio", "0.3")
        target = {"npy": ("--target", "0"), "npz": (), "svm": (), CONVERTED: ()}.get(self.kind, ("--target", "y"))
        task = () if self.kind == CONVERTED else ("--task", "regression")
        return ["fit", str(path), *target, *task, "--solver", self.solver, *strength, "--max-passes", "3", "--quiet",
                "--no-cache", "--memory", f"{budget_mb}MB", "--out", str(path.parent / "model.json")]  # fmt: skip


class Measured(NamedTuple):
    """What came of one fit."""

    code: int
    said: str
    more_mb: float  # the peak above what was held before the first one

    def fault(self, budget_mb: int) -> str | None:
        """What is wrong with it, if anything is."""
        sentence = self.code == 2 and re.search(r"\d (bytes|kB|MB|GB|TB)\b", self.said) is not None
        if self.code != 0 and not sentence:
            return f"exit code {self.code}: {self.said[:200]}"
        if self.more_mb > budget_mb:
            return f"{self.more_mb:.0f} MB more" + (f", then: {self.said[:150]}" if self.code else "")
        return None


def every_case() -> list[Case]:
    from riata.solvers.registry import SOLVERS

    return [Case(solver, shape, kind) for shape, kinds in KINDS.items() for kind in kinds for solver in SOLVERS]


class Files:
    """The files of cases, each made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.of = cache(self._of)

    def _of(self, shape: str, kind: str, small: bool) -> Path:
        path = self._folder / f"{shape}-{kind}-{'small' if small else 'large'}.{ENDINGS.get(kind, kind)}"
        if not path.exists():
            make(shape, kind, path, small, _convert)
        return path


def _convert(source: Path, out: Path) -> None:
    target = {".npy": ("--target", "0"), ".npz": ()}.get(source.suffix, ("--target", "y"))
    words = ["convert", str(source), *target, "--task", "regression", "--no-cache", str(out)]
    subprocess.run([sys.executable, "-m", "riata", *words], check=True, capture_output=True)


def measure(case: Case, files: Files, budgets_mb: tuple[int, ...] = BUDGETS_MB) -> list[Measured]:
    """A fit with each budget, the smallest first, in one process that has fitted the small file before."""
    small, large = (files.of(case.shape, case.kind, small) for small in (True, False))
    # the least budget first: with a large one Arrow learns to keep what it frees for a while
    commands = [case.words(small, min(budgets_mb)), *(case.words(large, mb) for mb in budgets_mb)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "torture.caps", json.dumps(commands)],
            cwd=HERE, capture_output=True, text=True, timeout=STUCK_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [Measured(-1, f"not done within {STUCK_SECONDS} seconds", 0.0)]
    lines = [Measured(*json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")]
    if len(lines) < len(commands):
        return [*lines[1:], Measured(done.returncode or -1, f"the process ended: {done.stderr[-300:]}", 0.0)]
    if lines[0].code != 0:
        return [lines[0]]
    return lines[1:]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture.caps", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--cases", type=int, default=None, help="how many, whatever time they take")
    parser.add_argument("--seed", type=int, default=0, help="of the order of cases")
    parser.add_argument("--only", default="", help="solver, shape or kind: cases with all of these, with commas")
    parser.add_argument("--files", type=Path, default=None, help="a folder that keeps the files")
    asked = parser.parse_args()
    only = set(filter(None, asked.only.split(",")))
    cases = [case for case in every_case() if only <= set(case)]
    random.Random(asked.seed).shuffle(cases)
    folder = asked.files or Path(tempfile.mkdtemp(prefix="riata-caps-"))
    folder.mkdir(parents=True, exist_ok=True)
    files, end, faults, n_fits = Files(folder), time.monotonic() + 60 * asked.minutes, 0, 0
    try:
        for number in itertools.count():
            if number >= len(cases) or (time.monotonic() >= end if asked.cases is None else number >= asked.cases):
                break
            found = measure(cases[number], files)
            if any(one.fault(mb) for mb, one in zip(BUDGETS_MB, found, strict=False)):
                found = measure(cases[number], files)  # without what was compiled the first time, and is at hand now
            for budget_mb, measured in zip(BUDGETS_MB, found, strict=False):
                fault, n_fits = measured.fault(budget_mb), n_fits + 1
                faults += fault is not None
                share = f"{measured.more_mb:5.0f} MB of {budget_mb:3}"
                ended = "refused" if measured.code else "fitted"
                write(f"{' '.join(cases[number]):40} {share} {ended if fault is None else 'WRONG: ' + fault}")
    finally:
        if asked.files is None:
            shutil.rmtree(folder, ignore_errors=True)
    write(f"{n_fits} fits of {number} of {len(cases)} cases, {faults} wrong")
    return 1 if faults else 0


def _in_this_process(commands: list[list[str]]) -> None:
    """Run commands, and print of each its exit code, what it said and its peak above what the first one left."""
    import contextlib
    import io
    import resource

    from riata.machine import peak_rss_mb

    held = 0.0
    for number, words in enumerate(commands):
        said = io.StringIO()
        _give_back()  # what the fit before has left: each is to be as one in a process of its own
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak is what is held now
        held = peak_rss_mb() or 0.0 if number == 1 else held
        most = int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]) * 1024 + MOST_MB * 10**6
        resource.setrlimit(resource.RLIMIT_DATA, (most, resource.RLIM_INFINITY))
        try:
            with contextlib.redirect_stderr(said):
                riata(words, prog_name="riata")
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        write(json.dumps([code, said.getvalue().strip(), (peak_rss_mb() or 0.0) - held]))


def _give_back() -> None:
    """Return all memory that nobody uses to the system."""
    import contextlib
    import ctypes
    import gc

    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # GNU libc only


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_CACHE_DIR", platformdirs.user_cache_dir("riata"))
    os.environ.setdefault("LOKY_MAX_CPU_COUNT", "2")  # budgets are for machines of any size; threads take some each
    if len(sys.argv) == 2 and sys.argv[1].startswith("["):
        with tempfile.TemporaryDirectory() as cache_folder:
            os.environ["RIATA_CACHE"] = cache_folder
            _in_this_process(json.loads(sys.argv[1]))
    else:
        sys.exit(main())

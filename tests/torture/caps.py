"""python -m torture.caps: whether memory stays within the budget, for every solver, source, shape and budget.

What is measured is the peak of resident memory, as the system keeps it (VmHWM), above what a process of the same
imports holds, which has fitted a small file of the same format by the same solver: a limit on address space would count
files that are mapped, stacks of threads and reserves that nobody touches. A fit ends well within its budget, or is
refused before it starts in a sentence that says how much memory it would need.
"""

import argparse
import gc
import json
import multiprocessing
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import platformdirs

from riata.cli import main as riata  # before Arrow is loaded, as in a command: it says how memory is returned
from torture.cap_cases import BUDGETS_MB, Case, Measured, every_case
from torture.cap_files import CONVERTED, make
from torture.cap_results import Results

HERE = Path(__file__).parents[1]
ENDINGS = {CONVERTED: "arrow"}
STUCK_SECONDS = 600
MOST_MB = 3000  # beyond which a process is not let, whatever it would take


class Files:
    """The files of cases, each made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.of = cache(self._of)

    def _of(self, shape: str, kind: str, small: bool) -> Path:
        path = self.folder / f"{shape}-{kind}-{'small' if small else 'large'}.{ENDINGS.get(kind, kind)}"
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=self.folder) as half_made:  # another run may want it, too
                make(shape, kind, Path(half_made) / path.name, small, _convert)
                (Path(half_made) / path.name).rename(path)
        return path


def _convert(source: Path, out: Path) -> None:
    target = {".npy": ("--target", "0"), ".npz": ()}.get(source.suffix, ("--target", "y"))
    words = ["convert", str(source), *target, "--task", "regression", "--no-cache", str(out)]
    subprocess.run([sys.executable, "-m", "riata", *words], check=True, capture_output=True)


def measure(case: Case, files: Files, budgets_mb: Sequence[int] = BUDGETS_MB) -> list[Measured]:
    """A fit with each budget, the smallest first, in one process that has fitted the small file before."""
    commands = _commands(case, files, budgets_mb)
    words = [sys.executable, "-m", "torture.caps", json.dumps(commands)]
    try:
        done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, timeout=STUCK_SECONDS)
    except subprocess.TimeoutExpired:
        return [Measured(-1, f"not done within {STUCK_SECONDS} seconds", 0.0)]
    return _measured(done.stdout, len(commands), f"the process ended ({done.returncode}): {done.stderr[-300:]}")


def measure_forked(case: Case, files: Files, budgets_mb: Sequence[int] = BUDGETS_MB) -> list[Measured]:
    """The same in a process that has this one's modules, which takes longer to load than many a fit."""
    return run_forked(_commands(case, files, budgets_mb), files.folder)


def run_forked(commands: list[list[str]], folder: Path) -> list[Measured]:
    """What comes of commands that run one after the other in a fork of this process, but for the first."""
    said = folder / f"said-{os.getpid()}"
    child = multiprocessing.get_context("fork").Process(target=_forked, args=(commands, said))
    child.start()
    child.join(STUCK_SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
    return _measured(said.read_text(encoding="utf-8"), len(commands), f"the process ended ({child.exitcode})")


def _commands(case: Case, files: Files, budgets_mb: Sequence[int]) -> list[list[str]]:
    small, large = (files.of(case.shape, case.kind, small) for small in (True, False))
    # the least budget first: with a large one Arrow learns to keep what it frees for a while
    return [case.words(small, min(budgets_mb)), *(case.words(large, mb) for mb in sorted(budgets_mb))]


def _measured(said: str, n_commands: int, otherwise: str) -> list[Measured]:
    lines = [Measured(*json.loads(line)) for line in said.splitlines() if line.startswith("[")]
    if len(lines) < n_commands:
        return [*lines[1:], Measured(-1, otherwise, 0.0)]
    return lines[1:] if lines[0].code == 0 else lines[:1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture.caps", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long")
    parser.add_argument("--cases", type=int, default=None, help="how many, whatever time they take")
    parser.add_argument("--seed", type=int, default=0, help="of the order of cases")
    parser.add_argument("--only", default="", help="solver, shape or kind: cases with all of these, with commas")
    parser.add_argument("--budgets", default="64,128,256", help="in MB, with commas")
    parser.add_argument("--files", type=Path, default=None, help="a folder that keeps the files")
    parser.add_argument("--results", type=Path, default=None, help="keeps what came of cases: what holds is left out")
    parser.add_argument("--any-code", action="store_true", help="leave out what held with other code, too")
    asked = parser.parse_args()
    only, results = set(filter(None, asked.only.split(","))), Results(asked.results)
    budgets = sorted(map(int, asked.budgets.split(",")))
    cases = [case for case in every_case(asked.seed) if only <= set(case)]
    folder = asked.files or Path(tempfile.mkdtemp(prefix="riata-caps-"))
    folder.mkdir(parents=True, exist_ok=True)
    files, end, done = Files(folder), time.monotonic() + 60 * asked.minutes, 0
    load_code()
    try:
        for case in cases:
            if time.monotonic() >= end if asked.cases is None else done >= asked.cases:
                break
            results.reread()
            left = [mb for mb in budgets if not results.holds(case, mb, asked.any_code)]
            if left:
                judge(case, left, files, results)
                done += 1
    finally:
        if asked.files is None:
            shutil.rmtree(folder, ignore_errors=True)
    for line in [*results.table(), *results.wrong()]:
        write(line)
    return 1 if results.wrong() else 0


def judge(case: Case, budgets_mb: Sequence[int], files: Files, results: Results) -> None:
    """Measure a case, and once more if it seems wrong: in a process of its own, as a command is.

    What was compiled the first time is at hand then.
    """
    began = sum(os.times()[:4])
    found = measure_forked(case, files, budgets_mb)
    if len(found) < len(budgets_mb) or any(map(Measured.fault, found, budgets_mb)):
        found = measure(case, files, budgets_mb)
    for budget_mb, measured in zip(budgets_mb, found, strict=False):
        results.add(case, budget_mb, measured)
        fault, ended = measured.fault(budget_mb), "refused" if measured.code else "fitted"
        share = f"{measured.more_mb:5.0f} MB of {budget_mb:3}"
        write(f"{','.join(case):40} {share} {ended if fault is None else 'WRONG: ' + fault}")
    write(f"{sum(os.times()[:4]) - began:.1f} seconds of a processor")


def load_code() -> None:
    """All that fits of any kind need, before processes are forked."""
    import numba  # noqa: F401
    import scipy.sparse.linalg  # noqa: F401

    import riata.cli.rows
    import riata.reporting.terminal.fit_summary
    import riata.solvers
    import riata.training.train

    for module in pkgutil.walk_packages(riata.solvers.__path__, "riata.solvers."):
        import_module(module.name)
    gc.freeze()  # or every process would look through all of it


def _forked(commands: list[list[str]], said: Path) -> None:
    with open(said, "w", encoding="utf-8") as file, tempfile.TemporaryDirectory() as cache_folder:
        os.environ["RIATA_CACHE"] = cache_folder
        os.dup2(file.fileno(), 1)
        _in_this_process(commands)


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

"""python -m torture: commands ended at random moments, for so many minutes, and a table of what came of it.

Each round takes a command and an end: SIGKILL, SIGTERM, SIGHUP or Ctrl-C after a random time, or a disk that is full
after a random number of bytes. What is wrong is a file that is neither the old one nor the new one, a traceback, an exit
code that is not documented, a temporary file after the next start, or another result once the command is run again.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(name, "1")  # before NumPy is imported: a process with threads cannot be forked safely

from riata.cli import main as riata
from riata.files import TEMPORARY
from torture.commands import OLD, Trial, make_rows, trials

SIGNALS = {"SIGKILL": (-9,), "SIGTERM": (0, 143, -15), "SIGHUP": (0, 129, -1), "SIGINT": (0, 130, -2)}  # exit codes
FULL = "full disk"
CHAIN = 40  # kills of one fit with checkpoints, at most
STUCK_SECONDS = 300


class Wrong(Exception):
    """Something that must not be."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--rounds", type=int, default=None, help="how many, whatever time they take")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    folder = Path(tempfile.mkdtemp(prefix="riata-torture-"))
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    try:
        expected = prepare(folder)
        end = time.monotonic() + 60.0 * asked.minutes
        done = 0
        while time.monotonic() < end if asked.rounds is None else done < asked.rounds:
            trial, how = chance.choice(list(expected)), chance.choice([*SIGNALS, FULL])
            place = folder / f"round{done}"
            place.mkdir()
            try:
                counts[trial.name, how] += torture(trial, how, expected[trial], place, chance)
            except Wrong as wrong:
                failures.append(f"round {done}, {trial.name}, {how}: {wrong}")
            shutil.rmtree(place)
            done += 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(counts, failures, done)
    return 1 if failures else 0


def prepare(folder: Path) -> dict[Trial, tuple[object, float, int]]:
    """What every command leaves when nothing disturbs it, the seconds that it takes, and the size of its file."""
    source = folder / "source"
    source.mkdir()
    make_rows(source)
    os.environ["RIATA_CACHE"] = str(folder / "cache")
    found = {}
    for trial in sorted(trials(), key=lambda one: one.name != "fit"):  # the model of the first is what others predict by
        if trial.name == "predict as CSV":
            shutil.copy(folder / "model.json", source / "model.json")
        place = folder / trial.name
        fill(place, folder)
        started = time.monotonic()
        code, said = ended(begin(trial, place), place)
        if code != 0:
            raise SystemExit(f"{trial.name}: exit code {code}\n{said}")
        seconds = time.monotonic() - started
        if trial.name == "fit":
            shutil.copy(place / trial.out, folder / "model.json")
        found[trial] = trial.content(place / trial.out), seconds, (place / trial.out).stat().st_size
    return found


def fill(place: Path, folder: Path) -> None:
    """A folder with the rows and, once there is one, a model."""
    place.mkdir(exist_ok=True)
    os.symlink(folder / "source" / "rows.csv", place / "rows.csv")
    if (folder / "model.json").exists():
        shutil.copy(folder / "model.json", place / "model.json")


def begin(trial: Trial, place: Path, most_bytes: int | None = None) -> int:
    """The command in a process of its own, which says what it says to a file."""
    child = os.fork()
    if child:
        return child
    try:
        os.chdir(place)
        said = os.open(place / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        for name in ("SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
        riata(list(trial.words), prog_name="riata")
        os._exit(0)
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(99)


def ended(child: int, place: Path) -> tuple[int, str]:
    """The exit code, or minus the signal, and what was said."""
    began = time.monotonic()
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            said = (place / "said").read_text(errors="replace") if (place / "said").exists() else ""
            return (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)), said
        if time.monotonic() - began > STUCK_SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise Wrong("it hangs")
        time.sleep(0.002)


def torture(trial: Trial, how: str, expected: tuple, place: Path, chance: random.Random) -> int:
    """One round; how often the command was ended before its time."""
    content, seconds, size = expected
    fill(place, place.parent)
    (place / trial.out).write_bytes(OLD)
    struck = 0
    for _ in range(CHAIN if trial.checkpoints and how == "SIGKILL" else 1):
        if how == FULL:
            code, said = ended(begin(trial, place, chance.randrange(size)), place)
            allowed: tuple[int, ...] = (0, 2)
        else:
            child = begin(trial, place)
            time.sleep(chance.uniform(0.0, 1.1 * seconds))
            os.kill(child, getattr(signal, how))
            code, said = ended(child, place)
            allowed = (0, *SIGNALS[how])
        struck += code != 0
        if code not in allowed or "Traceback" in said:
            raise Wrong(f"exit code {code}: {said[-300:]}")
        # Ctrl-C within a fit ends it with the model so far, which is whole and not the same
        check(trial, place, content if how != "SIGINT" else None, "torn")
        if code == 0:
            break
    (place / trial.out).unlink()
    if how == "SIGINT":
        shutil.rmtree(place / "states", ignore_errors=True)
    code, said = ended(begin(trial, place), place)
    if code == 2 and "had come to its end" in said:  # the last kill came after the last checkpoint
        shutil.rmtree(place / "states")
        code, said = ended(begin(trial, place), place)
    if code != 0:
        raise Wrong(f"the next run ended with {code}: {said[-300:]}")
    check(trial, place, content, "another result")
    left = [path.name for path in place.rglob(f"*{TEMPORARY[1]}")]
    if left:
        raise Wrong(f"{left} is left")
    return struck


def check(trial: Trial, place: Path, content: object, what: str) -> None:
    """The file is the old one or the new one."""
    path = place / trial.out
    if path.exists() and path.read_bytes() == OLD:
        return
    try:
        there = trial.content(path)
    except Exception as error:  # whatever a reader says of half a file
        raise Wrong(f"{what}: {trial.out} cannot be read ({error})") from error
    if content is not None and there != content:
        raise Wrong(f"{what}: {trial.out} differs")


def show(counts: Counter, failures: list[str], rounds: int) -> None:
    """A table of ends by command and kind, and what was wrong."""
    kinds = [*SIGNALS, FULL]
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

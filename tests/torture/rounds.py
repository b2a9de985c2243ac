"""One round of torture: a command is begun, ended, looked at, and run again."""

import faulthandler
import os
import random
import resource
import shutil
import signal
import time
import traceback
from pathlib import Path

import reproduction
from riata.cli import main as riata
from riata.files import TEMPORARY
from torture.commands import LOG, OLD, Trial, make_log, make_rows, trials

SIGNALS = {"SIGKILL": (-9,), "SIGTERM": (0, 143, -15), "SIGHUP": (0, 129, -1), "SIGINT": (0, 130, -2)}  # exit codes
ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
FULL = "full disk"
CHAIN = 40  # kills of one fit with checkpoints, at most
STUCK_SECONDS = 120
STACKS = signal.SIGUSR1  # by which a process that hangs is asked where its threads are


class Wrong(Exception):
    """Something that must not be."""


def prepare(folder: Path) -> None:
    """The rows that commands read, and a model that they predict by; code is loaded once, before all forks."""
    import numba  # noqa: F401
    import scipy.sparse.linalg  # noqa: F401

    import riata.cli.rows
    import riata.model.predictions
    import riata.reporting.terminal.fit_summary
    import riata.training.train  # noqa: F401

    for (module, name), value in reproduction.SMALLER.items():
        setattr(module, name, value)
    (folder / "source").mkdir()
    make_rows(folder / "source")
    make_log(folder / LOG)
    os.environ["RIATA_CACHE"] = str(folder / "cache")
    (fit,) = (one for one in trials() if one.name == "fit")
    undisturbed(fit, folder)
    shutil.copy(folder / fit.name / fit.out, folder / "model.json")


def undisturbed(trial: Trial, folder: Path) -> tuple[object, float, int]:
    """What a command leaves when nothing disturbs it, the seconds that it takes, and the size of its file."""
    place = folder / trial.name
    if place.exists():
        shutil.rmtree(place)
    place.mkdir()
    fill(place, folder)
    if trial.grows:
        arrive(place)
    started = time.monotonic()
    code, said = ended(begin(trial.undisturbed, place), place)
    if code != 0:
        raise SystemExit(f"{trial.name}: exit code {code}\n{said}")
    return trial.content(place / trial.out), time.monotonic() - started, (place / trial.out).stat().st_size


def fill(place: Path, folder: Path) -> None:
    """A folder with the rows and, once there is one, a model."""
    for path in (folder / "source").iterdir():
        os.symlink(path, place / path.name)
    if (folder / "model.json").exists():
        shutil.copy(folder / "model.json", place / "model.json")


def arrive(place: Path, at_once: int | None = None) -> bool:
    """Let the next files of the log appear, so many or all; whether more are to come."""
    (place / LOG).mkdir(exist_ok=True)
    there = len(list((place / LOG).iterdir()))
    to_come = sorted((place.parent / LOG).iterdir())[there:]
    for path in to_come[:at_once]:
        os.link(path, place / LOG / path.name)
    return at_once is not None and len(to_come) > at_once


def begin(trial: Trial, place: Path, most_bytes: int | None = None) -> int:
    """The command in a process of its own, which says what it says to a file."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # while Python forks one would be lost
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        return child
    begun = False
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        os.chdir(place)
        said = os.open(place / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        faulthandler.register(STACKS)
        for name in ("SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores in what it starts with "&"
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
        begun = True
        riata(list(trial.words), prog_name="riata")
        os._exit(0)
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not begun:
            os._exit(130)
        traceback.print_exc()
        os._exit(99)


def ended(child: int, place: Path) -> tuple[int, str]:
    """The exit code, or minus the signal, and what was said."""
    began = time.monotonic()
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)), said_in(place)
        if time.monotonic() - began > STUCK_SECONDS:
            os.kill(child, STACKS)
            time.sleep(1.0)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise Wrong(f"it hangs: {said_in(place)}")
        time.sleep(0.002)


def said_in(place: Path) -> str:
    """What a command has said so far."""
    return (place / "said").read_text(errors="replace") if (place / "said").exists() else ""


def torture(trial: Trial, how: str, expected: tuple, place: Path, chance: random.Random) -> int:
    """One round; how often the command was ended before its time."""
    content, seconds, size = expected
    fill(place, place.parent)
    (place / trial.out).parent.mkdir(exist_ok=True)
    (place / trial.out).write_bytes(OLD)
    struck = 0
    for _ in range(CHAIN if trial.checkpoints and (how == "SIGKILL" or trial.grows) else 1):
        more = trial.grows and arrive(place, 1)
        if how == FULL:
            child = begin(trial, place, chance.randrange(size))
            allowed: tuple[int, ...] = (0, 2)
            if trial.ends_as:
                time.sleep(chance.uniform(0.0, 1.1 * seconds))
                os.kill(child, signal.SIGINT)
                allowed = (0, 2, *SIGNALS["SIGINT"])
        else:
            child = begin(trial, place)
            wait = chance.uniform(0.0, 1.1 * seconds)
            time.sleep(wait / 2)
            more = more and arrive(place, 1)
            time.sleep(wait / 2)
            os.kill(child, getattr(signal, how))
            allowed = (0, *SIGNALS[how])
        code, said = ended(child, place)
        if code == 2 and "had come to its end" in said:  # the kill before came after the last checkpoint
            break
        struck += code != 0
        if code not in allowed or "Traceback" in said:
            raise Wrong(f"exit code {code}: {said[-300:]}")
        # Ctrl-C within a fit ends it with the model so far, which is whole and not the same; so is that of some files
        check(trial, place, None if how == "SIGINT" or trial.grows else content, "torn")
        if not more and (code == 0 or trial.ends_as):
            break
    (place / trial.out).unlink()
    if trial.grows:
        arrive(place)
    elif how == "SIGINT":
        shutil.rmtree(place / "states", ignore_errors=True)
    code, said = ended(begin(trial.undisturbed, place), place)
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

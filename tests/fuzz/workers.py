"""Tries in processes of their own, so that one which crashes, hangs or eats memory ends a worker and not the count.

Each worker is forked from a process that has imported riata and run nothing, writes the number of a try before it
makes it, and is replaced by another if it dies; the try that it was at is the one to blame.
"""

import contextlib
import mmap
import os
import resource
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fuzz.formats import Format
from fuzz.library import Library
from fuzz.tries import Verdict, attempt, attempt_by_library, content

HANG_SECONDS = 20  # of processor time; a usual try takes a few hundredths
STUCK_SECONDS = 120  # of waiting
BY_COMMANDS = 16  # one try of so many goes through the command line, the others through the library alone
MOST_BYTES = 3 << 30  # of address space beyond what the imports take


class Failure(NamedTuple):
    """A try that went wrong."""

    format: str
    number: int
    verdict: Verdict


class Report(NamedTuple):
    """What came of all tries: how many of each format and kind, and those that went wrong."""

    counts: Counter[tuple[str, str]]  # (format, kind)
    failures: list[Failure]

    @property
    def n_tries(self) -> int:
        return sum(self.counts.values())


def fuzz(
    formats: Sequence[Format], seed: int, folder: Path, *, first: int = 0, tries: int | None = None,
    seconds: float | None = None, n_workers: int = 1,
) -> Report:  # fmt: skip
    """Make so many tries, or as many as the seconds allow, each format in turn."""
    _import_all()
    until = None if seconds is None else time.monotonic() + seconds
    last = None if tries is None else first + tries
    report = Report(Counter(), [])
    running: dict[int, _Worker] = {}
    for number in range(n_workers):
        worker = _Worker(
            formats, seed, folder / f"worker{number}", range(first + number, last or sys.maxsize, n_workers), until
        )
        running[worker.pid] = worker
    try:
        while running:
            pid, status = os.wait()
            worker = running.pop(pid)
            worker.collect(report, status)
            if status != 0 and worker.rest is not None and (until is None or time.monotonic() < until):
                again = _Worker(formats, seed, worker.folder, worker.rest, until)
                running[again.pid] = again
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return report


class _Worker:
    """A forked process that makes tries one after the other, and writes down each verdict."""

    def __init__(self, formats: Sequence[Format], seed: int, folder: Path, numbers: range, until: float | None) -> None:
        self.formats, self.seed, self.folder, self._numbers = formats, seed, folder, numbers
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "verdicts"
        self._log.write_bytes(b"")
        self._now = mmap.mmap(-1, 8)  # the number of the try being made, seen by the parent when the worker is gone
        self._now[:8] = struct.pack("<q", -1)
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                self._work(until)
                code = 0
            finally:
                os._exit(code)

    def _work(self, until: float | None) -> None:
        _limit_memory()
        os.setpgid(0, 0)
        library = Library()
        with open(self._log, "a", encoding="utf-8") as log, open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)  # what a crash prints
            for number in self._numbers:
                if until is not None and time.monotonic() >= until:
                    break
                self._now[:8] = struct.pack("<q", number)
                format = self.formats[number % len(self.formats)]
                data = content(format, self.seed, number)
                signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
                signal.setitimer(signal.ITIMER_REAL, STUCK_SECONDS)
                try:
                    if number // len(self.formats) % BY_COMMANDS == 0:
                        kind, detail = attempt(format, data, self.folder / "try")
                    else:
                        kind, detail = attempt_by_library(format, data, self.folder / "try", library)
                except Exception as error:
                    kind, detail = "harness", repr(error)
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
                log.write(f"{number}\t{kind}\t{detail.encode('unicode_escape').decode()}\n")
                log.flush()
        self._now[:8] = struct.pack("<q", -1)

    def collect(self, report: Report, status: int) -> None:
        """Add what the worker wrote, and how it ended."""
        for line in self._log.read_text(encoding="utf-8").splitlines():
            number, kind, detail = line.split("\t", 2)
            self._add(report, int(number), Verdict(kind, detail))
        (now,) = struct.unpack("<q", self._now[:8])
        self.rest = None
        if status != 0 and now >= 0:
            self._add(report, now, Verdict(_end(status)))
            self.rest = range(now + self._numbers.step, self._numbers.stop, self._numbers.step)

    def _add(self, report: Report, number: int, verdict: Verdict) -> None:
        format = self.formats[number % len(self.formats)]
        report.counts[format.name, verdict.kind] += 1
        if not verdict.good:
            report.failures.append(Failure(format.name, number, verdict))


def _end(status: int) -> str:
    """How a worker ended."""
    if not os.WIFSIGNALED(status):
        return "process ended"
    name = signal.Signals(os.WTERMSIG(status)).name
    return "hang" if name in ("SIGPROF", "SIGALRM") else f"crash {name}"


def _limit_memory() -> None:
    """Refuse this process much more memory than it has, so that a hostile file harms nobody else."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        now = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES, now + MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _import_all() -> None:
    """What the commands import when they run, once for all workers; nothing that starts a thread."""
    import riata.cli.rows
    import riata.model.predictions
    import riata.reporting.terminal.fit_summary
    import riata.training.train  # noqa: F401

"""Progress on standard error: bars on a terminal while long work runs, and lines where there is none."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from riata.data.row_events import Watcher, watching
from riata.kernels.announce import announcing
from riata.solvers.registry import SOLVERS
from riata.training.driver import Record
from riata.training.paths.model_events import watching_models
from riata.training.spec import Spec
from riata.visible_text import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID  # slow to import

PassCallback = Callable[[Record], None]
PathCallback = Callable[[int, int, str], None]  # paths done, of how many, the name of the next
StepCallback = Callable[[int, int, str], None]  # steps done, of how many, the name of the next
SECONDS_BETWEEN_LINES = 3.0


def row_progress(show: bool) -> AbstractContextManager[None]:
    """A bar of rows read, with their speed and the time left where their number is known, or else a counter."""
    return _rows_in_a_bar() if show else nullcontext()


def pass_progress(show: bool, label: str, spec: Spec) -> AbstractContextManager[PassCallback | None]:
    """Gives a callback for the driver that tells how far a fit is, with rows as they are read; None without a bar."""
    return _passes_in_a_bar(label, spec) if show else nullcontext()


def path_progress(show: bool, label: str) -> AbstractContextManager[PathCallback | None]:
    """Gives a callback for a search that moves a bar over its paths; None without a bar."""
    return _paths_in_a_bar(label) if show else nullcontext()


def step_progress(show: bool, label: str) -> AbstractContextManager[StepCallback | None]:
    """Gives a callback that moves a bar over named steps; None without a bar."""
    return _steps_in_a_bar(label) if show else nullcontext()


@contextmanager
def _rows_in_a_bar() -> Iterator[None]:
    with _bar():
        yield


@contextmanager
def _passes_in_a_bar(label: str, spec: Spec) -> Iterator[PassCallback]:
    from riata.training.fitting import solver_options  # most of the solvers, which a stream does without

    options = solver_options(spec)
    with _bar() as bar:
        name = f"{spec.solver_name} {label}".strip()
        # A solver with a certificate stops once that is within tol, long before its limit of passes.
        limit = options.max_steps or (options.max_passes if SOLVERS[spec.solver_name].stochastic else None)
        task = bar.add_task(name, total=limit, state="starting")
        first_gap = None

        def callback(record: Record) -> None:
            nonlocal first_gap
            done = float(record.steps if options.max_steps else record.passes)
            total = None if limit is None else float(limit)
            first_gap = record.gap if first_gap is None else first_gap
            if limit is None and record.gap is not None and first_gap and first_gap > spec.tol > 0:
                # gaps fall by a factor from pass to pass: their logarithms tell how far it is
                total, done = math.log(first_gap / spec.tol), math.log(first_gap / max(record.gap, spec.tol))
            bar.update(task, completed=done, total=total, state=_in_words(record))

        yield callback
        bar.ended(task)


@contextmanager
def _paths_in_a_bar(label: str) -> Iterator[PathCallback]:
    with _bar() as bar:
        task = bar.add_task(f"path {label}".strip(), total=None, state="of all rows")
        done, total, named = 0, 1, "of all rows"

        def paths(now_done: int, now_total: int, name: str) -> None:
            nonlocal done, total, named
            done, total, named = now_done, now_total, name
            bar.update(task, completed=done, total=total, state=named)

        def models(number: int, count: int) -> None:
            share = 0.0 if done >= total else number / count
            bar.update(task, completed=done + share, total=total, state=f"{named}, model {number} of {count}")

        with watching_models(models):
            yield paths
        bar.ended(task)


@contextmanager
def _steps_in_a_bar(label: str) -> Iterator[StepCallback]:
    with _bar() as bar:
        task = bar.add_task(label, total=None, state="starting")
        yield lambda done, total, name: bar.update(task, completed=done, total=total, state=f"{done}/{total} {name}")


class Lines:
    """Progress where there is no terminal, as lines on standard error: one every few seconds, and one at the end."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._states: list[str] = []
        self._started = self._said = time.monotonic()

    def add_task(self, description: str, *, total: float | None, state: str) -> int:
        """Begin something; the number is its name."""
        self._names.append(visible(description))
        self._states.append(state)
        return len(self._names) - 1

    def update(self, task: int, *, completed: float, total: float | None, state: str) -> None:
        """Say how far it is, unless something was said just now."""
        self._states[task], now = state, time.monotonic()
        if now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            left = (now - self._started) * (total - completed) / completed if total and completed else 0.0
            self.say(f"{self._names[task]}: {state}" + (f", about {left:.0f} s left" if left >= 1 else ""))

    def ended(self, task: int) -> None:
        """Say where it ended, and after how long."""
        self.say(f"{self._names[task]}: {self._states[task]}, {time.monotonic() - self._started:.1f} s")

    @staticmethod
    def say(line: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{line}\n")


class Bars:
    """Progress on a terminal: bars that disappear in the end."""

    def __init__(self, rich: "Progress") -> None:
        self._rich = rich

    def add_task(self, description: str, *, total: float | None, state: str) -> "TaskID":
        """Begin something; the number is its name."""
        return self._rich.add_task(visible(description), total=total, state=state)

    def update(self, task: Any, *, completed: float, total: float | None, state: str) -> None:
        """Move the bar."""
        self._rich.update(task, completed=completed, total=total, state=state)

    def ended(self, task: Any) -> None:
        """Make room for what comes next."""
        self._rich.remove_task(task)


_current: Bars | None = None  # what is shown now: a terminal has room for one at a time


@contextmanager
def _bar() -> Iterator[Bars | Lines]:
    """Lines of a name, a bar, a state in words and the time left; what is within another one is shown below it."""
    global _current
    if not sys.stderr.isatty():
        lines = Lines()
        with announcing(lines.say):
            yield lines
        return
    if _current is not None:
        yield _current
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    name, state = (TextColumn(f"{{task.{text}}}", markup=False) for text in ("description", "fields[state]"))
    columns = [name, BarColumn(), state, TimeRemainingColumn()]
    with Progress(*columns, transient=True, console=Console(stderr=True)) as rich, announcing(rich.console.print):
        _current = Bars(rich)
        try:
            with watching(_row_watcher(rich)):
                yield _current
        finally:
            _current = None


def _row_watcher(bar: "Progress") -> Watcher:
    """A watcher of rows that keeps a line for each kind of reading."""
    tasks: dict[str, TaskID] = {}

    def watcher(what: str, rows: int, total: int | None) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total, state="")
        task = bar.tasks[bar.task_ids.index(tasks[what])]
        if total is not None and task.completed >= total:
            bar.reset(task.id, total=total, state="")  # the next pass
        speed = "" if task.speed is None else f", {task.speed:,.0f} rows/s"
        bar.update(task.id, advance=rows, state=f"{task.completed + rows:,.0f} rows{speed}")

    return watcher


def _in_words(record: Record) -> str:
    parts = [f"pass {record.passes:.0f}", f"{record.n_selected} features"]
    if record.objective is not None:
        parts.append(f"objective {record.objective:.5g}")
    if record.progressive_loss is not None:
        rows = record.rows or 0
        parts.append(
            f"{rows:,} rows, {rows / max(record.seconds, 1e-9):,.0f} a second, loss {record.progressive_loss:.4g}"
        )
    if record.accuracy is not None:
        parts.append(f"accuracy {record.accuracy:.4f}")
    if record.r2 is not None:
        parts.append(f"R2 {record.r2:.4f}")
    if record.bound is not None and record.parts is not None:
        parts.append(f"bound {record.bound:.5g}, {record.parts:,} parts searched")
    if record.gap is not None:
        parts.append(f"gap {record.gap:.1e}")
    return ", ".join(parts)

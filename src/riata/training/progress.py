"""Progress bars on standard error: shown on a terminal while long work runs."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from riata.data.row_events import Watcher, watching
from riata.kernels.announce import announcing
from riata.solvers.registry import SOLVERS
from riata.training.driver import Record
from riata.training.fitting import solver_options
from riata.training.spec import Spec

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID  # slow to import

PassCallback = Callable[[Record], None]
PathCallback = Callable[[int, int], None]  # paths done, of how many
StepCallback = Callable[[int, int, str], None]  # steps done, of how many, the name of the next


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
    with _bar() as bar, watching(_row_watcher(bar)):
        yield


@contextmanager
def _passes_in_a_bar(label: str, spec: Spec) -> Iterator[PassCallback]:
    options = solver_options(spec)
    with _bar() as bar, watching(_row_watcher(bar)):
        name = f"{spec.solver_name} {label}".strip()
        # A solver with a certificate stops once that is within tol, long before its limit of passes.
        limit = options.max_steps or (options.max_passes if SOLVERS[spec.solver_name].stochastic else None)
        task = bar.add_task(name, total=limit, state="starting")

        def callback(record: Record) -> None:
            done = record.steps if options.max_steps else record.passes
            bar.update(task, completed=done, state=_in_words(record))

        yield callback


@contextmanager
def _paths_in_a_bar(label: str) -> Iterator[PathCallback]:
    with _bar() as bar:
        task = bar.add_task(f"path {label}".strip(), total=None, state="of all rows")
        yield lambda done, total: bar.update(task, completed=done, total=total, state=f"fold {done} of {total - 1}")


@contextmanager
def _steps_in_a_bar(label: str) -> Iterator[StepCallback]:
    with _bar() as bar:
        task = bar.add_task(label, total=None, state="starting")
        yield lambda done, total, name: bar.update(task, completed=done, total=total, state=f"{done}/{total} {name}")


@contextmanager
def _bar() -> Iterator["Progress"]:
    """Lines of a name, a bar, a state in words and the time left; a line above if something is compiled."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    name, state = (TextColumn(f"{{task.{text}}}", markup=False) for text in ("description", "fields[state]"))
    columns = [name, BarColumn(), state, TimeRemainingColumn()]
    with Progress(*columns, transient=True, console=Console(stderr=True)) as bar, announcing(bar.console.print):
        yield bar


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

"""Progress bars on standard error: on a terminal while long work runs, nothing elsewhere."""

from contextlib import contextmanager, nullcontext

from riata.data.row_events import watching
from riata.kernels.announce import announcing
from riata.solvers.registry import SOLVERS
from riata.training.driver import Record
from riata.training.fitting import solver_options
from riata.training.spec import Spec


def row_progress(show: bool):
    """A bar of rows read, with their speed and the time left where their number is known; a counter elsewhere."""
    return _rows_in_a_bar() if show else nullcontext()


def pass_progress(show: bool, label: str, spec: Spec):
    """Gives a callback for the driver that tells how far a fit is, with rows as they are read; None without a bar."""
    return _passes_in_a_bar(label, spec) if show else nullcontext()


def path_progress(show: bool, label: str):
    """Gives a callback for a search that moves a bar over its paths; None without a bar."""
    return _paths_in_a_bar(label) if show else nullcontext()


def step_progress(show: bool, label: str):
    """Gives a callback that moves a bar over named steps; None without a bar."""
    return _steps_in_a_bar(label) if show else nullcontext()


@contextmanager
def _rows_in_a_bar():
    with _bar() as bar, watching(_row_watcher(bar)):
        yield


@contextmanager
def _passes_in_a_bar(label, spec):
    options = solver_options(spec)
    with _bar() as bar, watching(_row_watcher(bar)):
        name = f"{spec.solver_name} {label}".strip()
        # A solver with a certificate stops when it is there, not after its limit of passes.
        limit = options.max_steps or (options.max_passes if SOLVERS[spec.solver_name].stochastic else None)
        task = bar.add_task(name, total=limit, state="starting")

        def callback(record: Record):
            done = record.steps if options.max_steps else record.passes
            bar.update(task, completed=done, state=_in_words(record))

        yield callback


@contextmanager
def _paths_in_a_bar(label):
    with _bar() as bar:
        task = bar.add_task(f"path {label}".strip(), total=None, state="of all rows")
        yield lambda done, total: bar.update(task, completed=done, total=total, state=f"fold {done} of {total - 1}")


@contextmanager
def _steps_in_a_bar(label):
    with _bar() as bar:
        task = bar.add_task(label, total=None, state="starting")
        yield lambda done, total, name: bar.update(task, completed=done, total=total, state=f"{done}/{total} {name}")


@contextmanager
def _bar():
    """Lines of a name, a bar, a state in words and the time left; a line above if something is compiled."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    name, state = (TextColumn(f"{{task.{text}}}", markup=False) for text in ("description", "fields[state]"))
    columns = [name, BarColumn(), state, TimeRemainingColumn()]
    with Progress(*columns, transient=True, console=Console(stderr=True)) as bar, announcing(bar.console.print):
        yield bar


def _row_watcher(bar):
    """A watcher of rows that keeps a line for each kind of reading."""
    tasks: dict = {}

    def watcher(what, rows, total):
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
    if record.gap is not None:
        parts.append(f"gap {record.gap:.1e}")
    return ", ".join(parts)

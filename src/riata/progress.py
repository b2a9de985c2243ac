"""Progress bars: one line on a terminal while a fit runs, nothing elsewhere."""

from contextlib import contextmanager
from typing import TYPE_CHECKING

from riata.data.watch import watching
from riata.driver import Record
from riata.fitting import Spec, solver_options

if TYPE_CHECKING:
    from rich.progress import TaskID


@contextmanager
def row_progress(show: bool):
    """A bar of rows read, with their speed and the time left where the number of rows is known; a counter elsewhere."""
    if not show:
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task):
            return Text("" if task.speed is None else f"{task.speed:,.0f} rows/s")

    columns = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} rows"),
               Speed(), TimeRemainingColumn()]  # fmt: skip
    with Progress(*columns, transient=True, console=Console(stderr=True)) as bar:
        tasks: dict[str, TaskID] = {}

        def watcher(what, rows, total):
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            task = tasks[what]
            if total is not None and bar.tasks[bar.task_ids.index(task)].completed >= total:
                bar.reset(task, total=total)  # the next pass
            bar.advance(task, rows)

        with watching(watcher):
            yield


@contextmanager
def pass_progress(show: bool, label: str, spec: Spec):
    """A callback for the driver that moves a bar over the passes; None where there is nothing to show."""
    if not show:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    options = solver_options(spec)
    columns = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn()]
    with Progress(*columns, transient=True) as bar:
        total = options.max_steps or options.max_passes
        name = f"{spec.solver_name} {label}".strip()
        task = bar.add_task(name, total=total if options.max_steps or total < 1000 else None, state="starting")

        def callback(record: Record):
            parts = [f"pass {record.passes:.0f}", f"{record.n_selected} features"]
            if record.objective is not None:
                parts.append(f"objective {record.objective:.5g}")
            if record.met is not None:
                rate = record.steps / max(record.seconds, 1e-9)
                parts.append(f"{record.steps:,} steps, {rate:,.0f} a second, progressive loss {record.met:.4g}")
            if record.gap is not None:
                parts.append(f"gap {record.gap:.1e}")
            bar.update(task, completed=record.steps if options.max_steps else record.passes, state=", ".join(parts))

        yield callback


@contextmanager
def path_progress(show: bool, label: str):
    """A callback for a search that moves a bar over its paths; None where there is nothing to show."""
    if not show:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn()]
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task(f"path {label}".strip(), total=None, state="of all rows")
        yield lambda done, total: bar.update(task, completed=done, total=total, state=f"fold {done} of {total - 1}")

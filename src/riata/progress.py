"""Progress bars: one line on a terminal while a fit runs, nothing elsewhere."""

from contextlib import contextmanager

from riata.driver import Record
from riata.fitting import Spec, solver_options


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
            if record.gap is not None:
                parts.append(f"gap {record.gap:.1e}")
            bar.update(task, completed=record.steps if options.max_steps else record.passes, state=", ".join(parts))

        yield callback

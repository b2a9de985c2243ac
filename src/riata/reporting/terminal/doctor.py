"""What a machine has, as a short table."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from riata.reporting.terminal.console import terminal
from riata.reporting.terminal.user_text import escape


def show_facts(facts: Mapping[str, Any], extras: Mapping[str, str]) -> None:
    """The facts of `riata doctor`, a line each; `extras` says what each optional package is for."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    versions = facts["versions"]
    table.add_row("riata", f"{versions['riata']} on Python {versions['python']}, {escape(facts['system'])}")
    others = [f"{name} {number}" for name, number in versions.items() if name not in ("riata", "python")]
    table.add_row("packages", escape(", ".join(others)))
    table.add_row("cores", f"{facts['cores']} for this process")
    memory = facts["memory_mb"]
    if memory is not None:
        table.add_row("memory", f"{memory['available']:,} MB free of {memory['total']:,} MB")
    code = facts["compiled code"]
    state = f"{code['kernels']} loops in {code['folder']}" if code["folder"] else "kept nowhere"
    table.add_row("compiled code", escape(f"{state}, {'writable' if code['writable'] else 'NOT writable'}"))
    table.add_row("GPU", escape(facts["gpu"] or "none that can be used"))
    table.add_row("Dask", escape(facts["dask"] or "not installed"))
    for name, there in facts["extras"].items():
        table.add_row(name, f"{'[green]there[/]  ' if there else '[dim]missing[/]'} for {escape(extras[name])}")
    terminal().print(table)

"""The terminal, and how tables and numbers look on it."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def terminal() -> Console:
    """Where all is printed. What comes from the user is escaped: `speed[km/h]` is no markup, `a:car:b` no emoji."""
    return Console(highlight=False, emoji=False)


def facts_table() -> Table:
    """An empty table of facts, each beside its name."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    return table


def counted(n: int, one: str) -> str:
    """1 row, or 2,000 rows."""
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def first_few(values: Sequence[Any]) -> str:
    """The first ten values."""
    return ", ".join(map(str, values[:10])) + (" ..." if len(values) > 10 else "")

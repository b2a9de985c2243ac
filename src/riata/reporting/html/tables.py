"""Tables that can be read without a script; with one they are sorted by a click and searched by a few letters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from riata.reporting.html.numbers import short
from riata.reporting.html.rendering import rendered


@dataclass(frozen=True)
class Column:
    """The head of a column."""

    title: str
    number: bool = False  # shown flush right
    hint: str = ""


def data_table(
    name: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]], *, search: str = "", sortable: bool = True
) -> Markup:
    """A table with an id; `search` says what to search for. Numbers are shown with few digits and stored with all."""
    return rendered(
        "table.html",
        name=name,
        columns=columns,
        rows=[[_cell(value) for value in row] for row in rows],
        search=search,
        sortable=sortable,
    )


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup:
    """Names and what they are, one under the other."""
    return rendered("facts.html", pairs=[(name, value) for name, value in pairs if value is not None])


def _cell(value: Any) -> tuple[Any, str | None]:
    """What a cell shows, and the number behind it; a pair is both."""
    if isinstance(value, tuple):
        return value[0], repr(float(value[1]))
    if isinstance(value, bool | np.bool_):
        return ("yes" if value else ""), str(int(value))
    if isinstance(value, int | np.integer):
        return f"{value:,}".replace("-", "−"), str(value)
    if isinstance(value, float | np.floating):
        return short(float(value)), repr(float(value)) if np.isfinite(value) else ""
    return ("–", "") if value is None else (value, None)

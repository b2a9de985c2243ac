"""The data: how much there is, what its columns hold, and what was left out."""

from collections import Counter
from typing import Any

import numpy as np
from markupsafe import Markup

from riata.data.columns.column import Encoder
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.hashed import SPACE
from riata.reporting.html.charts import Bar, bar_chart, sparkline
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import count, label
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.tables import Column, data_table
from riata.reporting.html.tables import facts as facts_list
from riata.reporting.terminal.data_tables import holds
from riata.reporting.terminal.wording import as_typed

MOST_COLUMNS = 400  # in the table, those with features in the model first
MOST_CLASSES = 12
ASKED = {
    "weight": "weights of rows",
    "offset": "offset of rows",
    "exposure": "exposure of rows",
    "features": "columns asked for",
    "drop": "columns dropped",
}


def data_section(facts: Facts) -> Section:
    """Facts of the rows, a table of the columns, notes of the first pass."""
    profile = facts.profile
    pairs: list[tuple[str, str | None]] = [("data", facts.data)]
    if facts.training.n_rows is not None:
        pairs.append(("rows", f"{facts.training.n_rows:,}"))
    pairs.append(("features", facts.of_features))
    if profile is not None:
        pairs += _of_profile(facts)
    pairs += [(words, _listed(facts.origin.opened.get(name))) for name, words in ASKED.items()]
    body = rendered(
        "data.html",
        facts=facts_list(pairs),
        classes=_classes(facts),
        columns=None if profile is None else _columns(facts),
        n_columns=0 if profile is None else len(profile.columns),
        most=MOST_COLUMNS,
        notes=[] if profile is None else [as_typed(note) if facts.origin.command else note for note in profile.notes],
    )
    return Section("data", "The data", body)


def _listed(value: Any) -> str | None:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _of_profile(facts: Facts) -> list[tuple[str, str | None]]:
    profile = facts.profile
    assert profile is not None
    kinds = Counter(found.type for found in profile.columns.values() if found.type != "target")
    names = {"number": "of numbers", "category": "of categories", "date": "of dates", "text": "of text"}
    with_gaps = sum(found.missing > 0 for found in profile.columns.values())
    left_out = profile.n_read - profile.n_rows
    return [
        ("columns", ", ".join(f"{n} {names.get(kind, kind)}" for kind, n in kinds.most_common())),
        ("stored as", "sparse rows" if profile.encoding.sparse else "dense rows"),
        ("rows left out", f"{left_out:,} of {profile.n_read:,}" if left_out else "none"),
        ("missing values", f"in {count(with_gaps, 'column')}" if with_gaps else "none"),
    ]


def _classes(facts: Facts) -> Markup | None:
    """How many rows each class has."""
    counts, labels = facts.class_count, facts.model.classes
    if counts is None or labels is None or len(labels) > MOST_CLASSES:
        return None
    bars = [
        Bar(label(name), float(n), f"{int(n):,} ({n / counts.sum():.1%})")
        for name, n in zip(labels, counts, strict=True)
    ]
    return bar_chart("Rows of each class", bars, kind="classes")


def _columns(facts: Facts) -> Markup:
    profile = facts.profile
    assert profile is not None
    chosen = set(facts.model.names)
    encoders = {encoder.column: encoder for encoder in profile.encoding.encoders}
    rows = []
    for name, found in profile.columns.items():
        encoder = encoders.get(name)
        used = None if encoder is None else _count(encoder, chosen)
        width = None if encoder is None or encoder.width == SPACE else encoder.width
        rows.append([name, found.type, width, used, found.missing, holds(found), spread(found)])
    rows.sort(key=lambda row: (row[1] != "target", not row[3]))
    columns = [
        Column("column"),
        Column("type"),
        Column("features", True, "how many it became"),
        Column("in the model", True),
        Column("missing", True),
        Column("what it holds"),
        Column("spread"),
    ]
    return data_table("columns", columns, rows[:MOST_COLUMNS], search="Search columns")


def _count(encoder: Encoder, chosen: set[str]) -> int:
    """How many of these features a column gave."""
    if encoder.width == SPACE:  # they have no list
        return sum(encoder.gives([name]) for name in chosen)
    return sum(name in chosen for name in encoder.names)


def spread(found: ColumnProfile) -> Markup | str:
    """A small picture of the values of a column, or of the counts of its levels."""
    if found.histogram is not None:
        start, width, counts = found.histogram
        return sparkline(start + width * np.arange(len(counts) + 1), counts)
    if found.counts:
        return sparkline(np.arange(len(found.counts) + 1), found.counts)
    return ""

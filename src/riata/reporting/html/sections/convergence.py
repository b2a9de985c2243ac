"""How the solver got there, and how sure it is."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from riata.reporting.html.charts import Series, xy_chart
from riata.reporting.html.ending import ending
from riata.reporting.html.facts import Facts
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.scales import Axis
from riata.reporting.html.tables import Column, data_table
from riata.reporting.html.words import certificate
from riata.solvers.online.progressive_scores import ProgressiveScores
from riata.training.driver import Record

Histories = Sequence[tuple[str, Sequence[Record]]]  # by the label of the class, where there are several

MEASURES = {
    "gap": "relative duality gap",
    "objective": "objective",
    "progressive_loss": "loss of rows before they were learnt",
    "accuracy": "accuracy before rows were learnt",
    "r2": "R2 before rows were learnt",
    "n_selected": "features in the model",
}
MOST_DOTS = 60
MOST_RECORDS = 400  # of a history, in charts and in the table


def convergence_section(facts: Facts) -> Section:
    """The certificate in words, and the history it rests on."""
    histories = [(label, _thinned(history)) for label, history in facts.histories]
    long = any(len(history) > 1 for _, history in histories)
    charts = [_chart(histories, name) for name in MEASURES if _knows(histories, name)]
    body = rendered(
        "convergence.html",
        words=certificate(facts),
        certainty=ending(facts.training).certainty,
        charts=charts if long else _gaps_of_paths(facts),
        history=_table(histories) if long else None,
        by_day=_by_day(facts.training.progressive_by_day),
    )
    return Section("convergence", "Convergence and certificate", body)


def _thinned(history: Sequence[Record]) -> list[Record]:
    """Some records of a long history, the first and the last among them."""
    rows = np.unique(np.linspace(0, len(history) - 1, min(len(history), MOST_RECORDS)).round().astype(int))
    return [history[i] for i in rows]


def _knows(histories: Histories, name: str) -> bool:
    return any(getattr(record, name) is not None for _, history in histories for record in history)


def _chart(histories: Histories, name: str) -> Markup:
    series = []
    for label, history in histories:
        known = [(r.along, getattr(r, name)) for r in history if getattr(r, name) is not None]
        x, y = [x for x, _ in known], [y for _, y in known]
        series.append(Series(label, x, y, dots=len(known) <= MOST_DOTS, steps=name == "n_selected"))
    log = name == "gap" and any(y > 0 for one in series for y in one.y)
    title, by_rows = MEASURES[name], _knows(histories, "rows")
    return xy_chart(title, series, Axis("rows" if by_rows else "passes over the data"), Axis(title, log=log), kind=name)


def _gaps_of_paths(facts: Facts) -> list[Markup]:
    """Where the model was chosen from a path, every model of it has a certificate."""
    series = [
        Series(one.label or "", one.path.values, np.maximum(one.path.gaps, 1e-16), line=False, dots=True)
        for one in facts.paths
        if one.path.gaps is not None
    ]
    if not series:
        return []
    up = Axis("relative duality gap", log=True)
    return [xy_chart("Certified gap along the path", series, Axis("alpha", log=True, falling=True), up, kind="gap")]


def _table(histories: Histories) -> Markup:
    classes = len(histories) > 1
    columns = [Column("class")] * classes + [
        Column(title, True) for title in ("passes", "steps", "seconds", "objective", "gap", "features")
    ]
    rows = [
        [label] * classes + [r.passes, r.steps, r.seconds, r.objective, r.gap, r.n_selected]
        for label, history in histories
        for r in history
    ]
    return data_table("history", columns, rows)


def _by_day(scores: dict[str, dict[str, int | float | None]]) -> Markup | None:
    """How good probabilities were on each day, before its rows were learnt."""
    if not scores:
        return None
    columns = [Column("day"), *(Column(name.replace("_", " "), True) for name in ProgressiveScores._fields)]
    rows = [[day, *(of_day[name] for name in ProgressiveScores._fields)] for day, of_day in scores.items()]
    return data_table("days", columns, rows)

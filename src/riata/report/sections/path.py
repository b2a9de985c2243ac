"""The path: models from sparse to dense, how each was scored, which was chosen; any of them can be looked at."""

import numpy as np
from markupsafe import Markup

from riata.path_report import columns as known_columns
from riata.report.charts import Series, xy_chart
from riata.report.facts import Facts
from riata.report.numbers import rounded
from riata.report.page import Section
from riata.report.rendering import embedded, rendered
from riata.report.scales import Axis
from riata.report.tables import Column, data_table
from riata.report.words import SCORES
from riata.selection.searched import Searched

NAMED, OTHERS = 8, 60  # lines in colour, and behind them
MOST_NUMBERS = 24_000  # coefficients in charts, and as many in models to pick, over all models of all paths
MOST_MODELS = 1000  # that are listed


def path_section(facts: Facts) -> Section | None:
    """Charts and models of every path."""
    if not facts.paths:
        return None
    n_models = sum(len(one.path) for one in facts.paths)
    most = max(NAMED, MOST_NUMBERS // n_models)
    listed = n_models <= MOST_MODELS
    bodies = Markup("").join(_one_path(facts, one, i, most, listed) for i, one in enumerate(facts.paths))
    return Section("path", "The path", bodies)


def _one_path(facts: Facts, one: Searched, number: int, most: int, listed: bool) -> Markup:
    models = _models(facts, one, most)
    chosen = one.selection.index
    return rendered(
        "path.html",
        number=number,
        label=one.label,
        reason=one.selection.reason,
        charts=[_effects(facts, one, min(OTHERS, most - NAMED)), _scores(one)],
        n_models=len(one.path),
        chosen=chosen,
        here=one.path.named(chosen),
        picked=_picked(models, number),
        all_models=_all_models(one, number) if listed else None,
        models=embedded(models),
    )


def _along(one: Searched) -> Axis:
    return Axis(one.path.by, log=one.path.by == "alpha", falling=one.path.by == "alpha")


def _effects(facts: Facts, one: Searched, most_others: int) -> Markup:
    """Lines of the features that are largest in the chosen model, over those that are largest anywhere."""
    path, i = one.path, one.selection.index
    effects = path.coefs * facts.scale
    reach = np.abs(effects).max(axis=0)
    used = np.flatnonzero(reach)
    named = [j for j in np.argsort(-np.abs(effects[i]), kind="stable")[:NAMED] if effects[i, j] != 0]
    others = [j for j in used[np.argsort(-reach[used], kind="stable")] if j not in named][:most_others]
    series = [Series(str(facts.names[j]), path.values, effects[:, j]) for j in named]
    series += [Series(str(facts.names[j]), path.values, effects[:, j], background=True) for j in others]
    if not series:
        series = [Series("no feature", path.values, np.zeros(len(path)))]
    hidden = len(used) - len(named) - len(others)
    note = f"{len(used):,} features enter the path" + (f"; {hidden:,} of the smallest are not drawn" if hidden else "")
    title, up = "Coefficients along the path", Axis("effect of one standard deviation")
    return xy_chart(title, series, _along(one), up, note=note, chosen=float(path.values[i]), kind="path")


def _scores(one: Searched) -> Markup:
    path, selection = one.path, one.selection
    if selection.scores is None:
        name, scores, note = "objective", path.objectives, ""
    else:
        name, scores = SCORES.get(selection.score, selection.score), np.asarray(selection.scores)
        note = "the band is one standard error over the folds" if selection.errors is not None else ""
    shown = np.isfinite(scores)
    spread = None if selection.errors is None else np.asarray(selection.errors)[shown]
    series = [Series(name, path.values[shown], scores[shown], spread=spread)]
    chosen = float(path.values[selection.index])
    where = "validation" if selection.rule.startswith(("cv", "validation")) else "training"
    return xy_chart(f"{name} ({where})", series, _along(one), Axis(name), note=note, chosen=chosen, kind="score")


def _models(facts: Facts, one: Searched, most: int) -> dict:
    """Every model of the path with its largest effects, for the script to show."""
    path = one.path
    effects = np.abs(path.coefs * facts.scale)
    largest = [[j for j in np.argsort(-row, kind="stable")[:most] if row[j] > 0] for row in effects]
    used = sorted({int(j) for row in largest for j in row})
    places = {j: i for i, j in enumerate(used)}
    assert facts.scale is not None
    return {
        "values": rounded(path.values, 8),
        "chosen": one.selection.index,
        "names": [str(facts.names[j]) for j in used],
        "scale": rounded(facts.scale[used], 8),
        "models": [
            {
                "text": path.named(i),
                "left_out": int(np.count_nonzero(path.coefs[i])) - len(row),
                "features": [places[int(j)] for j in row],
                "coefs": rounded(path.coefs[i, row], 8),
            }
            for i, row in enumerate(largest)
        ],
    }


def _picked(models: dict, number: int) -> Markup:
    """The chosen model, until another is picked."""
    model = models["models"][models["chosen"]]
    rows = [
        (models["names"][j], coef, coef * models["scale"][j])
        for j, coef in zip(model["features"], model["coefs"], strict=True)
    ]
    columns = [Column("feature"), Column("coefficient", True), Column("effect", True)]
    return data_table(f"picked-{number}", columns, rows)


def _all_models(one: Searched, number: int) -> Markup:
    known = known_columns(one)
    columns = [Column("" if name == "chosen" else SCORES.get(name, name.replace("_", " ")), True) for name in known]
    rows = [["chosen" if v is True else "" if v is False else v for v in (c[i].item() for c in known.values())]
            for i in range(len(one.path))]  # fmt: skip
    return data_table(f"models-{number}", columns, rows)

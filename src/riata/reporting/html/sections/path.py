"""The path: models from sparse to dense, how each was scored, which was chosen; any of them can be looked at."""

from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from riata.reporting.html.charts import Series, xy_chart
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import count, rounded
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import embedded, rendered
from riata.reporting.html.scales import Axis
from riata.reporting.html.tables import Column, data_table
from riata.reporting.html.words import SCORES
from riata.reporting.terminal.path_report import columns as known_columns
from riata.training.selection.path_choice import PathChoice

NAMED, OTHERS = 8, 60  # lines in colour, and behind them
MOST_NUMBERS = 24_000  # coefficients in charts, and as many in models to pick, over all models of all paths
MOST_MODELS = 1000  # that are listed


class _Used(NamedTuple):
    """A path without the features that none of its models has."""

    one: PathChoice
    names: list[str]
    scale: np.ndarray
    coefs: np.ndarray  # models x features

    @property
    def effects(self) -> np.ndarray:
        return self.coefs * self.scale


def path_section(facts: Facts) -> Section | None:
    """Charts and models of every path."""
    if not facts.paths:
        return None
    n_models = sum(len(one.path) for one in facts.paths)
    most, listed = max(NAMED, MOST_NUMBERS // n_models), n_models <= MOST_MODELS
    paths = [_used(facts, one) for one in facts.paths]
    return Section("path", "The path", Markup("").join(_body(used, i, most, listed) for i, used in enumerate(paths)))


def _used(facts: Facts, one: PathChoice) -> _Used:
    """What is left of a path; nothing as large as all features times all models is made on the way."""
    assert facts.scale is not None
    used = np.unique(np.concatenate([np.flatnonzero(row) for row in one.path.coefs]))
    names = one.coefficient_names(facts.names, used)
    return _Used(one, names, facts.scale[one.feature_of(used)], one.path.coefs[:, used])


def _body(used: _Used, number: int, most: int, listed: bool) -> Markup:
    one, models = used.one, _models(used, most)
    return rendered(
        "path.html",
        number=number,
        title=None if one.label is None else one.title,
        reason=one.selection.reason,
        charts=[_effects(used, min(OTHERS, most - NAMED)), _scores(one), *_bounds(one)],
        n_models=len(one.path),
        chosen=one.selection.index,
        here=one.path.named(one.selection.index),
        picked=_picked(models, number),
        left_out=models["models"][one.selection.index]["left_out"],
        all_models=_all_models(one, number) if listed else None,
        models=embedded(models),
    )


def _along(one: PathChoice) -> Axis:
    along_alpha = one.path.by == "alpha"
    return Axis(one.path.by, log=along_alpha, falling=along_alpha, whole=not along_alpha)


def _effects(used: _Used, most_others: int) -> Markup:
    """Lines of the features that are largest in the chosen model, over those that are largest anywhere."""
    path, i, effects = used.one.path, used.one.selection.index, used.effects
    named = [j for j in _largest(effects[i])[:NAMED] if effects[i, j] != 0]
    others = [j for j in _largest(np.abs(effects).max(axis=0)) if j not in named][:most_others]
    series = [Series(used.names[j], path.values, effects[:, j]) for j in named]
    series += [Series(used.names[j], path.values, effects[:, j], background=True) for j in others]
    if not series:
        series = [Series("no feature", path.values, np.zeros(len(path)))]
    hidden = len(used.names) - len(named) - len(others)
    what = "coefficient" if used.one.outputs else "feature"  # of several outputs, each feature has several
    note = f"{count(len(used.names), f'{what} enters', f'{what}s enter')} the path"
    note += f"; {hidden:,} of the smallest are not drawn" if hidden else ""
    title, up = "Coefficients along the path", Axis("effect of one standard deviation")
    return xy_chart(title, series, _along(used.one), up, note=note, chosen=float(path.values[i]), kind="path")


def _largest(effects: np.ndarray) -> np.ndarray:
    """Features by the size of their effects."""
    return np.argsort(-np.abs(effects), kind="stable")


def _scores(one: PathChoice) -> Markup:
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
    where = {"cv": "cross-validation", "cv-1se": "cross-validation", "validation": "validation"}.get(
        selection.rule, "training"
    )
    return xy_chart(f"{name} ({where})", series, _along(one), Axis(name), note=note, chosen=chosen, kind="score")


def _bounds(one: PathChoice) -> list[Markup]:
    """The objective of every k over a band down to what no other model of k features can be below."""
    path, bounds = one.path, one.path.bound_values
    if bounds is None:
        return []
    series = [Series("objective", path.values, path.objectives, down_to=np.minimum(bounds, path.objectives))]
    note = "no model of so many features can have an objective below the band"
    chosen, title, up = float(path.values[one.selection.index]), "How much better could others be", Axis("objective")
    return [xy_chart(title, series, _along(one), up, note=note, chosen=chosen, kind="bound")]


def _models(used: _Used, most: int) -> dict[str, Any]:
    """Every model of the path with its largest effects, for the script to show."""
    path = used.one.path
    largest = [[int(j) for j in _largest(row)[:most] if row[j] != 0] for row in used.effects]
    shown = sorted({j for row in largest for j in row})
    places = {j: i for i, j in enumerate(shown)}
    return {
        "values": rounded(path.values, 8),
        "chosen": used.one.selection.index,
        "names": [used.names[j] for j in shown],
        "scale": rounded(used.scale[shown], 8),
        "models": [
            {
                "text": path.named(i),
                "left_out": int(np.count_nonzero(used.coefs[i])) - len(row),
                "features": [places[j] for j in row],
                "coefs": rounded(used.coefs[i, row], 8),
            }
            for i, row in enumerate(largest)
        ],
    }


def _picked(models: dict[str, Any], number: int) -> Markup:
    """The chosen model, until another is picked."""
    model = models["models"][models["chosen"]]
    rows = [
        (models["names"][j], coef, coef * models["scale"][j])
        for j, coef in zip(model["features"], model["coefs"], strict=True)
    ]
    columns = [Column("feature"), Column("coefficient", True), Column("effect", True)]
    return data_table(f"picked-{number}", columns, rows)


def _all_models(one: PathChoice, number: int) -> Markup:
    known = known_columns(one)
    columns = [Column("" if name == "chosen" else SCORES.get(name, name.replace("_", " ")), True) for name in known]
    rows = [["chosen" if v is True else "" if v is False else v for v in (c[i].item() for c in known.values())]
            for i in range(len(one.path))]  # fmt: skip
    return data_table(f"models-{number}", columns, rows)

"""The model: its features by name, in the units of the data and per standard deviation."""

import numpy as np
from markupsafe import Markup

from riata.model.model import Model
from riata.model.quality import ClassQuality
from riata.reporting.html.charts import Bar, bar_chart
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import label, short
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.tables import Column, data_table
from riata.reporting.terminal.features import about_separated, about_unlimited

TOP, TOP_EACH = 20, 8  # bars of one margin, and of each of several
MOST_BARS_OF = 6  # classes
TOP_OF_CLASS = 5  # effects of a class, where there are more
MOST_CELLS = 6000  # numbers in the table; the model file has all


def model_section(facts: Facts) -> Section:
    """Bars of the largest effects, and all features in a table."""
    model = facts.model
    effects = np.abs(model.coef * np.asarray(model.deviations)).max(axis=0)
    shown = np.argsort(-effects, kind="stable")[: MOST_CELLS // (3 * len(model.intercept))]
    body = rendered(
        "model.html",
        reading=_reading(model),
        bars=_bars(facts),
        table=_table(facts, shown),
        n_shown=len(shown),
        n_chosen=len(model.names),
        intercepts=[(_label(model, i), short(b, 6), repr(float(b))) for i, b in enumerate(model.intercept)],
        of_risks=model.task == "survival",
        stability=facts.stability,
        warnings=_warnings(facts),
        by_class=_by_class(facts) if len(model.intercept) > MOST_BARS_OF else None,
    )
    return Section("model", "The model", body)


def _warnings(facts: Facts) -> list[str]:
    """On coefficients whose size says little: of separated classes, and of features that no row speaks against."""
    found = facts.on_training
    if not isinstance(found, ClassQuality):
        return []
    said = []
    if found.separated:
        said.append(about_separated([label(one) for one in found.separated], facts.model))
    if found.unlimited:
        said.append(about_unlimited(found.unlimited))
    return said


def _by_class(facts: Facts) -> Markup:
    """A row for every class, target or quantile: its features, and the largest effects among them."""
    model, found = facts.model, facts.on_training
    separated = found.separated if isinstance(found, ClassQuality) else ()
    rows = []
    of_classes = model.word_of_outputs == "class"
    names = (model.classes or []) if of_classes else model.outputs
    for name, effects in zip(names, model.coef * np.asarray(model.deviations), strict=True):
        order = [j for j in np.argsort(-np.abs(effects), kind="stable")[:TOP_OF_CLASS] if effects[j] != 0]
        said = ", ".join(f"{model.names[j]} {'+' * bool(effects[j] > 0)}{short(effects[j], 3)}" for j in order)
        rows.append([label(name), int(np.count_nonzero(effects)), said or "none"])
        if of_classes:
            rows[-1].append(name in separated)
    what = model.word_of_outputs
    columns = [Column(what), Column("features", True), Column("largest effects of one standard deviation")]
    if of_classes:
        columns += [Column("separated", hint="told from all other training rows without one mistake")]
    return data_table("effects-by-class", columns, rows, search=f"Search {what}{'es' if of_classes else 's'}")


def _reading(model: Model) -> str:
    """What a unit of a feature adds to."""
    if model.classes is None:
        return model.loss_function.reading()
    of = f"class {_label(model, 0)}" if len(model.intercept) == 1 else "the class"
    return model.loss_function.reading(of)


def _label(model: Model, i: int) -> str:
    """The class that margin i speaks for, or the target that it predicts."""
    if len(model.intercept) > 1:
        return label(model.outputs[i])
    if model.classes is None:
        return ""
    return label(model.classes[1] if len(model.intercept) == 1 else model.classes[i])


def _bars(facts: Facts) -> list[Markup]:
    model = facts.model
    n_margins = len(model.intercept)
    if n_margins > MOST_BARS_OF or not model.names:
        return []
    most = TOP if n_margins == 1 else TOP_EACH
    return [_bars_of(facts, i, most) for i in range(n_margins)]


def _bars_of(facts: Facts, i: int, most: int) -> Markup:
    model = facts.model
    scale = np.asarray(model.deviations)
    effects = model.coef[i] * scale
    order = [j for j in np.argsort(-np.abs(effects), kind="stable")[:most] if effects[j] != 0]
    bars = []
    for j in order:
        spread, hint = None, f"{model.names[j]}: coefficient {short(model.coef[i, j], 6)}"
        if facts.stability is not None:
            spread = float(facts.stability.spread[i, model.indices[j]] * scale[j])
            hint += f", chosen in {facts.stability.frequencies[model.indices[j]]:.0%} of the halves"
        bars.append(Bar(model.names[j], float(effects[j]), short(effects[j], 3), spread, hint))
    n = int(np.count_nonzero(effects))
    what, notes = "Effect of one standard deviation", []
    if len(model.intercept) > 1:
        what, notes = f"{model.word_of_outputs.capitalize()} {_label(model, i)}", [what.lower()]
    if len(order) < n:
        notes.append(f"the {len(order)} largest of {n:,}")
    if facts.stability is not None:
        notes.append(f"whiskers: a standard error, from {facts.stability.n_halves} half samples")
    return bar_chart(what, bars, note="; ".join(notes), kind="effects")


def _table(facts: Facts, shown: np.ndarray) -> Markup:
    """A row per feature: coefficients, effects and, where it is known, how stable they are."""
    model, found = facts.model, facts.stability
    one = len(model.intercept) == 1
    of = [""] if one else [f" {_label(model, i)}" for i in range(len(model.intercept))]
    columns = [Column("feature")]
    columns += [Column(f"coefficient{which}", True, "per unit of the feature") for which in of]
    columns += [Column(f"effect{which}", True, "per standard deviation of the feature") for which in of]
    columns += [Column("deviation", True, "standard deviation of the feature")]
    if found is not None:
        columns += [Column("chosen in halves", True, "share of random halves of the rows that chose it")]
        columns += [Column(f"standard error{which}", True, "of the coefficient, about") for which in of]
    rows = []
    for j in shown:
        row = [model.names[j], *model.coef[:, j], *(model.coef[:, j] * model.deviations[j]), model.deviations[j]]
        if found is not None:
            share = found.frequencies[model.indices[j]]
            row += [(f"{share:.0%}", share), *found.spread[:, model.indices[j]]]
        rows.append(row)
    return data_table("features", columns, rows, search="Search features")

"""The features of a model on a terminal: a row for each, or, of many classes or targets, a row for each of these."""

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from riata.model.model import Model
from riata.reporting.terminal.aligned import aligned, by_points
from riata.reporting.terminal.user_text import escape

BAR = 20  # characters of the largest effect
MOST_COLUMNS = 4  # classes that have a column each
TOP_EACH = 3  # features of a class, where each has a row
NAME = 24  # characters of a name there
MOST_NAMED = 8  # classes or features that a sentence names


def features_table(model: Model, most: int, separated: Collection[Any] = ()) -> Table:
    """The features of largest effect; `separated` are classes whose coefficients say little."""
    if len(model.intercept) > MOST_COLUMNS:
        return _by_class(model, separated)
    return _by_feature(model, most)


def _by_feature(model: Model, most: int) -> Table:
    """A row for every feature, with a bar for the effect of one standard deviation."""
    table = Table(box=None, header_style="bold")
    table.add_column("feature")
    one = len(model.intercept) == 1
    titles = ["coefficient"] if one else [escape(output) for output in model.outputs]
    for title in titles:
        table.add_column(title)
    table.add_column("effect of one standard deviation")
    ranked = model.ranked
    shown = ranked[:most]
    largest = max((abs(effect).max() for _, _, effect in ranked), default=1.0) or 1.0
    coefs = [by_points([coef[i] for _, coef, _ in shown]) for i in range(len(titles))]
    sizes = [effect[abs(effect).argmax()] for _, _, effect in shown]
    texts = aligned(sizes, digits=3, sign=True)
    width = max(map(len, texts), default=0)
    for row, ((name, _, _), size, text) in enumerate(zip(shown, sizes, texts, strict=True)):
        bar = "█" * (max(1, round(BAR * min(abs(size) / largest, 1.0))) if math.isfinite(largest) else 1)
        effect = f"{text:>{width}} [{'green' if size > 0 else 'red'}]{bar}[/]"
        table.add_row(escape(name), *(column[row] for column in coefs), effect)
    if not ranked:
        table.add_row("[dim]none: the model is its intercept[/]", *[""] * len(model.intercept), "")
    if len(ranked) > most:
        table.add_row(f"[dim]and {len(ranked) - most} more[/]", *[""] * len(model.intercept), "")
    return table


def _by_class(model: Model, separated: Collection[Any]) -> Table:
    """A row for every class or target: how many features it has, and the largest effects among them."""
    table = Table(box=None, header_style="bold")
    table.add_column(model.word_of_outputs)
    table.add_column("features", justify="right")
    table.add_column("largest effects of one standard deviation")
    effects = model.coef * np.asarray(model.deviations)
    for label, effect in zip(model.classes or model.outputs, effects, strict=True):
        said = _largest(model.names, effect)
        if label in separated:
            said = f"[yellow]separated[/] [dim]{said}[/]"
        table.add_row(escape(str(label)), f"{np.count_nonzero(effect):,}", said)
    return table


def _largest(names: Sequence[str], effect: np.ndarray) -> str:
    order = [j for j in np.argsort(-np.abs(effect), kind="stable")[:TOP_EACH] if effect[j] != 0]
    return ", ".join(f"{escape(_short(names[j]))} {_three_digits(effect[j])}" for j in order) or "[dim]none[/]"


def _three_digits(value: float) -> str:
    return f"{value:+#.3g}".rstrip(".")


def _short(name: str) -> str:
    """The beginning and the end of a long name: levels and units, in which names differ, are at the end."""
    begin, end = NAME // 2, NAME - NAME // 2 - 1
    return name if len(name) <= NAME else f"{name[:begin]}…{name[-end:]}"


def about_separated(separated: Sequence[Any], model: Model) -> str:
    """A sentence on classes that are told from the rest without one mistake."""
    shown, several = _first(separated), len(model.intercept) > 1
    training = model.training
    penalised = training.k is None or training.ridge or training.parameters.get("ridge")
    limits = "the penalty alone limits" if penalised else "without a ridge nothing limits"
    if not several:
        return (
            f"The model tells {shown} from the rest of the training rows without one mistake: {limits} its "
            "coefficients, whose size says little. Does a column give the answer away?"
        )
    return (
        f"Separated: {shown}. The model tells {'this class' if len(separated) == 1 else 'each of these classes'} from "
        f"the rest of the training rows without one mistake: {limits} the coefficients, whose size says "
        "little. Does a column give the answer away?"
    )


def about_unlimited(features: Sequence[str], advice: str = "a small ridge") -> str:
    """A sentence on features whose coefficients nothing limits."""
    whose = "this coefficient" if len(features) == 1 else "these coefficients"
    return (
        f"The training rows put no limit on {whose}: {_first(features)}. All rows with such a feature are of one "
        f"class, or the model is certain of them. The size says where the solver stopped: {advice} keeps it finite."
    )


def _first(several: Sequence[Any]) -> str:
    return ", ".join(map(str, several[:MOST_NAMED])) + (
        f" and {len(several) - MOST_NAMED} more" if len(several) > MOST_NAMED else ""
    )

"""How good a model is, on a terminal: its scores beside those of a model without features."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from riata.model import Model
from riata.model.quality import ClassQuality, Quality, RiskQuality, TargetsQuality
from riata.model.quality.classes import ClassScore
from riata.outcome.score_names import score_name
from riata.reporting.baseline import errors_of, unit_of, what_it_predicts
from riata.reporting.terminal.aligned import aligned, four_digits
from riata.reporting.terminal.console import terminal
from riata.reporting.terminal.user_text import escape

SCORES = (
    "d2_pinball", "pinball_loss", "coverage", "crossing", "r2", "rmse", "mae", "accuracy", "auc", "log_loss",
    "concordance", "deviance_explained",
)  # fmt: skip # in this order
IN_UNITS = ("pinball_loss", "rmse", "mae")  # of the target
MOST_CLASSES = 12  # that are listed
MOST_TARGETS = 20  # that are listed
OF_MANY = 2  # classes from which on each of them is listed


def scores_table(found: Mapping[str, Quality]) -> Table:
    """A row for every score, and for every set of rows its value and that of the baseline."""
    table = Table(box=None, header_style="bold")
    table.add_column("")
    names = [name for name in SCORES if any(one.scores.get(name) is not None for one in found.values())]
    columns = []
    for rows, one in found.items():
        table.add_column(f"{rows} ({one.n_rows:,})", justify="right")
        table.add_column("baseline", justify="right", style="dim")
        columns += [[one.scores.get(name) for name in names], [one.baseline.get(name) for name in names]]
    cells = [_in_kind(names, column) for column in columns]
    for i, name in enumerate(names):
        table.add_row(score_name(name), *(column[i] for column in cells))
    return table


def _in_kind(names: Sequence[str], values: Sequence[float | None]) -> list[str]:
    """Shares with four decimals; errors in the unit of the target with as many as they need."""
    of_errors = iter(aligned([v for name, v in zip(names, values, strict=True) if name in IN_UNITS]))
    return [
        next(of_errors) if name in IN_UNITS else "–" if value is None else _unsigned(f"{value:.4f}")
        for name, value in zip(names, values, strict=True)
    ]


def _unsigned(text: str) -> str:
    """The number without its sign, where nothing but zeros is left of it."""
    return text.removeprefix("-") if float(text) == 0 else text


def explained(found: Mapping[str, Quality], model: Model) -> str:
    """What the baseline is, and what errors are measured in."""
    baseline, classes = model.training.baseline, model.classes
    if any(isinstance(one, ClassQuality) for one in found.values()):
        if baseline is None or not classes:
            return "The baseline always says the most frequent class of these rows."
        most = max(range(len(baseline)), key=lambda i: baseline[i])
        often = f"{classes[most]}, {100 * baseline[most]:.4g} % of the training rows"
        if not model.link_function.probabilities:
            return f"The baseline always says {often}."
        offset = ", whatever the offset of a row" if model.offset is not None else ""
        return f"The baseline always says {often}; its probabilities are the shares of the classes{offset}."
    if any(isinstance(one, RiskQuality) for one in found.values()):
        does = "knows the offset of a row alone" if model.offset is not None else "gives all rows the same risk"
        return f"The baseline {does}. Concordance: of two rows, how often the one of higher risk had its event first."
    if model.targets is not None:
        means = "means of the training rows" if baseline is not None else "means of these rows"
        return f"The baseline predicts the {means}. Scores are means over the {len(model.targets)} targets."
    if model.levels:
        rows = "training rows" if baseline is not None else "these rows"
        return f"The baseline predicts the quantiles of the {rows}. Scores are means over {len(model.levels)} levels."
    does = what_it_predicts(
        None if baseline is None else baseline[0], model.offset, four_digits, model.loss_function.constant_words
    )
    return f"The baseline {does}. {errors_of(model)} are in {unit_of(model, model.target or 'the target')}."


def class_table(found: Mapping[str, Quality]) -> Table | None:
    """Recall, precision and F1 of classes, where there are several, or where they are uneven."""
    rows, one = list(found.items())[-1]
    if not isinstance(one, ClassQuality) or not (len(one.labels) > OF_MANY or one.uneven):
        return None
    scores = sorted(one.by_class, key=_how_bad)[:MOST_CLASSES] if len(one.labels) > MOST_CLASSES else one.by_class
    table = Table(box=None, header_style="bold")
    table.add_column(f"class, {rows}")
    for title in ("weight" if one.is_weighted else "rows", "recall", "precision", "F1"):
        table.add_column(title, justify="right")
    for score in scores:
        weight = f"{score.weight:,.0f}" if score.weight.is_integer() else f"{score.weight:,.4g}"
        table.add_row(escape(str(score.label)), weight, *(_share(v) for v in (score.recall, score.precision, score.f1)))
    if len(one.labels) > len(scores):
        others = len(one.labels) - len(scores)
        missed = sum(score.recall == 0.0 for score in one.by_class) - sum(score.recall == 0.0 for score in scores)
        said = (
            f"and {others} more, none of which is found worse"
            if missed == 0
            else (f"and {others} more; of {missed} of them no row is found, either")
        )
        table.add_row(f"[dim]{said}[/]", "", "", "", "")
    return table


def targets_table(found: Mapping[str, Quality]) -> Table | None:
    """Scores of each of several targets, or quantiles."""
    rows, one = list(found.items())[-1]
    if not isinstance(one, TargetsQuality):
        return None
    table = Table(box=None, header_style="bold")
    table.add_column(f"{one.of}, {rows}")
    for title in one.listed:
        table.add_column(score_name(title), justify="right")
    columns = [_in_column(name, [of.scores[name] for of in one.by_target.values()]) for name in one.listed]
    for i, name in enumerate(list(one.by_target)[:MOST_TARGETS]):
        table.add_row(escape(name), *(column[i] for column in columns))
    if len(one.by_target) > MOST_TARGETS:
        table.add_row(f"[dim]and {len(one.by_target) - MOST_TARGETS} more[/]", *[""] * len(one.listed))
    return table


def _in_column(name: str, values: Sequence[float | None]) -> Sequence[str]:
    """A score of several targets: errors to the same digit, shares with four decimals."""
    return aligned(values) if name in IN_UNITS else ["–" if v is None else _unsigned(f"{v:.4f}") for v in values]


def _how_bad(score: ClassScore) -> float:
    """Worst first: classes without a row, of which nothing is known, last."""
    return 2.0 if score.recall is None else score.f1 or 0.0


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def show_quality(console: Console, model: Model, found: Mapping[str, Quality]) -> None:
    """Scores on each of some sets of rows, with what they mean, and those of every class or target."""
    console.print(scores_table(found))
    text = explained(found, model)
    console.print(f"[dim]{escape(text)}[/]\n")
    for table in (class_table(found), targets_table(found)):
        if table is not None:
            console.print(table)
            console.print()


def show_scores(model: Model, found: Quality) -> None:
    """How good a model is on some rows."""
    show_quality(terminal(), model, {"these rows": found})

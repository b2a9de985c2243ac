"""What the command line shows: short tables on a terminal, and the same facts as a dictionary."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

from riata.data.columns.column_profile import ColumnProfile
from riata.data.dataset import Dataset
from riata.model.model import Model
from riata.model.quality import ClassQuality, Quality
from riata.outcome.folds_used import folds_in_words
from riata.outcome.plain import bound_to_json, proof_to_json
from riata.reporting.class_weights import weights_in_words
from riata.reporting.terminal.features import about_separated, about_unlimited, features_table
from riata.reporting.terminal.quality import class_table, explained, scores_table, targets_table
from riata.reporting.terminal.user_text import escape
from riata.reporting.terminal.wording import as_typed, passes_in_words
from riata.solvers.online.progressive_scores import ProgressiveScores
from riata.training.selection.stability import Stability

TOP = 10
MOST_NAMED = 8  # classes that are named with their shares
LONGEST_LEVEL = 40  # letters of a level that are shown
LAST_DAYS = 7  # whose scores are shown
WRITTEN_OUT = 1e15  # numbers below have all their digits


def terminal() -> Console:
    """Where all is printed. What comes from the user is escaped: `speed[km/h]` is no markup, `a:car:b` no emoji."""
    return Console(highlight=False, emoji=False)


def as_dict(model: Model) -> dict[str, Any]:
    """The facts of a fit, by their names in `--json`."""
    training = model.training
    facts = {key: getattr(training, key) for key in ("solver", "k", "alpha", "n_rows", "gap", "converged", "passes")}
    return facts | {
        "task": model.task,
        "loss": model.loss,
        "n_features": model.n_features,
        "n_selected": len(model.names),
        "selected": [name for name, _, _ in model.ranked],
        "objective": training.objective_value,
        "minimised": model.objective,
        "selection": training.selection,
        "folds": training.folds and training.folds.to_json(),
        "stopped_because": training.stopped_because,
        "stop": [reason.value for reason in training.stop],
        "proof": [proof_to_json(proof) for proof in training.proof],
        "bound": [bound_to_json(bound) for bound in training.bound],
        "how_much_better": training.how_much_better,
        "progressive": training.progressive,
        "progressive_by_day": training.progressive_by_day,
        "rest": None if training.rest is None else asdict(training.rest),
    }


def _by_day(scores: dict[str, dict[str, Any]]) -> Table:
    """Scores of the last days, a line each."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("", "rows", "log loss", "normalised entropy", "AUC", "calibration"):
        table.add_column(head, justify="right", header_style="dim")
    left_out = len(scores) - LAST_DAYS
    if left_out > 0:
        table.add_row(f"{_count(left_out, 'day')} before", "in the model's file")
    for day, of_day in list(scores.items())[-LAST_DAYS:]:
        rows, log_loss, *others = ProgressiveScores(**of_day)
        table.add_row(day, f"{rows:,}", f"{log_loss:.4f}", *("" if x is None else f"{x:.3f}" for x in others))
    return table


def show_fit(model: Model, summary: dict[str, Any], found: Mapping[str, Quality]) -> None:
    """The model that a fit gave, how good it is, what it cost and where it is; `found` is by the name of the rows."""
    console = terminal()
    rows, features = _count(summary["n_rows"], "row"), _count(summary["n_features"], "feature")
    console.print(f"\n[bold]{escape(summary['data'])}[/]: {rows}, {features}")
    console.print(escape(f"minimised {model.objective}\n"))
    on_rows = next((one for one in found.values() if isinstance(one, ClassQuality)), None)
    separated = () if on_rows is None else on_rows.separated
    console.print(features_table(model, TOP, separated))
    if separated:
        console.print(f"[yellow]{escape(about_separated(separated, model))}[/]")
    if on_rows is not None and on_rows.unlimited:
        console.print(f"[yellow]{escape(about_unlimited(on_rows.unlimited, '--ridge 0.01'))}[/]")
    console.print()
    if found:
        _show_quality(console, model, found)
    facts = _facts()
    facts.add_row("target", escape(_target(model)))
    facts.add_row("chosen", _chosen(model, summary))
    if model.training.selection:
        facts.add_row("because", escape(as_typed(model.training.selection)))
    _add_weights(facts, model)
    for name, told in (*_of_training(model, summary), *_of_files(model, summary)):
        facts.add_row(name, told)
    console.print(facts)


def _chosen(model: Model, summary: dict[str, Any]) -> str:
    """How many features the model has, of how many."""
    probes = sum(name.startswith("probe_") for name in model.names)
    noise = f", {probes} of them probes" if "digits49" in summary["data"] else ""
    of_classes = model.training.k if isinstance(model.training.k, list) else []
    alike = len(set(of_classes)) == 1 and of_classes[0] is not None
    each = f"; k is for each class: {of_classes[0]} in each of {len(of_classes)}" if alike else ""
    return f"{summary['n_selected']:,} of {_count(summary['n_features'], 'feature')}{noise}{each}"


def _of_training(model: Model, summary: dict[str, Any]) -> Iterator[tuple[str, RenderableType]]:
    """How the fit ended, and what is known of the model by that."""
    training = model.training
    if training.converged and training.gap is not None:
        yield "proved", f"no model of this kind is better by more than {training.gap:.1e} of the loss without features"
    yield "solver", escape(f"{summary['solver']}; it stopped because {summary['stopped_because']}")
    if training.how_much_better:
        yield "bound", escape(as_typed(training.how_much_better))
    if training.rest is not None:
        yield "others", training.rest.in_words()
    if training.progressive:
        scores: dict[str, Any] = training.progressive
        yield "scores", f"of each row before it was learnt: {ProgressiveScores(**scores).in_words()}"
    if training.progressive_by_day:
        yield "by day", _by_day(training.progressive_by_day)


def _of_files(model: Model, summary: dict[str, Any]) -> Iterator[tuple[str, RenderableType]]:
    """How to repeat the fit, what it cost and where the model is."""
    yield "repeat", _repeat(model)
    peak = "" if summary["peak_rss_mb"] is None else f", peak {summary['peak_rss_mb']:.0f} MB"
    scoring = summary.get("passes_to_score") or 0.0
    more = f" and {scoring:.2g} to score training rows" if scoring >= 0.005 else ""
    yield "cost", f"{passes_in_words(summary['passes'])}{more}, {summary['seconds']:.1f} s{peak}"
    yield "saved", escape(summary["model"])
    if summary["report"]:
        yield "report", escape(summary["report"])


def _show_quality(console: Console, model: Model, found: Mapping[str, Quality]) -> None:
    console.print(scores_table(found))
    text = explained(found, model)
    console.print(f"[dim]{escape(text)}[/]\n")
    for table in (class_table(found), targets_table(found)):
        if table is not None:
            console.print(table)
            console.print()


def how_learnt(model: Model) -> str:
    """Whether several classes were learnt one by one or all at once, or in their order."""
    if model.cutpoints is not None:
        return "in this order: positive coefficients speak for higher ones"
    return "all in one model" if model.link_function.sums_to_one else "each against the rest"


def _target(model: Model) -> str:
    """What is predicted, by name; of two classes, which one is the positive one."""
    name = model.target or "the target"
    if model.task == "survival":
        return f"{name}, the time of an event; positive coefficients speak for an early one"
    if model.targets is not None:
        asked = model.training.parameters
        shared = asked.get("shared_support")
        shared = asked.get("penalty") is None if shared is None else shared  # as `several_targets.of_targets` has it
        return f"{name}: {len(model.targets)} numbers, in one model" + (" of the same features" if shared else "")
    if model.levels:
        return f"{name}, a number: {len(model.levels)} quantiles of it"
    if model.loss_function.of_shares:
        return f"{name}, as a share of trials"
    if model.classes is None:
        return f"{name}, a number"
    shares: Sequence[float | None] = model.training.baseline or [None] * len(model.classes)
    classes = [
        f"{label}" if share is None else f"{label} ({100 * share:.3g} %)"
        for label, share in zip(model.classes, shares, strict=True)
    ]
    if len(classes) > MOST_NAMED and model.training.baseline:
        order = sorted(range(len(classes)), key=lambda i: -(shares[i] or 0.0))
        ends = f"from {classes[order[0]]} to {classes[order[-1]]}"
        return f"{name}, {len(classes)} classes, {ends}; {how_learnt(model)}"
    if len(classes) != 2:
        return f"{name}, {len(classes)} classes: {_some(classes)}; {how_learnt(model)}"
    said = (
        f"{name}: {classes[0]} or {classes[1]}; positive is {model.classes[1]}, which positive coefficients speak for"
    )
    return said + (f", predicted from a probability of {model.threshold:g} on" if model.threshold is not None else "")


def _repeat(model: Model) -> str:
    """What chance had to do with it."""
    folds = model.training.folds
    return f"seed {model.training.parameters.get('random_state') or 0}" + (
        f", {folds_in_words(folds)}" if folds else ""
    )


def show_model(model: Model) -> None:
    """Every feature of a model, and how it was made."""
    console = terminal()
    console.print(features_table(model, len(model.names)))
    facts = _facts()
    facts.add_row("task", escape(model.task if model.classes is None else f"{model.task} of {_some(model.classes)}"))
    facts.add_row("minimised", escape(model.objective))
    facts.add_row("intercept", _some([f"{b:.6g}" for b in model.intercept]))
    if model.cutpoints is not None:
        facts.add_row("cutpoints", _some([f"{cut:.6g}" for cut in model.cutpoints]))
    facts.add_row("features", f"{len(model.names):,} of {model.n_features:,}")
    if model.classes is not None and len(model.classes) == 2:
        label = model.classes[1]
        from_where = "0.5 on, as usual" if model.threshold is None else f"{model.threshold:g} on"
        if model.link_function.probabilities:
            facts.add_row("threshold", escape(f"{label} is predicted from a probability of {from_where}"))
    _add_weights(facts, model)
    for key in (
        "data",
        "n_rows",
        "selection",
        "solver",
        "gap",
        "stopped_because",
        "how_much_better",
        "passes",
        "seconds",
    ):
        if (value := getattr(model.training, key)) is not None:
            written = {"gap": ".2g", "n_rows": ",", "passes": "g"}.get(key)
            said = as_typed(str(value)) if written is None else format(value, written)
            facts.add_row(key.replace("_", " "), escape(said))
    console.print(facts)


def show_profile(name: str, data: Dataset) -> None:
    """The columns of a source, and the features they become."""
    profile, console = data.profile, terminal()
    assert profile is not None
    rows, features = _count(profile.n_read, "row"), _count(data.n_features, "feature")
    kind = "sparse" if profile.encoding.sparse else "dense"
    console.print(f"\n[bold]{escape(name)}[/]: {rows} read, {profile.n_rows:,} count, {features}, {kind}\n")
    widths = {encoder.column: encoder.width for encoder in profile.encoding.encoders}
    table = Table(box=None, header_style="bold")
    for title in ("column", "type", "features", "missing", "what it holds"):
        table.add_column(title, justify="right" if title in ("features", "missing") else "left")
    for column, found in profile.columns.items():
        table.add_row(
            escape(column), found.type, str(widths.get(column, "")), f"{found.missing:,}", escape(holds(found))
        )
    console.print(table)
    for note in profile.notes:
        console.print(f"[bold]note[/] {escape(as_typed(note))}")


def holds(found: ColumnProfile) -> str:
    """A few words on the values of a column."""
    if found.mean is not None:
        return f"{_six_digits(found.least)} to {_six_digits(found.largest)}, mean {_six_digits(found.mean)}"
    if found.type == "date":
        return f"{found.least} to {found.largest}"
    if found.hashed:
        return "many levels, hashed"
    if found.levels is None:
        return "nothing"
    more = ", ..." if found.levels > len(found.most_frequent or ()) else ""
    words = f": {', '.join(map(shortened, found.most_frequent))}{more}" if found.most_frequent else ""
    return f"{found.levels:,} different{words}"


def _six_digits(value: Any) -> str:
    """A number of six digits, or of all before the point where there are more: 20200131, and not 2.02001e+07."""
    text = f"{value:.6g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < WRITTEN_OUT else text


def shortened(level: object) -> str:
    """A level on one line, of which only the beginning is shown where it is long, such as a whole review."""
    line = " ".join(str(level).split())
    return line if len(line) <= LONGEST_LEVEL else line[: LONGEST_LEVEL - 3] + "..."


def show_stability(found: Stability, names: Sequence[str], as_json: bool) -> None:
    """The features chosen most often, and how many of the stable ones may be noise."""
    console = terminal()
    if as_json:
        chosen = (-found.frequencies).argsort(kind="stable")[: int((found.frequencies > 0).sum())]
        facts = {"n_halves": found.n_halves, "threshold": found.threshold, "q": found.q, "bound": found.error_bound}
        frequencies = {str(names[j]): float(found.frequencies[j]) for j in chosen}
        console.print_json(data={**facts, "stable": [str(names[j]) for j in found.stable], "frequencies": frequencies})
        return
    table = Table(box=None, header_style="bold")
    table.add_column("feature")
    table.add_column("chosen in halves", justify="right")
    table.add_column()
    ranked = (-found.frequencies).argsort(kind="stable")[: max(TOP, len(found.stable))]
    for j in ranked[found.frequencies[ranked] > 0]:
        share = found.frequencies[j]
        colour = "green" if share >= found.threshold else "dim"
        table.add_row(escape(str(names[j])), f"{100 * share:.0f} %", f"[{colour}]{'█' * max(1, round(20 * share))}[/]")
    console.print(table)
    console.print(
        f"\n{len(found.stable)} of {len(names):,} features are stable: at least {100 * found.threshold:.0f} % of "
        f"{found.n_halves} halves chose them, which chose {found.q:.1f} on average. {found.about_noise()}"
    )


def show_scores(model: Model, found: Quality) -> None:
    """How good a model is on some rows."""
    _show_quality(terminal(), model, {"these rows": found})


def show_datasets() -> None:
    """The data sets by name."""
    table = Table(box=None, header_style="bold")
    for column in ("name", "rows", "features", "what it is"):
        table.add_column(column)
    table.add_row("digits49", "6,000", "5,000", "digits 4 and 9, half the columns noise; made here, a twin of Gisette")
    table.add_row("digits49:test", "1,000", "5,000", "its test rows")
    table.add_row("gisette", "6,000", "5,000", "the NIPS 2003 data itself; downloaded from UCI at first use")
    table.add_row("gisette:test", "1,000", "5,000", "its validation rows, which papers test on")
    terminal().print(table)


def _count(n: int, one: str) -> str:
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def _add_weights(facts: Table, model: Model) -> None:
    """The offset of rows; what rows of each class counted, if not the same, and what this does to probabilities."""
    if model.offset is not None:
        facts.add_row("offset", escape(f"{model.offset.words} of a row is added to its margin"))
    if (said := weights_in_words(model)) is not None:
        facts.add_row("weights", escape(said))


def _facts() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    return table


def _some(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:10])) + (" ..." if len(values) > 10 else "")

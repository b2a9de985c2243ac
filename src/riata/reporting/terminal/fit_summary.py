"""What the command line shows of a fit: its model, how good it is, what it cost; and the same facts for `--json`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from riata.model.model import Model
from riata.model.quality import ClassQuality, Quality
from riata.outcome.folds_used import folds_in_words
from riata.outcome.plain import bound_to_json, proof_to_json
from riata.reporting.terminal.console import counted, facts_table, first_few, terminal
from riata.reporting.terminal.features import about_separated, about_unlimited, features_table
from riata.reporting.terminal.model_summary import add_weights
from riata.reporting.terminal.quality import show_quality
from riata.reporting.terminal.user_text import escape
from riata.reporting.terminal.wording import as_typed, passes_in_words
from riata.solvers.online.progressive_scores import ProgressiveScores

TOP = 10  # features that are shown
MOST_NAMED = 8  # classes that are named with their shares
LAST_DAYS = 7  # whose scores are shown


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


def show_fit(model: Model, summary: dict[str, Any], found: Mapping[str, Quality]) -> None:
    """The model that a fit gave, how good it is, what it cost and where it is; `found` is by the name of the rows."""
    console = terminal()
    rows, features = counted(summary["n_rows"], "row"), counted(summary["n_features"], "feature")
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
        show_quality(console, model, found)
    facts = facts_table()
    facts.add_row("target", escape(_target(model)))
    facts.add_row("chosen", _chosen(model, summary))
    if model.training.selection:
        facts.add_row("because", escape(as_typed(model.training.selection)))
    add_weights(facts, model)
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
    return f"{summary['n_selected']:,} of {counted(summary['n_features'], 'feature')}{noise}{each}"


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


def _by_day(scores: dict[str, dict[str, Any]]) -> Table:
    """Scores of the last days, a line each."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("", "rows", "log loss", "normalised entropy", "AUC", "calibration"):
        table.add_column(head, justify="right", header_style="dim")
    left_out = len(scores) - LAST_DAYS
    if left_out > 0:
        table.add_row(f"{counted(left_out, 'day')} before", "in the model's file")
    for day, of_day in list(scores.items())[-LAST_DAYS:]:
        rows, log_loss, *others = ProgressiveScores(**of_day)
        table.add_row(day, f"{rows:,}", f"{log_loss:.4f}", *("" if x is None else f"{x:.3f}" for x in others))
    return table


def _repeat(model: Model) -> str:
    """What chance had to do with it."""
    folds = model.training.folds
    return f"seed {model.training.parameters.get('random_state') or 0}" + (
        f", {folds_in_words(folds)}" if folds else ""
    )


def _target(model: Model) -> str:
    """What is predicted, by name; of two classes, which one is the positive one."""
    name = model.target or "the target"
    if model.task == "survival":
        return f"{name}, the time of an event; positive coefficients mean an earlier one"
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
        return f"{name}, {len(classes)} classes: {first_few(classes)}; {how_learnt(model)}"
    said = f"{name}: {classes[0]} or {classes[1]}; positive is {model.classes[1]}, favoured by positive coefficients"
    return said + (f", predicted from a probability of {model.threshold:g} on" if model.threshold is not None else "")


def how_learnt(model: Model) -> str:
    """Whether several classes were learnt one by one or all at once, or in their order."""
    if model.cutpoints is not None:
        return "in this order: positive coefficients favour higher ones"
    return "all in one model" if model.link_function.sums_to_one else "each against the rest"

"""What the command line shows: short tables on a terminal, and the same facts as a dictionary."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from riata.data.columns.column_profile import ColumnProfile
from riata.data.dataset import Dataset
from riata.model.model import Model
from riata.outcome.plain import proof_to_json
from riata.training.selection.stability import Stability

TOP = 10


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
        "stopped_because": training.stopped_because,
        "stop": [reason.value for reason in training.stop],
        "proof": [proof_to_json(proof) for proof in training.proof],
    }


def show_fit(model: Model, summary: dict[str, Any]) -> None:
    """The model that a fit gave, how good it is, what it cost and where it is."""
    console = terminal()
    console.print(
        f"\n[bold]{escape(summary['data'])}[/]: {summary['n_rows']:,} rows, {summary['n_features']:,} features"
    )
    console.print(escape(f"minimised {model.objective}\n"))
    console.print(_features(model, TOP))
    facts = _facts()
    probes = sum(name.startswith("probe_") for name in model.names)
    noise = f", {probes} of them probes" if "digits49" in summary["data"] else ""
    facts.add_row("chosen", f"{summary['n_selected']:,} of {summary['n_features']:,} features{noise}")
    if summary["test"]:
        facts.add_row("test", _scores(summary["test"]))
    if model.training.selection:
        facts.add_row("because", escape(model.training.selection))
    facts.add_row("solver", escape(f"{summary['solver']}; it stopped because {summary['stopped_because']}"))
    peak = "" if summary["peak_rss_mb"] is None else f", peak {summary['peak_rss_mb']:.0f} MB"
    facts.add_row("cost", f"{summary['passes']:g} passes, {summary['seconds']:.1f} s{peak}")
    facts.add_row("saved", escape(summary["model"]))
    if summary["report"]:
        facts.add_row("report", escape(summary["report"]))
    console.print(facts)


def show_model(model: Model) -> None:
    """Every feature of a model, and how it was made."""
    console = terminal()
    console.print(_features(model, len(model.names)))
    facts = _facts()
    facts.add_row("task", escape(model.task if model.classes is None else f"{model.task} of {_some(model.classes)}"))
    facts.add_row("minimised", escape(model.objective))
    facts.add_row("intercept", " ".join(f"{b:.6g}" for b in model.intercept))
    facts.add_row("features", f"{len(model.names):,} of {model.n_features:,}")
    for key in ("data", "n_rows", "selection", "solver", "gap", "stopped_because", "passes", "seconds"):
        if (value := getattr(model.training, key)) is not None:
            facts.add_row(key.replace("_", " "), escape(str(value)))
    console.print(facts)


def show_profile(name: str, data: Dataset) -> None:
    """The columns of a source, and the features they become."""
    profile, console = data.profile, terminal()
    assert profile is not None
    console.print(f"\n[bold]{escape(name)}[/]: {profile.n_read:,} rows read, {profile.n_rows:,} count, "
                  f"{data.n_features:,} features, {'sparse' if profile.encoding.sparse else 'dense'}\n")  # fmt: skip
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
        console.print(f"[bold]note[/] {escape(note)}")


def holds(found: ColumnProfile) -> str:
    """A few words on the values of a column."""
    if found.mean is not None:
        return f"{found.least:.6g} to {found.largest:.6g}, mean {found.mean:.6g}"
    if found.type == "date":
        return f"{found.least} to {found.largest}"
    if found.hashed:
        return "many levels, hashed"
    words = f": {', '.join(map(str, found.most_frequent))}, ..." if found.most_frequent else ""
    return f"{found.levels:,} different{words}" if found.levels is not None else "nothing"


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
        f"{found.n_halves} halves chose them, which chose {found.q:.1f} on average. Of noise features, chosen no more "
        f"often than by chance, at most {found.error_bound:.2g} are expected among them."
    )


def show_scores(result: Mapping[str, float | None]) -> None:
    terminal().print(_scores(result))


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


def _features(model: Model, most: int) -> Table:
    """The features of largest effect, with a bar for the effect of one standard deviation."""
    table = Table(box=None, header_style="bold")
    table.add_column("feature")
    one = len(model.intercept) == 1
    for title in ("coefficient",) if one else [escape(str(label)) for label in model.classes or []]:
        table.add_column(title, justify="right")
    table.add_column("effect of one standard deviation")
    ranked = model.ranked
    largest = max((abs(effect).max() for _, _, effect in ranked), default=1.0) or 1.0
    for name, coef, effect in ranked[:most]:
        size = effect[abs(effect).argmax()]
        bar = "█" * (max(1, round(20 * abs(size) / largest)) if np.isfinite(largest) else 1)
        table.add_row(
            escape(name), *(f"{c:.4g}" for c in coef), f"{size:+.3g} [{'green' if size > 0 else 'red'}]{bar}[/]"
        )
    if len(ranked) > most:
        table.add_row(f"[dim]and {len(ranked) - most} more[/]", *[""] * len(model.intercept), "")
    return table


def _facts() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    return table


def _scores(result: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in result.items() if value is not None)


def _some(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:10])) + (" ..." if len(values) > 10 else "")

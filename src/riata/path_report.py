"""A path on paper: as a table on the terminal, as rows of a file, as a picture."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from riata.errors import MissingPackageError, OptionError
from riata.files import replacing
from riata.selection.paths import ModelPath
from riata.selection.search import Selection

SHOWN = 25  # models in the table on a terminal
PICTURES = (".png", ".svg", ".pdf")
NAMED = 8  # features that get a name in the picture


class Searched(NamedTuple):
    """A path, which of its models was chosen, and of which class it is where there are several."""

    path: ModelPath
    selection: Selection
    label: str | None = None


def searched(estimator) -> list[Searched]:
    """What a fitted estimator searched: one path, or one per class."""
    if isinstance(estimator.path_, ModelPath):
        return [Searched(estimator.path_, estimator.selection_)]
    labels = [str(label) for label in estimator.classes_]
    return [Searched(*parts) for parts in zip(estimator.path_, estimator.selection_, labels, strict=True)]


def columns(one: Searched) -> dict[str, np.ndarray]:
    """What is known of every model, by name."""
    path, selection = one.path, one.selection
    known = {path.by: path.values, "features": path.n_selected, "objective": path.objectives, "loss": path.losses}
    if path.gaps is not None:
        known["gap"] = path.gaps
    if selection.scores is not None:
        known[selection.score] = selection.scores
    if selection.errors is not None:
        known["standard_error"] = selection.errors
    return known | {"chosen": np.arange(len(path)) == selection.index}


def as_json(one: Searched, names) -> dict[str, Any]:
    """The same facts, as JSON says them."""
    path, i = one.path, one.selection.index
    known = {name: [_finite(v) for v in values.tolist()] for name, values in columns(one).items()}
    return {
        "class": one.label,
        "by": path.by,
        "rule": one.selection.rule,
        "chosen": i,
        "reason": one.selection.reason,
        "selected": [str(names[j]) for j in np.flatnonzero(path.coefs[i])],
        "models": [dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True)],
    }


def _finite(value):
    """JSON has no infinity."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def show_path(one: Searched) -> None:
    """Some models as a table, the chosen and the best among them, and the reason of the choice."""
    console = Console(highlight=False)
    known = {name: values for name, values in columns(one).items() if name not in ("loss", "gap")}
    table = Table(box=None, header_style="bold")
    for name in known:
        table.add_column("" if name == "chosen" else name.replace("_", " "), justify="right")
    for i in _shown(one):
        cells = [
            "chosen" if v is True else "" if v is False else f"{v:.5g}" for v in (c[i].item() for c in known.values())
        ]
        table.add_row(*cells, style="bold" if i == one.selection.index else None)
    if one.label is not None:
        console.print(f"\n[bold]{one.label}[/] against the rest")
    console.print(table)
    if len(one.path) > SHOWN:
        console.print(f"[dim]some of {len(one.path)} models; --out writes all of them[/]")
    console.print(f"\n{one.selection.reason}.\nCertified: {one.path.reason}.")


def _shown(one: Searched) -> np.ndarray:
    rows = np.linspace(0, len(one.path) - 1, min(SHOWN, len(one.path))).round().astype(int)
    scores = one.selection.scores
    best = one.selection.index if scores is None else int(np.argmin(scores))
    return np.union1d(rows, [one.selection.index, best])


def check_files(plot: Path | None, out: Path | None) -> None:
    """Refuse what cannot be drawn or written, before any work is done."""
    if out is not None and out.suffix != ".csv":
        raise OptionError(f"a path is written as .csv, not {out.suffix or 'a file without ending'}")
    if plot is None:
        return
    if plot.suffix not in PICTURES:
        raise OptionError(f"a picture is a {', '.join(PICTURES)} file, not {plot.suffix or 'a file without ending'}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingPackageError("pictures need matplotlib: pip install 'riata[report]'") from None


def write_path(paths: list[Searched], names, out: Path) -> None:
    """All models with the coefficients of every feature that any of them has: CSV, whole or not at all."""
    import pyarrow as pa
    import pyarrow.csv

    tables = []
    used = np.flatnonzero(np.any([np.any(one.path.coefs != 0, axis=0) for one in paths], axis=0))
    for one in paths:
        known: dict[str, Any] = {} if one.label is None else {"class": [one.label] * len(one.path)}
        known |= columns(one) | {"intercept": one.path.intercepts}
        tables.append(pa.table(known | {f"coef {names[j]}": one.path.coefs[:, j] for j in used}))
    with replacing(out) as file:
        pyarrow.csv.write_csv(pa.concat_tables(tables), file)


def plot_path(paths: list[Searched], names, deviations, out: Path) -> None:
    """Effects of one standard deviation above, scores below; a dashed line at the chosen model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0 * len(paths), 7.0), layout="constrained")
    axes = figure.subplots(2, len(paths), sharex="col", squeeze=False)
    for one, (upper, lower) in zip(paths, axes.T, strict=True):
        _plot_effects(upper, one, names, deviations)
        _plot_scores(lower, one)
        if one.path.by == "alpha":
            lower.set_xscale("log")
            lower.invert_xaxis()  # the sparsest model is on the left, as it is along k
        lower.set_xlabel(one.path.by)
    with replacing(out) as file:
        figure.savefig(file, format=out.suffix[1:], dpi=150)


def _plot_effects(axis, one: Searched, names, deviations) -> None:
    path, i = one.path, one.selection.index
    effects = path.coefs * deviations
    largest = np.argsort(-np.abs(effects[i]), kind="stable")[:NAMED]
    named = [j for j in largest if effects[i, j] != 0]
    others = np.setdiff1d(np.flatnonzero(np.any(effects != 0, axis=0)), named)
    axis.plot(path.values, effects[:, others], color="0.8", linewidth=0.8)
    for j in named:
        axis.plot(path.values, effects[:, j], label=str(names[j]))
    axis.axvline(path.values[i], color="0.3", linestyle="--", linewidth=1.0)
    axis.set_ylabel("effect of one standard deviation")
    axis.set_title(
        f"{int(path.n_selected[i])} features at the dashed line" + (f", class {one.label}" if one.label else "")
    )
    if named:
        axis.legend(fontsize="small", loc="best")


def _plot_scores(axis, one: Searched) -> None:
    path, selection = one.path, one.selection
    scores = path.objectives if selection.scores is None else selection.scores
    shown = np.isfinite(scores)
    axis.plot(path.values[shown], scores[shown], color="tab:blue")
    if selection.errors is not None:
        low, high = scores - selection.errors, scores + selection.errors
        axis.fill_between(path.values, low, high, color="tab:blue", alpha=0.2, linewidth=0)
    axis.axvline(path.values[selection.index], color="0.3", linestyle="--", linewidth=1.0)
    axis.set_ylabel("objective" if selection.scores is None else selection.score.replace("_", " "))

"""A path on paper: as a table on the terminal, as rows of a file, as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from riata.errors import MissingPackageError, OptionError
from riata.files import replacing
from riata.plot.path_display import PathDisplay
from riata.plot.selection_display import SelectionDisplay
from riata.reporting.terminal.user_text import escape
from riata.reporting.terminal.wording import as_typed
from riata.training.selection.path_choice import PathChoice

SHOWN = 25  # models in the table on a terminal
PICTURES = (".png", ".svg", ".pdf")


def columns(one: PathChoice) -> dict[str, np.ndarray]:
    """What is known of every model, by name."""
    path, selection = one.path, one.selection
    known = {path.by: path.values, "features": path.n_selected, "objective": path.objectives, "loss": path.losses}
    if path.gaps is not None:
        known["gap"] = path.gaps
    if path.bound_values is not None:
        known["bound"] = path.bound_values
    if selection.scores is not None:
        held_out = f"held_out_{selection.score}" if selection.score in known else selection.score
        known[held_out] = selection.scores
    if selection.errors is not None:
        known["standard_error"] = selection.errors
    return known | {"chosen": np.arange(len(path)) == selection.index}


def as_json(one: PathChoice, names: Sequence[str]) -> dict[str, Any]:
    """The same facts, as JSON says them."""
    path, i = one.path, one.selection.index
    known = {name: [_finite(v) for v in values.tolist()] for name, values in columns(one).items()}
    return {
        one.label_is: one.label,
        "by": path.by,
        "rule": one.selection.rule,
        "chosen": i,
        "reason": one.selection.reason,
        "selected": [str(names[j]) for j in np.unique(one.feature_of(np.flatnonzero(path.coefs[i]))).tolist()],
        "models": [dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True)],
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def show_path(one: PathChoice) -> None:
    """Some models as a table, the chosen and the best among them, and the reason of the choice."""
    console = Console(highlight=False, emoji=False)
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
        console.print(f"\n[bold]{escape(one.title)}[/]")
    console.print(table)
    if len(one.path) > SHOWN:
        console.print(f"[dim]some of {len(one.path)} models; --out writes all of them[/]")
    word = "Certified" if one.path.certified else "Not certified"
    console.print(escape(f"\n{as_typed(one.selection.reason)}.\n{word}: {one.path.reason}."))


def _shown(one: PathChoice) -> np.ndarray:
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


def write_path(paths: list[PathChoice], names: Sequence[str], out: Path) -> None:
    """All models with the coefficients of every feature that any of them has: CSV, complete or not at all."""
    import pyarrow as pa
    import pyarrow.csv

    tables = []
    used = np.flatnonzero(np.any([np.any(one.path.coefs != 0, axis=0) for one in paths], axis=0))
    for one in paths:
        known: dict[str, Any] = {} if one.label is None else {one.label_is: [one.label] * len(one.path)}
        known |= columns(one)
        if one.outputs:
            known |= {f"intercept ({of})": one.path.intercepts[:, k] for k, of in enumerate(one.outputs)}
        else:
            known |= {"intercept": one.path.intercepts}
        places = zip(one.coefficient_names(names, used), used.tolist(), strict=True)
        tables.append(pa.table(known | {f"coef {name}": one.path.coefs[:, j] for name, j in places}))
    with replacing(out) as file:
        pyarrow.csv.write_csv(pa.concat_tables(tables), file)


def plot_path(paths: list[PathChoice], names: Sequence[str], scale: np.ndarray, out: Path) -> None:
    """Effects of one standard deviation above, scores below; a dashed line at the chosen model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0 * len(paths), 7.0), layout="constrained")
    axes = figure.subplots(2, len(paths), sharex="col", squeeze=False)
    for one, (upper, lower) in zip(paths, axes.T, strict=True):
        PathDisplay(searched=one, names=names, scale=scale).plot(ax=upper)
        SelectionDisplay(searched=one).plot(ax=lower)
        upper.set_xlabel("")
    with replacing(out) as file:
        figure.savefig(file, format=out.suffix[1:], dpi=150)

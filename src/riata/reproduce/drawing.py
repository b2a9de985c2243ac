"""Figures on paper: PNG and SVG by Matplotlib."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from riata.errors import MissingPackageError
from riata.files import replacing
from riata.plot.display import Axes
from riata.reporting.html.charts import Series
from riata.reporting.html.numbers import short
from riata.reporting.html.scales import Axis, scale_of
from riata.reproduce.figures import Figure, Panel

# The colours of the page (reporting/html/templates/page.css), so that a method looks the same everywhere.
COLOURS = ("#2a6fd1", "#d9541e", "#1c8f6a", "#8a4fd0", "#b8860b", "#c43d80", "#0d8fa8", "#7a5230", "#6b7785", "#4f8f1f")
PALE = "#b4bcc6"
MARKERS = "os^Dv<>Pp*"
FORMATS = ("png", "svg")


def check_matplotlib() -> None:
    """Say what to install before any work is done."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingPackageError("figures need matplotlib: pip install 'riata[report]'") from None


def draw(figure: Figure, folder: Path) -> None:
    """Write the figure as .png and .svg."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Sheet

    width = 6.2 * len(figure.panels)
    text_can_be_searched = {"svg.fonttype": "none"}
    with rc_context(text_can_be_searched | {"svg.hashsalt": figure.name, "font.size": 9.5}):
        sheet = Sheet(figsize=(width, 4.6), layout="constrained")
        for axes, panel in zip(np.ravel(sheet.subplots(1, len(figure.panels))), figure.panels, strict=True):
            _draw_panel(axes, panel)
        sheet.suptitle(f"Figure {figure.number}. {figure.title}", fontweight="bold", fontsize=11, x=0.01, ha="left")
        sheet.draw_without_rendering()
        sheet.set_layout_engine("none")  # laid out once for both formats
        for ending in FORMATS:
            with replacing(folder / f"{figure.name}.{ending}") as file:
                sheet.savefig(file, format=ending, dpi=130, metadata={"Date": None} if ending == "svg" else None)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    shown = 0
    for series in panel.series:
        if series.background:
            axes.plot(series.x, series.y, color=PALE, linewidth=1.0, linestyle="--", zorder=1)
        else:
            _draw_series(axes, series, shown)
            shown += 1
    _draw_axis(axes, "x", panel.x, [series.x for series in panel.series])
    _draw_axis(axes, "y", panel.y, [series.y for series in panel.series])
    axes.set_title(panel.title, loc="left", fontsize=10)
    axes.grid(color="#e6e9ee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="best")


def _draw_axis(axes: Axes, kind: str, axis: Axis, values: Sequence[ArrayLike]) -> None:
    """The same scale and tick labels as on the page."""
    scale = scale_of(axis, np.concatenate([np.asarray(v, dtype=float) for v in values]))
    axes.set(**{f"{kind}label": axis.title, f"{kind}scale": "log" if axis.log else "linear"})
    ticks = scale.ticks()
    axes.set(**{f"{kind}lim": (scale.start, scale.end), f"{kind}ticks": ticks, f"{kind}ticklabels": map(short, ticks)})
    getattr(axes, f"{kind}axis").set_minor_formatter("")


def _draw_series(axes: Axes, series: Series, number: int) -> None:
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    style = "-" if series.line else "none"
    size = 5.0 if series.dots else 3.5 if len(x) <= 12 else 0.0
    axes.plot(x, y, color=colour, marker=marker if size else None, markersize=size,
              linestyle=style, linewidth=1.6, label=series.name)  # fmt: skip
    if series.spread is not None:
        spread = np.asarray(series.spread, dtype=float)
        axes.fill_between(x, y - spread, y + spread, color=colour, alpha=0.15, linewidth=0)

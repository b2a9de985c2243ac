"""Charts as SVG and HTML that need no script to be read; page.js adds what the pointer can do.

Marks lie in an SVG of 1000 x 1000 units that is stretched to the room there is, with lines that keep their width; text
lies around it as HTML, so that it has the same size on a phone, on a wide screen and on paper. Colours are variables of
page.css, which follow the reader's light or dark scheme.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from riata.reporting.html.numbers import rounded, short
from riata.reporting.html.rendering import embedded, rendered
from riata.reporting.html.scales import Axis, Scale, scale_of

COLOURS = 10  # in page.css: --c0 ... --c9


@dataclass(frozen=True)
class Series:
    """Points of one thing. Those in the background have no colour and no place in the legend."""

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    line: bool = True
    dots: bool = False
    steps: bool = False  # a value holds until the next one
    background: bool = False
    spread: Sequence[float] | np.ndarray | None = None  # a band of so much above and below
    down_to: Sequence[float] | np.ndarray | None = None  # or a band from the line down to here


@dataclass(frozen=True)
class Bar:
    """One bar: a name, a number, and its uncertainty where it is known."""

    name: str
    value: float
    text: str  # what is written beside it
    spread: float | None = None
    hint: str = ""


def xy_chart(
    title: str,
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    *,
    note: str = "",
    chosen: float | None = None,
    diagonal: bool = False,
    square: bool = False,
    kind: str = "",
) -> Markup:
    """Lines and points over two axes; `chosen` is marked on the first, `diagonal` is the line of equal numbers."""
    across = scale_of(x, np.concatenate([np.asarray(s.x, dtype=float) for s in series]), 0.02)
    up = scale_of(y, np.concatenate([_reach(s) for s in series]))
    numbers = iter(range(COLOURS * len(series)))
    drawn = [_drawn(s, across, up, None if s.background else next(numbers) % COLOURS) for s in series]
    shown = [d for d in drawn if d["colour"] is not None]
    return rendered(
        "xy_chart.html",
        title=title[:1].upper() + title[1:],
        note=note,
        kind=kind,
        square=square,
        series=sorted(drawn, key=lambda d: d["colour"] is not None),  # the background first
        legend=shown if len(shown) > 1 else [],
        x=_sides(x, across),
        y=_sides(y, up),
        gutter=max([5, *(len(text) for _, text in up.labelled())]),  # charts under each other line up
        chosen=None if chosen is None else _units(across.at(chosen)),
        diagonal=_diagonal(across, up) if diagonal else None,
        data=_embedded(series),
    )


def bar_chart(title: str, bars: Sequence[Bar], *, note: str = "", kind: str = "") -> Markup:
    """Horizontal bars from a line at zero, which lies where the numbers need it, with whiskers for their spread."""
    ends = [v for b in bars for v in (b.value, b.value - (b.spread or 0.0), b.value + (b.spread or 0.0))]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    scale = Scale(low, high if high > low else low + 1.0)
    return rendered(
        "bar_chart.html",
        title=title,
        note=note,
        kind=kind,
        zero=_percent(scale.at(0.0)),
        bars=[
            {
                "bar": bar,
                "left": _percent(min(scale.at(0.0), scale.at(bar.value))),
                "width": _percent(abs(scale.at(bar.value) - scale.at(0.0))),
                "from": _percent(scale.at(bar.value - (bar.spread or 0.0))),
                "reach": _percent(abs(scale.at(2 * (bar.spread or 0.0)) - scale.at(0.0))),
            }
            for bar in bars
        ],
    )


def histogram(
    title: str, edges: ArrayLike, counts: ArrayLike, x_title: str, *, note: str = "", kind: str = ""
) -> Markup:
    """Upright bars between the edges, their areas proportional to the counts."""
    edges, counts = np.asarray(edges, dtype=float), np.asarray(counts, dtype=float)
    across = Scale(edges[0], edges[-1])
    heights = counts / np.diff(edges)
    up = Scale(0.0, heights.max(initial=0.0) or 1.0)
    left, height = across.at(edges), up.at(heights)
    return rendered(
        "histogram.html",
        title=title,
        note=note,
        kind=kind,
        x={"title": x_title, "ticks": across.labelled()},
        bars=[
            (_units(a), _units(b - a), _units(1.0 - h), _units(h), f"{short(e)} to {short(f)}: {short(n)}")
            for a, b, h, e, f, n in zip(left, left[1:], height, edges, edges[1:], counts, strict=False)
        ],
    )


def sparkline(edges: np.ndarray, counts: ArrayLike) -> Markup:
    """A histogram as small as a word."""
    places = Scale(edges[0], edges[-1]).at(edges)
    heights = np.asarray(counts, dtype=float) / np.maximum(np.diff(places), 1e-12)
    heights = heights / (heights.max(initial=0.0) or 1.0)
    bars = Markup("").join(
        Markup('<rect x="{}" y="{}" width="{}" height="{}"/>').format(
            _units(a), _units(1 - h), _units(b - a), _units(h)
        )
        for a, b, h in zip(places, places[1:], heights, strict=False)
    )
    return Markup(
        '<svg class="spark" viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(bars)


def _reach(series: Series) -> np.ndarray:
    """Where a series goes, its band included."""
    y = np.asarray(series.y, dtype=float)
    spread = 0.0 if series.spread is None else np.nan_to_num(np.asarray(series.spread, dtype=float))
    low = y - spread if series.down_to is None else np.asarray(series.down_to, dtype=float)
    return np.concatenate([np.atleast_1d(low), np.atleast_1d(y + spread)])


def _embedded(series: Sequence[Series]) -> Markup:
    """The numbers behind the marks, for the script; what all have in common is there once."""
    shared = all(np.array_equal(s.x, series[0].x) for s in series)
    own = [{"name": s.name, "y": rounded(s.y)} | ({} if shared else {"x": rounded(s.x)}) for s in series]
    return embedded({"x": rounded(series[0].x) if shared else None, "series": own})


def _drawn(series: Series, across: Scale, up: Scale, colour: int | None) -> dict[str, Any]:
    """A series as the template draws it."""
    x, y = across.at(series.x), 1.0 - up.at(series.y)
    band = ""
    if series.spread is not None or series.down_to is not None:
        spread = np.asarray(0.0 if series.spread is None else series.spread, dtype=float)
        values = np.asarray(series.y, dtype=float)
        low = values - spread if series.down_to is None else np.asarray(series.down_to, dtype=float)
        upper, lower = 1.0 - up.at(values + spread), 1.0 - up.at(low)
        band = _line(np.concatenate([x, x[::-1]]), np.concatenate([upper, lower[::-1]])) + "Z"
    return {
        "name": series.name,
        "colour": colour,
        "line": _line(*(_stairs(x, y) if series.steps else (x, y))) if series.line else "",
        "dots": _dots(x, y) if series.dots else [],
        "band": band,
    }


def _line(x: np.ndarray, y: np.ndarray) -> str:
    """A path through the points that are there."""
    there = np.isfinite(x) & np.isfinite(y)
    points = [f"{_units(a)} {_units(b)}" for a, b in zip(x[there], y[there], strict=True)]
    return "M" + "L".join(points) if points else ""


def _dots(x: np.ndarray, y: np.ndarray) -> list[str]:
    """Lines of no length, whose round ends are drawn as dots of the same size whatever the stretch."""
    there = np.isfinite(x) & np.isfinite(y)
    return [f"M{_units(a)} {_units(b)}h0" for a, b in zip(x[there], y[there], strict=True)]


def _stairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A line of steps: every value holds until the next point."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def _diagonal(across: Scale, up: Scale) -> str:
    low = max(min(across.start, across.end), min(up.start, up.end))
    high = min(max(across.start, across.end), max(up.start, up.end))
    ends = np.array([low, high])
    return _line(across.at(ends), 1.0 - up.at(ends))


def _sides(axis: Axis, scale: Scale) -> dict[str, Any]:
    """An axis as the template draws it and the script reads it."""
    return {
        "title": axis.title,
        "ticks": scale.labelled(),
        "scale": embedded({"start": scale.start, "end": scale.end, "log": scale.log}),
    }


def _units(place: float | np.ndarray) -> str:
    """A place between 0 and 1 in the units of the SVG."""
    return f"{1000.0 * float(place):.1f}".removesuffix(".0")


def _percent(place: float | np.ndarray) -> str:
    return f"{100.0 * float(place):.2f}%"

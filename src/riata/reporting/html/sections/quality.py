"""How good the model is on rows that it has not seen."""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from riata.data.columns.histogram import Histogram
from riata.model.quality import ClassQuality, NumberQuality
from riata.reporting.html.charts import Series, histogram, xy_chart
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import count, label, short
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.scales import Axis
from riata.reporting.html.tables import facts as facts_list
from riata.reporting.html.words import SCORES

MOST_POINTS = 300  # of a curve
MOST_BARS = 50  # of residuals
TAIL = 0.001  # share of residuals on either side that may be left out


def quality_section(facts: Facts) -> Section | None:
    """Scores, and the charts of a regression or of a classifier."""
    found = facts.quality
    if found is None:
        return None
    charts, confusion = _of_numbers(found) if isinstance(found, NumberQuality) else _of_classes(found)
    named = f"{count(found.n_rows, 'row')}" + (f" of {facts.origin.test}" if facts.origin.test else "")
    body = rendered("quality.html", rows=named, scores=_scores(found.scores), charts=charts, confusion=confusion)
    return Section("test", "How good it is", body)


def _scores(scores: Mapping[str, float | None]) -> Markup:
    number = Markup('<span data-score="{}" data-value="{}">{}</span>')
    known: list[tuple[str, str]]
    known = [(SCORES[name], number.format(name, repr(v), short(v, 5))) for name, v in scores.items() if v is not None]
    if (mse := scores.get("mse")) is not None:
        known.append(("its root", short(float(np.sqrt(mse)), 5)))
    return facts_list(known)


def _of_numbers(found: NumberQuality) -> tuple[list[Markup], Markup | None]:
    truth, predicted = found.sample.T
    note = f"a random sample of {count(len(truth), 'row')}" if len(truth) < found.n_rows else ""
    points = [Series("", predicted, truth, line=False, dots=True)]
    x, y = Axis("predicted"), Axis("true")
    scatter = xy_chart("Predicted and true", points, x, y, note=note, diagonal=True, kind="predicted")
    bars = min(MOST_BARS, max(8, round(2 * found.n_rows ** (1 / 3))))  # Rice's rule
    edges, counts, outside = _middle(found.residuals, bars)
    note = f"all {count(found.n_rows, 'row')}"
    note += f"; {outside:.2%} of them lie outside the picture" if outside > 1e-9 else ""
    return [scatter, histogram("Residuals", edges, counts, "true minus predicted", note=note, kind="residuals")], None


def _middle(residuals: Histogram, most: int) -> tuple[np.ndarray, np.ndarray, float]:
    """At most so many bins, without far tails, which would be mostly empty: edges, counts, and the share left out."""
    edges, counts = residuals.edges, residuals.counts
    share = np.cumsum(counts) / counts.sum()
    ends = np.searchsorted(share, [TAIL, 1.0 - TAIL])
    if ends[1] - ends[0] > len(counts) // 2:
        ends = np.array([0, len(counts) - 1])
    step = -(-(ends[1] - ends[0] + 1) // most)
    starts = np.arange(ends[0], ends[1] + 1, step)
    ends = np.minimum(starts + step, len(counts))
    shown = np.array([counts[a:b].sum() for a, b in zip(starts, ends, strict=True)])
    return np.append(edges[starts], edges[ends[-1]]), shown, float(1.0 - shown.sum() / counts.sum())


def _of_classes(found: ClassQuality) -> tuple[list[Markup], Markup | None]:
    curves = [_roc(found), _precision_recall(found)] if found.curves else []
    calibration = [] if found.calibration is None else [_calibration(found)]
    return curves + calibration, _confusion(found)


def _roc(found: ClassQuality) -> Markup:
    areas = {name: table.auc for name, table in found.curves.items()}
    lines = [Series(_named(name, areas), *_thinned(*table.roc())) for name, table in found.curves.items()]
    note = "the dotted line is chance" + (f"; AUC {min(areas.values()):.4f}" if len(areas) == 1 else "")
    x, y = _share("false positives"), _share("true positives")
    return xy_chart("ROC", lines, x, y, note=note, diagonal=True, square=True, kind="roc")


def _precision_recall(found: ClassQuality) -> Markup:
    means = {name: table.average_precision for name, table in found.curves.items()}
    lines = []
    for name, table in found.curves.items():
        precision, recall = table.precision_recall()
        lines.append(Series(_named(name, means), *_thinned(recall, precision)))
    note = f"average precision {min(means.values()):.4f}" if len(means) == 1 else ""
    x, y = _share("recall"), _share("precision")
    return xy_chart("Precision and recall", lines, x, y, note=note, square=True, kind="precision-recall")


def _calibration(found: ClassQuality) -> Markup:
    assert found.calibration is not None
    points = [Series("", found.calibration.predicted, found.calibration.observed, dots=True)]
    note = "on the dotted line, what was called 70 % happened in 70 % of the rows"
    note += "; of the likeliest class" if len(found.labels) > 2 else ""
    x, y = _share("predicted probability"), _share("share that came true")
    return xy_chart("Calibration", points, x, y, note=note, diagonal=True, square=True, kind="calibration")


def _share(title: str) -> Axis:
    """From 0 to 1, with room for lines that run along the ends."""
    return Axis(title, low=-0.01, high=1.01)


def _named(name: str, numbers: Mapping[str, float]) -> str:
    """A class with its number, for a legend, where there are several."""
    return "" if len(numbers) == 1 else f"{name} ({numbers[name]:.3f})"


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of a curve evenly spaced along it, its ends among them."""
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    rows = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], MOST_POINTS)).clip(max=len(x) - 1))
    return x[rows], y[rows]


def _confusion(found: ClassQuality) -> Markup | None:
    """A table of what was taken for what, the stronger its colour the larger its share."""
    if len(found.labels) > 20:
        return None
    shares = found.confusion / np.maximum(found.confusion.sum(axis=1, keepdims=True), 1e-300)
    rows = [
        (label(name), [(short(n, 6), f"{s:.3f}", f"{s:.1%}") for n, s in zip(counts, its, strict=True)])
        for name, counts, its in zip(found.labels, found.confusion, shares, strict=True)
    ]
    return rendered("confusion.html", labels=[label(name) for name in found.labels], rows=rows)

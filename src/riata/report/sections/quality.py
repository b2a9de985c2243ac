"""How good the model is on rows that it has not seen."""

import numpy as np
from markupsafe import Markup

from riata.data.columns.histogram import Histogram
from riata.quality import ClassQuality, NumberQuality
from riata.report.charts import Series, histogram, xy_chart
from riata.report.facts import Facts
from riata.report.numbers import count, label, short
from riata.report.page import Section
from riata.report.rendering import rendered
from riata.report.scales import Axis
from riata.report.tables import facts as facts_list
from riata.report.words import SCORES

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


def _scores(scores) -> Markup:
    number = Markup('<span data-score="{}" data-value="{}">{}</span>')
    known: list[tuple[str, str]]
    known = [(SCORES[name], number.format(name, repr(v), short(v, 5))) for name, v in scores.items() if v is not None]
    if scores.get("mse") is not None:
        known.append(("its root", short(float(np.sqrt(scores["mse"])), 5)))
    return facts_list(known)


def _of_numbers(found: NumberQuality) -> tuple[list[Markup], Markup | None]:
    truth, predicted = found.sample.T
    note = f"a random sample of {count(len(truth), 'row')}" if len(truth) < found.n_rows else ""
    points = [Series("", predicted, truth, line=False, dots=True)]
    x, y = Axis("predicted"), Axis("true")
    scatter = xy_chart("Predicted and true", points, x, y, note=note, diagonal=True, kind="predicted")
    edges, counts, outside = _middle(found.residuals)
    note = f"all {count(found.n_rows, 'row')}" + (
        f"; {outside:.2%} of them lie outside the picture" if outside > 1e-9 else ""
    )
    return [scatter, histogram("Residuals", edges, counts, "true minus predicted", note=note, kind="residuals")], None


def _middle(residuals: Histogram):
    """Bins for a picture, without far tails that would fill it with nothing: edges, counts, and the share outside."""
    edges, counts = residuals.edges, residuals.counts
    share = np.cumsum(counts) / counts.sum()
    ends = np.searchsorted(share, [TAIL, 1.0 - TAIL])
    if ends[1] - ends[0] > len(counts) // 2:
        ends = np.array([0, len(counts) - 1])
    step = -(-(ends[1] - ends[0] + 1) // MOST_BARS)
    starts = np.arange(ends[0], ends[1] + 1, step)
    ends = np.minimum(starts + step, len(counts))
    shown = np.array([counts[a:b].sum() for a, b in zip(starts, ends, strict=True)])
    return np.append(edges[starts], edges[ends[-1]]), shown, 1.0 - shown.sum() / counts.sum()


def _of_classes(found: ClassQuality) -> tuple[list[Markup], Markup | None]:
    charts = []
    if found.curves:
        one = len(found.curves) == 1
        roc = [Series(_named(name, t.auc, one), *_thinned(*t.roc())) for name, t in found.curves.items()]
        note = "the dotted line is chance" + (f"; AUC {next(iter(found.curves.values())).auc:.4f}" if one else "")
        x, y = _share("false positives"), _share("true positives")
        charts.append(xy_chart("ROC", roc, x, y, note=note, diagonal=True, square=True, kind="roc"))
        curves = [(name, t.average_precision, t.precision_recall()) for name, t in found.curves.items()]
        lines = [Series(_named(name, ap, one), *_thinned(pr[1], pr[0])) for name, ap, pr in curves]
        note = f"average precision {curves[0][1]:.4f}" if one else ""
        x, y = _share("recall"), _share("precision")
        charts.append(xy_chart("Precision and recall", lines, x, y, note=note, square=True, kind="precision-recall"))
    if found.calibration is not None:
        calibrated = found.calibration
        series = [Series("", calibrated.predicted, calibrated.observed, dots=True)]
        x, y = _share("predicted probability"), _share("share that came true")
        note = "on the dotted line, what was called 70 % happened in 70 % of the rows"
        note += "; of the likeliest class" if len(found.labels) > 2 else ""
        charts.append(xy_chart("Calibration", series, x, y, note=note, diagonal=True, square=True, kind="calibration"))
    return charts, _confusion(found)


def _share(title) -> Axis:
    """From 0 to 1, with room for lines that run along the ends."""
    return Axis(title, low=-0.01, high=1.01)


def _named(name, number, one) -> str:
    return "" if one else f"{name} ({number:.3f})"


def _thinned(x, y):
    """Points of a curve evenly spaced along it, its ends among them."""
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    rows = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], MOST_POINTS)).clip(max=len(x) - 1))
    return x[rows], y[rows]


def _confusion(found: ClassQuality) -> Markup | None:
    """A table of what was taken for what, the darker the larger its share of the true class."""
    if len(found.labels) > 20:
        return None
    shares = found.confusion / np.maximum(found.confusion.sum(axis=1, keepdims=True), 1e-300)
    rows = [
        (label(name), [(short(n, 6), f"{s:.3f}", f"{s:.1%}") for n, s in zip(counts, its, strict=True)])
        for name, counts, its in zip(found.labels, found.confusion, shares, strict=True)
    ]
    return rendered("confusion.html", labels=[label(name) for name in found.labels], rows=rows)

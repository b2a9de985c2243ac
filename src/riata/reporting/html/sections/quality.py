"""How good the model is on rows that it has not seen."""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np
from markupsafe import Markup

from riata.data.columns.histogram import Histogram
from riata.model.quality import ClassQuality, NumberQuality, Quality, RiskQuality, TargetsQuality
from riata.model.quality.means import MeansTable
from riata.reporting.baseline import errors_of, unit_of, what_it_predicts
from riata.reporting.html.charts import Series, histogram, xy_chart
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import count, label, short
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.scales import Axis
from riata.reporting.html.tables import Column, data_table
from riata.reporting.html.words import SCORES

MOST_POINTS = 300  # of a curve
MOST_BARS = 50  # of residuals
MOST_DRAWN = 4  # targets
MOST_CONFUSED = 60  # classes in the confusion matrix
COMPACT, LONG_NAME = 8, 12  # classes, or letters of a name, from which on its columns are narrow
RARE, LEAST_SHOWN = 0.05, 1e-6  # probabilities: of a class whose calibration needs logarithms, and the smallest shown
TAIL = 0.001  # share of residuals on either side that may be left out


def quality_section(facts: Facts) -> Section | None:
    """Scores beside the baseline, and the charts of a regression, of a classifier or of times to events."""
    found = facts.on_training if facts.quality is None else facts.quality
    if found is None:
        return None
    nothing: dict[str, Any] = {"charts": [], "confusion": None, "classes": None, "targets": None, "each": ""}
    body = rendered(
        "quality.html",
        rows=_rows_of(facts),
        tested=facts.quality is not None,
        scores=_scores(facts),
        baseline=_baseline(facts),
        **nothing | _of(found, facts),
    )
    return Section("test", "How good it is", body)


@singledispatch
def _of(found: Quality, facts: Facts) -> dict[str, Any]:
    """The charts and tables of one kind of quality, by their names in the template."""
    raise TypeError(f"no page shows what {type(found).__name__} is")


@_of.register
def _(found: ClassQuality, facts: Facts) -> dict[str, Any]:
    charts = [_roc(found), _precision_recall(found)] if found.curves else []
    charts += [] if found.calibration is None else [_calibration(found)]
    return {"charts": charts, "confusion": _confusion(found), "classes": _by_class(found)}


@_of.register
def _(found: TargetsQuality, facts: Facts) -> dict[str, Any]:
    drawn = list(found.by_target.items())[:MOST_DRAWN]
    charts = [chart for name, one in drawn for chart in _of_numbers(one, _titled(found, name))]
    return {"charts": charts, "targets": _by_target(found), "each": f"{found.of.capitalize()}s"}


@_of.register
def _(found: NumberQuality, facts: Facts) -> dict[str, Any]:
    return {"charts": _of_numbers(found)}


@_of.register
def _(found: RiskQuality, facts: Facts) -> dict[str, Any]:
    return {"charts": [_survival(found, facts.target)]}


def _rows_of(facts: Facts) -> str:
    """Which rows the charts are of."""
    if facts.quality is None:
        assert facts.on_training is not None
        return f"{count(facts.on_training.n_rows, 'row')} that it was fitted to"
    return f"{count(facts.quality.n_rows, 'row')}" + (f" of {facts.origin.test}" if facts.origin.test else "")


def _scores(facts: Facts) -> Markup:
    """A row for every score: its value and that of the baseline, on test rows and on training rows."""
    known = [(rows, one) for rows, one in (("test rows", facts.quality), ("training rows", facts.on_training)) if one]
    names = dict.fromkeys(name for _, one in known for name, value in one.scores.items() if value is not None)
    columns, rows = [Column("")], []
    for what, one in known:
        columns += [Column(f"{what} ({one.n_rows:,})", True), Column("baseline", True)]
    for name in names:
        row: list[Any] = [SCORES[name]]
        for number, (_, one) in enumerate(known):
            row += [_score(name, one.scores.get(name), marked=number == 0), _cell(name, one.baseline.get(name))]
        rows.append(row)
    return data_table("scores", columns, rows, sortable=False)


def _score(name: str, value: float | None, marked: bool) -> Any:
    """A score with its whole number behind it; the first column's are marked by their names."""
    if value is None or not marked:
        return _cell(name, value)
    text, _ = _cell(name, value)
    return Markup('<span data-score="{}" data-value="{}">{}</span>').format(name, repr(value), text), value


def _cell(name: str, value: float | None) -> Any:
    """Errors in the unit of the target with five digits, all others with four decimals."""
    if value is None:
        return None
    return (short(value, 5) if name in ("rmse", "mae", "mse", "pinball_loss") else _decimals(value, 4)), value


def _decimals(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".replace("-", "−")


def _share_of(value: float | None) -> Any:
    return None if value is None else (_decimals(value, 3), value)


def _baseline(facts: Facts) -> str:
    """What the baseline is, in a sentence."""
    known, classes = facts.training.baseline, facts.model.classes
    if facts.model.task == "survival":
        offset = facts.model.offset is not None
        return (
            f"The baseline {'knows the offset of a row alone' if offset else 'gives all rows the same risk'}. "
            "Concordance says of two rows how often the one of higher risk had its event first; what is explained is a "
            "share of the deviance of the partial likelihood."
        )
    if facts.model.targets is not None:
        return (
            f"The baseline predicts the mean of each target{'' if known is None else ' in the training rows'}, "
            f"whatever the features. Scores are means over the {len(facts.model.targets)} targets."
        )
    if facts.model.levels:
        return (
            f"The baseline predicts constant quantiles{'' if known is None else ', of the training rows'}, whatever "
            f"the features. Scores are means over the {len(facts.model.levels)} levels."
        )
    if classes is None:
        what = facts.model.loss_function.constant_words
        does = what_it_predicts(None if known is None else known[0], facts.model.offset, short, what)
        errors = errors_of(facts.model)
        return f"The baseline {does}, whatever the features. {errors} are in {unit_of(facts.model, facts.target)}."
    rows = "these rows" if known is None else "the training rows"
    most = "" if known is None else f", {label(classes[int(np.argmax(known))])}"
    positive = f" The positive class is {label(classes[1])}." if len(classes) == 2 else ""
    or_offset = " or the offset" if facts.model.offset is not None else ""
    knows = "; its probabilities are the shares of the classes" if facts.model.link_function.probabilities else ""
    return (
        f"The baseline says the most frequent class of {rows}{most}, whatever the features{or_offset}{knows}.{positive}"
    )


def _by_class(found: ClassQuality) -> Markup:
    """Recall, precision and F1 of every class."""
    columns = [
        Column("class"),
        Column("weight" if found.is_weighted else "rows", True),
        Column("recall", True, "share of the rows of the class that are found"),
        Column("precision", True, "share of what is taken for the class that is right"),
        Column("F1", True, "harmonic mean of both"),
    ]
    rows = [
        [label(one.label), (short(one.weight, 6), one.weight), *map(_share_of, (one.recall, one.precision, one.f1))]
        for one in found.by_class
    ]
    return data_table("classes", columns, rows)


def _titled(found: TargetsQuality, name: str) -> str:
    """What charts are of, behind their titles."""
    return f"of {name}" if found.of == "target" else f"at level {name}"


def _by_target(found: TargetsQuality) -> Markup:
    """Scores of every target, or quantile, and one of its constant alone."""
    names, alone = found.listed, found.listed[0]
    columns = [Column(found.of), *(Column(SCORES[name], True) for name in names)]
    columns.append(Column("by the baseline" if found.of == "level" else f"{SCORES[alone]} of the baseline", True))
    rows = [
        [label(target), *(_cell(name, one.scores[name]) for name in names), _cell(alone, one.baseline.get(alone))]
        for target, one in found.by_target.items()
    ]
    return data_table("targets", columns, rows)


def _of_numbers(found: NumberQuality, target: str = "") -> list[Markup]:
    of = f" {label(target)}" if target else ""
    truth, predicted = found.sample.T
    note = f"a random sample of {count(len(truth), 'row')}" if len(truth) < found.n_rows else ""
    points = [Series("", predicted, truth, line=False, dots=True)]
    x, y = Axis("predicted"), Axis("true")
    scatter = xy_chart(f"Predicted and true{of}", points, x, y, note=note, diagonal=True, kind="predicted")
    bars = min(MOST_BARS, max(8, round(2 * found.n_rows ** (1 / 3))))  # Rice's rule
    edges, counts, outside = _middle(found.residuals, bars)
    note = f"all {count(found.n_rows, 'row')}"
    note += f"; {outside:.2%} of them lie outside the picture" if outside > 1e-9 else ""
    title = f"Residuals{of}"
    charts = [scatter, histogram(title, edges, counts, "true minus predicted", note=note, kind="residuals")]
    return charts if found.means is None else [_means(found.means), _lorenz(found.means), *charts]


def _means(found: MeansTable) -> Markup:
    """Means by tenths of the rows, in the order of their predictions."""
    points = [Series("", *found.groups(), dots=True)]
    note = "means of tenths of the rows, by exposure where they have one, from the lowest to the highest prediction"
    x, y = Axis("predicted"), Axis("true")
    return xy_chart("Calibration", points, x, y, note=note, diagonal=True, kind="calibration")


def _lorenz(found: MeansTable) -> Markup:
    """How much of the whole the rows of lowest prediction have."""
    note = f"the dotted line is chance; Gini {found.gini:.4f}"
    lines = [Series("", *_thinned(*found.lorenz()))]
    x, y = _share("share of the rows, the lowest prediction first"), _share("their share of the whole")
    return xy_chart("Lorenz curve", lines, x, y, note=note, diagonal=True, square=True, kind="lorenz")


def _survival(found: RiskQuality, target: str) -> Markup:
    """The share of rows of which nothing had happened yet, by thirds of risk: what was observed, and predicted."""
    lines = []
    for one in found.curves:
        start = float(one.times[0]) if len(one.times) < 2 else 0.0
        times, observed, predicted = (
            np.concatenate([[first], its])
            for first, its in ((start, one.times), (1.0, one.observed), (1.0, one.predicted))
        )
        of = f"{one.name}, " if one.name else ""
        lines += [
            Series(f"{of}observed", times, observed, steps=True),
            Series(f"{of}predicted", times, predicted, steps=True),
        ]
    note = f"{count(found.n_events, 'event')} in {count(found.n_rows, 'row')}; observed as by Kaplan and Meier"
    x, y = Axis(target), _share("share without an event")
    return xy_chart("Survival by predicted risk", lines, x, y, note=note, kind="survival")


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


def _roc(found: ClassQuality) -> Markup:
    areas = {name: table.auc for name, table in found.curves.items()}
    lines = [Series(_named(name, areas), *_thinned(*table.roc())) for name, table in found.curves.items()]
    note = "the dotted line is chance" + (f"; AUC {min(areas.values()):.4f}" if len(areas) == 1 else "")
    x, y = _share("false positives"), _share("true positives")
    return xy_chart("ROC", lines, x, y, note=note, diagonal=True, square=True, kind="roc")


def _rare(found: ClassQuality) -> Any:
    """The first of two classes where it is rare: it is then the one to be found. Otherwise None."""
    there = found.confusion.sum(axis=1)
    return found.labels[0] if len(there) == 2 and there[0] < RARE * there.sum() else None


def _precision_recall(found: ClassQuality) -> Markup:
    rare = _rare(found)
    curves = found.curves if rare is None else {str(rare): table.of_others() for table in found.curves.values()}
    means = {name: table.average_precision for name, table in curves.items()}
    lines = []
    for name, table in curves.items():
        precision, recall = table.precision_recall()
        lines.append(Series(_named(name, means), *_thinned(recall, precision)))
    note = f"average precision {min(means.values()):.4f}" if len(means) == 1 else ""
    note += "" if rare is None else f"; of {label(rare)}, the rare class"
    x, y = _share("recall"), _share("precision")
    return xy_chart("Precision and recall", lines, x, y, note=note, square=True, kind="precision-recall")


def _calibration(found: ClassQuality) -> Markup:
    assert found.calibration is not None
    rare = _rare(found)
    shown = found.calibration if rare is None else found.calibration.of_others()
    predicted, observed = shown.predicted, shown.observed
    note = "groups of rows; on the dotted line, what was called 70 % happened in 70 % of the rows"
    one = found.labels[-1] if rare is None else rare
    note += "; of the likeliest class" if len(found.labels) > 2 else f"; of {label(one)}"
    titles = "predicted probability", "share that came true"
    if np.median(predicted) >= RARE:
        x, y = map(_share, titles)
    else:  # a rare class would be a smear in one corner
        low = float(max(predicted.min(), LEAST_SHOWN)) / 2
        high = float(min(1.0, 2 * max(predicted.max(), observed.max())))
        x, y = (Axis(title, log=True, low=low, high=high) for title in titles)
        nothing = int(np.count_nonzero(observed < low))
        note += "; both axes are logarithmic"
        lie = count(
            nothing, "group in which nearly nothing came true lies", "groups in which nearly nothing came true lie"
        )
        note += f"; {lie} at the bottom" if nothing else ""
        predicted, observed = np.maximum(predicted, low), np.maximum(observed, low)
    points = [Series("", predicted, observed, dots=True)]
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


def _confusion(found: ClassQuality) -> Markup:
    """A table of what was taken for what, the stronger its colour the larger its share; of many classes the worst."""
    names, counts = [label(name) for name in found.labels], found.confusion
    left_out = len(names) - MOST_CONFUSED
    if left_out > 0:
        mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
        kept = np.sort(np.argsort(-mistakes, kind="stable")[:MOST_CONFUSED])
        names, counts = [names[i] for i in kept], counts[np.ix_(kept, kept)]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    rows = [
        (name, [(short(n, 6) if n else "", f"{s:.3f}", f"{s:.1%}") for n, s in zip(line, its, strict=True)])
        for name, line, its in zip(names, counts, shares, strict=True)
    ]
    return rendered(
        "confusion.html",
        labels=names,
        rows=rows,
        dense=len(names) > COMPACT or max(map(len, names)) > LONG_NAME,
        left_out=max(left_out, 0),
    )

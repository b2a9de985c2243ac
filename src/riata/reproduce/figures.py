"""Figures 1 to 7 of the paper, and three that it lacks, as data: panels of series over two axes.

The same panels are drawn on paper (drawing.py), on the page (page.py) and written as CSV, so none of them can differ.
"""

from dataclasses import dataclass

import numpy as np

from riata.reporting.html.charts import Series
from riata.reporting.html.scales import Axis
from riata.reproduce.algorithms import ALGORITHMS
from riata.reproduce.findings import Findings, Point
from riata.reproduce.memory import BUDGET
from riata.reproduce.plan import TWINS, WEIGHED

NAMES = {"text": "steps of the text", "code": "steps of the code", "riata": "riata"}
SHARE = Axis("share of weights that are not zero", low=-0.03, high=1.03)
ALPHA, STEPS = Axis("alpha", log=True), Axis("steps", log=True)
OBJECTIVE, SECONDS = Axis("objective", log=True), Axis("seconds", log=True)


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    series: list[Series]
    x: Axis
    y: Axis


@dataclass(frozen=True)
class Figure:
    """Panels side by side, under one number."""

    number: int
    title: str
    caption: str
    panels: list[Panel]

    @property
    def name(self) -> str:
        return f"figure{self.number:02d}"


def figures(findings: Findings) -> list[Figure]:
    """All ten; a panel without a point is left out."""
    drawn = [sparsity(findings)]
    drawn += [convergence(number, name, findings) for number, name in CONVERGENCE.items()]
    drawn += [accuracy_and_features(findings), memory_and_rows(findings), accuracy_and_time(findings)]
    return [Figure(f.number, f.title, f.caption, [panel for panel in f.panels if panel.series]) for f in drawn]


CONVERGENCE = {
    2: "round-fobos", 3: "fobos", 4: "stoc-subgd", 5: "l0-sgd", 6: "mini-fobos", 7: "mini-subgd",
}  # fmt: skip
BY_ALPHA = ("cd", "fobos", "round-fobos", "mini-fobos", "mini-subgd", "exact", "online", "subgd")
BY_TIME = tuple(name for name in ALGORITHMS if name not in TWINS)


def sparsity(findings: Findings) -> Figure:
    """Figure 1: the share of weights that are not zero against alpha."""
    panels = []
    for reading in ("text", "code"):
        lines = [
            _series(ALGORITHMS[name].name, points, "strength", "share")
            for name in BY_ALPHA
            if (points := findings.along(name, reading) or findings.along(name, "riata"))
        ]
        panels.append(Panel(NAMES[reading], lines, ALPHA, SHARE))
    return Figure(
        1, "Sparsity against the penalty",
        "Share of weights that are not zero. Sub-gradients on single rows lie on those of batches and are left out, as "
        "in the paper. In the code's reading coordinate descent standardises the columns: its alpha is another one.",
        panels,
    )  # fmt: skip


def convergence(number: int, name: str, findings: Findings) -> Figure:
    """Figures 2 to 7: the objective against steps, a line for each alpha or k; a dashed one at the least there is."""
    algorithm = ALGORITHMS[name]
    panels = []
    for reading in algorithm.readings:
        lines = []
        for point in _shown(findings.along(name, reading)):
            steps = [note["steps"] for note in point.trace]
            label = f"{algorithm.takes} = {point.strength:g}"
            lines.append(Series(label, steps, [note["objective"] for note in point.trace]))
            least = findings.optimum(point)
            if least is not None:
                lines.append(Series(f"least at {label}", [steps[0], steps[-1]], [least, least], background=True))
        panels.append(Panel(NAMES[reading], lines, STEPS, OBJECTIVE))
    whose = "best-k's" if algorithm.takes == "k" else "certified by exact"
    return Figure(
        number, f"Convergence of {algorithm.name}",
        f"The objective of the first seed. Pale lines: the least objective at the same {algorithm.takes} "
        f"({whose}).", panels,
    )  # fmt: skip


def _shown(points: list[Point]) -> list[Point]:
    """Strengths of interest: beyond an alpha of 1 nothing is learnt, and an objective of hundreds hides the others."""
    return [point for point in points if point.strength <= 1 or ALGORITHMS[point.algorithm].takes == "k"]


def accuracy_and_features(findings: Findings) -> Figure:
    """Figure 8: what a number of features buys, and how many of them are noise."""
    groups = {name: [name] for name in ("cd", "fobos", "mini-fobos", "round-fobos", "l0-sgd")}
    groups |= {"Sub-gradients, all three": ["subgd", "mini-subgd", "stoc-subgd"]}
    groups |= {name: [name] for name in ("exact", "best-k", "online", "online-k")}
    features = Axis("features of the model", log=True)
    accuracy, probes = [], []
    for label, names in groups.items():
        points = sorted(_own_reading(names, findings), key=lambda point: point.features)
        many = len(names) > 1
        label = ALGORITHMS[label].name if label in ALGORITHMS else label
        accuracy.append(_series(label, points, "features", "accuracy", line=not many))
        if findings.facts["probes"]:
            shares = [(point.probes or 0.0) / point.features for point in points]
            probes.append(Series(label, [point.features for point in points], shares, line=not many, dots=many))
    if probes:
        chance = findings.facts["probes"] / findings.facts["features"]
        probes.append(Series("chance", [1, findings.facts["features"]], [chance, chance], background=True))
    return Figure(
        8, "Accuracy against the number of features",
        "Means over seeds, with their spread; the paper's methods with the steps of its text (L0-SGD: of its code). "
        "On the right the share of probes, columns of noise, among the features: chance is the pale line.",
        [Panel("accuracy on the test rows", accuracy, features, Axis("accuracy", low=0.48, high=1.0)),
         Panel("probes among the features", probes, features, Axis("share of probes", low=-0.02, high=0.72))],
    )  # fmt: skip


def _own_reading(names: list[str], findings: Findings) -> list[Point]:
    """The points of these algorithms that have features, in the text's reading if there is one."""
    points = [point for name in names for point in findings.along(name, next(iter(ALGORITHMS[name].readings)))]
    return [point for point in points if point.features > 0]


def memory_and_rows(findings: Findings) -> Figure:
    """Figure 9: peak memory against the number of rows, and of features."""
    megabytes = Axis("MB above a tiny fit")
    panels = []
    for along, title in (("n", "rows"), ("d", "features")):
        lines = []
        for name in WEIGHED:
            costs = findings.costs("memory", name, along)
            if costs:
                lines.append(Series(ALGORITHMS[name].name, [n for n, _ in costs], [cost for _, cost in costs]))
        panels.append(Panel(f"against {title}", lines, Axis(title, log=True), megabytes))
    return Figure(
        9, "Peak memory against the number of rows",
        "Dense float32 rows, each algorithm in a process of its own. Coordinate descent and full sub-gradients hold "
        f"all rows; stochastic methods take them as they come; exact and best-k read a file with a budget of {BUDGET}.",
        panels,
    )  # fmt: skip


def accuracy_and_time(findings: Findings) -> Figure:
    """Figure 10: accuracy against the time that the solver took to it, at each method's best strength."""
    panels = []
    for reading in ("text", "code"):
        lines = []
        for name in BY_TIME:
            readings = [reading, *findings.readings(name)]
            best = next(filter(None, (findings.best(name, one) for one in readings)), None)
            if best is not None:
                seconds, reached = zip(*[(note["seconds"], note["accuracy"]) for note in best.trace], strict=True)
                one = len(seconds) == 1
                lines.append(Series(ALGORITHMS[name].name, seconds, reached, line=not one, dots=one))
        panels.append(Panel(NAMES[reading], lines, SECONDS, Axis("accuracy", low=0.48, high=1.0)))
    return Figure(
        10, "Accuracy against time",
        "Test accuracy on the way of each method at its best strength, against seconds spent in the solver, first "
        "seed, two fits running side by side. L0-SGD has the code's steps in both.", panels,
    )  # fmt: skip


def _series(label: str, points: list[Point], x: str, y: str, line: bool = True) -> Series:
    """A series over properties of points, with the spread of accuracies."""
    several = y == "accuracy" and any(len(point.runs) > 1 for point in points)
    spread = np.nan_to_num([point.spread("accuracy") for point in points]) if several else None
    across, up = [getattr(point, x) for point in points], [getattr(point, y) for point in points]
    return Series(label, across, up, line=line, dots=not line, spread=spread if line else None)

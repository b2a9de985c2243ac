"""Tables 1 and 2 of the paper, each row beside the paper's own."""

from typing import Any

import numpy as np

from riata.reproduce.algorithms import ALGORITHMS
from riata.reproduce.findings import Findings, Point
from riata.reproduce.paper import BESTS, COSTS
from riata.reproduce.plan import TWINS

NEAR_BEST = 0.02  # accuracy that may be lost for a sparser model
TARGETS = (0.90, 0.95, 0.97)  # accuracies to be reached

Row = dict[str, Any]


def table1(findings: Findings) -> list[Row]:
    """Costs of a step as measured, with the exponents of n and d; the rate of convergence; the sparsity reached."""
    return [_costs(name, findings) for name in ALGORITHMS if name != "online-k"]


def _costs(name: str, findings: Findings) -> Row:
    paper = COSTS.get(name)
    weighed = TWINS.get(name, name)
    times = findings.costs("time", name, "d")
    memory = [*findings.costs("memory", weighed, "n"), *findings.costs("memory", weighed, "d")]
    points = [point for reading in ALGORITHMS[name].readings for point in findings.along(name, reading)]
    rates = [rate for point in points if paper and point.features > 0 and np.isfinite(rate := findings.rate(point))]
    sparse = sparsest_near_best(points)
    return {
        "algorithm": ALGORITHMS[name].name,
        "seconds_of_a_step": times[-1][1] if times else None,
        "time_by_n": _known(findings.exponent("time", name, "n")),
        "time_by_d": _known(findings.exponent("time", name, "d")),
        "paper_computation": paper and paper.computation,
        "most_mb": max((megabytes for _, megabytes in memory), default=None),
        "memory_by_n": _known(findings.exponent("memory", weighed, "n")),
        "memory_by_d": _known(findings.exponent("memory", weighed, "d")),
        "paper_memory": paper and paper.memory,
        "rate": float(np.median(rates)) if rates else None,
        "paper_rate": paper and paper.convergence,
        "share": sparse and sparse.share,
        "share_accuracy": sparse and sparse.accuracy,
        "paper_sparsity": paper and paper.sparsity,
    }


def sparsest_near_best(points: list[Point]) -> Point | None:
    """The point of fewest features whose accuracy is within NEAR_BEST of the best of these points."""
    best = max((point.accuracy for point in points), default=0.0)
    near = [point for point in points if point.accuracy >= best - NEAR_BEST]
    return min(near, key=lambda point: point.features, default=None)


def table2(findings: Findings) -> list[Row]:
    """The most accurate model of every algorithm and reading, and the one at the paper's own strength."""
    return [_best(name, reading, findings) for name in ALGORITHMS for reading in findings.readings(name)]


def _best(name: str, reading: str, findings: Findings) -> Row:
    best, paper = findings.best(name, reading), BESTS.get(name)
    assert best is not None
    there = findings.at(name, reading, paper.strength) if paper else None
    return {
        "algorithm": ALGORITHMS[name].name,
        "reading": reading,
        "accuracy": best.accuracy,
        "accuracy_spread": _known(best.spread("accuracy")),
        "share": best.share,
        "features": best.features,
        "probes": best.probes,
        "strength": best.strength,
        "takes": ALGORITHMS[name].takes,
        "seeds": len(best.runs),
        "paper_accuracy": paper and paper.accuracy,
        "paper_share": paper and paper.sparsity,
        "paper_strength": paper and paper.strength,
        "accuracy_there": there and there.accuracy,
        "share_there": there and there.share,
    }


def nearest_reading(name: str, findings: Findings) -> str | None:
    """Which reading comes nearest to the paper's row, at the paper's own strength: in accuracy and in sparsity."""
    paper = BESTS.get(name)
    if paper is None:
        return None
    found = {
        reading: point
        for reading in findings.readings(name)
        if (point := findings.at(name, reading, paper.strength)) is not None
    }
    return min(found, key=lambda reading: distance(found[reading], name), default=None)


def distance(point: Point, name: str) -> float:
    """From the paper's row: the larger of the differences in accuracy and in sparsity."""
    return max(abs(point.accuracy - BESTS[name].accuracy), abs(point.share - BESTS[name].sparsity))


def times_to_accuracy(findings: Findings) -> list[Row]:
    """Seconds of the solver alone until each target was first reached on the test rows, and where that was."""
    rows = []
    for name, algorithm in ALGORITHMS.items():
        for target in TARGETS:
            soonest = findings.soonest(name, target)
            seconds, point = soonest or (None, None)
            rows.append(
                {
                    "algorithm": algorithm.name,
                    "target": target,
                    "seconds": seconds,
                    "reading": point and point.reading,
                    "strength": point and point.strength,
                    "features": point and point.features,
                }
            )
    return rows


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None

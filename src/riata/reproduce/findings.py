"""What the cells say, averaged over seeds: the one place that tables, figures and claims take their numbers from."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riata.reproduce.algorithms import ALGORITHMS

READINGS = ("text", "code", "scored", "riata")
TAIL = 0.2  # the rate of convergence is fitted from this share of the steps on
UNSEEN_MB = 1.0  # less than this above a tiny fit is no growth that could be told from chance
TOO_CLOSE = 1e-9  # distances to the optimum below this, relative to it, are rounding


@dataclass(frozen=True, eq=False)
class Point:
    """An algorithm in one reading at one strength: means over the seeds, and spreads (standard deviations)."""

    algorithm: str
    reading: str
    strength: float
    runs: list[dict[str, Any]]  # one for each seed
    n_features: int

    @property
    def label(self) -> str:
        """The algorithm's name, with the reading where there are several."""
        several = len(ALGORITHMS[self.algorithm].readings) > 1
        return ALGORITHMS[self.algorithm].name + (f", {self.reading}" if several else "")

    def mean(self, name: str) -> float:
        return float(np.mean([run[name] for run in self.runs]))

    def spread(self, name: str) -> float:
        """The standard deviation over seeds, which one seed does not have."""
        return float(np.std([run[name] for run in self.runs])) if len(self.runs) > 1 else float("nan")

    @property
    def accuracy(self) -> float:
        return self.mean("accuracy")

    @property
    def features(self) -> float:
        return self.mean("features")

    @property
    def share(self) -> float:
        """The share of weights that are not zero: what the paper calls sparsity."""
        return self.features / self.n_features

    @property
    def probes(self) -> float | None:
        return None if self.runs[0]["probes"] is None else self.mean("probes")

    @property
    def trace(self) -> list[dict[str, float]]:
        """The records of the run with the first seed."""
        return self.runs[0]["trace"]


@dataclass(frozen=True)
class Findings:
    """All cells of a run."""

    facts: dict[str, Any]  # of the data
    quick: bool
    seeds: int
    results: list[dict[str, Any]]

    @cached_property
    def points(self) -> list[Point]:
        """Every fit, seeds together, in the order of the algorithms and of their strengths."""
        groups = defaultdict(list)
        for result in self.results:
            if result["kind"] == "fit" and "failed" not in result:
                groups[result["algorithm"], result["reading"], result["strength"]].append(result)
                if (result["algorithm"], result["reading"]) == ("cd", "code"):
                    scored = result | {"accuracy": result["accuracy_without_intercept"]}
                    groups["cd", "scored", result["strength"]].append(scored)
        points = [Point(*key, runs, self.facts["features"]) for key, runs in groups.items()]
        order = list(ALGORITHMS)
        return sorted(points, key=lambda p: (order.index(p.algorithm), READINGS.index(p.reading), p.strength))

    def readings(self, algorithm: str) -> list[str]:
        """The readings in which an algorithm was run; "scored" is the code's with its way of scoring, too."""
        return list(dict.fromkeys(point.reading for point in self.points if point.algorithm == algorithm))

    def along(self, algorithm: str, reading: str) -> list[Point]:
        """The points of one algorithm over its strengths."""
        return [p for p in self.points if (p.algorithm, p.reading) == (algorithm, reading)]

    def at(self, algorithm: str, reading: str, strength: float) -> Point | None:
        return next((p for p in self.along(algorithm, reading) if p.strength == strength), None)

    def best(self, algorithm: str, reading: str) -> Point | None:
        """The most accurate on the test rows, as the paper chooses; of equals the sparsest."""
        return max(self.along(algorithm, reading), key=lambda p: (p.accuracy, -p.features), default=None)

    @property
    def failures(self) -> list[dict[str, Any]]:
        return [result for result in self.results if "failed" in result]

    def optimum(self, point: Point) -> float | None:
        """The least objective there is: certified by exact, or the best that is known for a k."""
        other = self.at("best-k" if ALGORITHMS[point.algorithm].takes == "k" else "exact", "riata", point.strength)
        same_problem = point.algorithm != "cd" or point.reading == "text"  # the code's has an intercept, and scales
        return None if other is None or not same_problem else other.mean("objective")

    def rate(self, point: Point) -> float:
        """p where the distance to the optimum falls like T^-p in the last part of the way; nan where it is unknown."""
        least = self.optimum(point)
        if least is None:
            return float("nan")
        last = point.trace[-1]["steps"]
        tail = [note for note in point.trace if note["steps"] >= TAIL * last]
        return -slope([note["steps"] for note in tail], [note["objective"] - least * (1 + TOO_CLOSE) for note in tail])

    def costs(self, kind: str, algorithm: str, along: str) -> list[tuple[int, float]]:
        """Growing n or d, the other one fixed, with seconds of a step ("time") or MB above a tiny fit ("memory")."""
        cells = [result for result in self.results if (result["kind"], result["algorithm"]) == (kind, algorithm)]
        if kind == "memory":
            shapes = [shape for cell in cells if cell["along"] == along for shape in cell["measured"]]
            return [(shape[along], shape["peak_mb"] - shape["before_mb"]) for shape in shapes]
        other = "d" if along == "n" else "n"
        fixed = Counter(cell[other] for cell in cells).most_common(1)
        return sorted((cell[along], cell["seconds"]) for cell in cells if cell[other] == fixed[0][0])

    def exponent(self, kind: str, algorithm: str, along: str) -> float:
        """e where the cost grows like n^e or d^e, the other one fixed."""
        costs = self.costs(kind, algorithm, along)
        if kind == "memory" and costs and max(cost for _, cost in costs) < UNSEEN_MB:
            return 0.0
        return slope([size for size, _ in costs], [cost for _, cost in costs])

    def soonest(self, algorithm: str, target: float) -> tuple[float, Point] | None:
        """Seconds until a test accuracy was first reached, in the reading and at the strength where it was soonest."""
        reached = [
            (note["seconds"], point)
            for point in self.points
            if point.algorithm == algorithm and point.reading != "scored"
            for note in point.trace
            if note["accuracy"] >= target
        ]
        return min(reached, key=lambda pair: pair[0], default=None)


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """e of the best y = c x^e among points where both are positive; nan where they are fewer than two."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    good = (x > 0) & (y > 0)
    if len(np.unique(x[good])) < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[good]), np.log(y[good]), 1)[0])

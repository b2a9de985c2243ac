"""How a sentence of the paper is judged: what counts as sparse and accurate, and what a test returns."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from riata.reporting.html.numbers import count
from riata.reproduce.algorithms import ALGORITHMS
from riata.reproduce.findings import Findings, Point
from riata.reproduce.paper import SIZES

SPARSE = max(SIZES) / 5000  # share of weights: the largest K that the paper calls sparse
ACCURATE = 0.93  # the paper calls 0.9350 accurate
FOBOS = ("fobos", "round-fobos", "mini-fobos")
SUBGRADIENTS = ("stoc-subgd", "mini-subgd")
HOLDS, IN_PART, FAILS, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"


class Found(NamedTuple):
    """What a test of a sentence found."""

    verdict: str
    evidence: str


class Test(NamedTuple):
    """A sentence of the paper, and what tells whether it is so."""

    topic: str
    sentence: str
    found: Callable[[Findings], Found]


NOT_MEASURED = Found(UNKNOWN, "This run has no cells that would tell.")


def verdict(trues: Iterable[bool]) -> str:
    """The verdict on a sentence that says several things, each of them true or not."""
    trues = list(trues)
    if not trues:
        return UNKNOWN
    return HOLDS if all(trues) else IN_PART if any(trues) else FAILS


def describe(point: Point) -> str:
    """A point in words."""
    takes = ALGORITHMS[point.algorithm].takes
    return (
        f"{point.label} at {takes} = {point.strength:g}: accuracy {point.accuracy:.3f} "
        f"with {count(round(point.features), 'feature')}"
    )


def all_points(names: Iterable[str], findings: Findings) -> list[Point]:
    """The points of some algorithms, in all readings, that hold any feature."""
    names = set(names)
    return [
        point
        for point in findings.points
        if point.algorithm in names and point.reading != "scored" and point.features > 0
    ]


def most_accurate(points: Iterable[Point]) -> Point | None:
    return max(points, key=lambda point: point.accuracy, default=None)


def is_sparse_enough(point: Point) -> bool:
    return 0 < point.share <= SPARSE

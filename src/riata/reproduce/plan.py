"""The experiment as data: which cells there are."""

from dataclasses import dataclass
from typing import Any

from riata.reproduce.algorithms import ALGORITHMS, FULL, QUICK
from riata.reproduce.fits import FitCell
from riata.reproduce.memory import MemoryCell
from riata.reproduce.paper import ALPHAS, BESTS, CD_RANGE, SIZES
from riata.reproduce.timing import TimeCell

Cell = FitCell | MemoryCell | TimeCell
SEEDS = 3
BETWEEN = (3e-3, 3e-2, 3e-1, CD_RANGE[1])  # alphas between the decades, for methods where they cost little:
CHEAP = ("cd", "exact", "online")
SUBGRADIENTS = ("mini-subgd", "stoc-subgd")
LEARNT, EMPTY = 0.01, 0.1  # on rows of unit norm: the largest alpha of the grid with a model, and the next one
USEFUL = 1e-3  # the largest with which sub-gradients learn
TWINS = {"round-fobos": "fobos", "online-k": "online"}  # these need the memory of those
WEIGHED = tuple(name for name in ALGORITHMS if name not in TWINS)


@dataclass(frozen=True)
class Shapes:
    """Rows and features of the made-up data: (n, d) where n grows, and where d grows."""

    along_n: tuple[tuple[int, int], ...]
    along_d: tuple[tuple[int, int], ...]


MEMORY = Shapes(((2_500, 1000), (7_000, 1000), (20_000, 1000)), ((100, 40_000), (100, 80_000), (100, 160_000)))
TIME = Shapes(tuple((n, 1000) for n in (1000, 2000, 4000, 8000)), tuple((2000, d) for d in (500, 1000, 2000, 4000)))
QUICK_MEMORY = Shapes(((2_500, 500), (10_000, 500)), ((50, 40_000), (50, 120_000)))
QUICK_TIME = Shapes(((1000, 500), (2000, 500), (4000, 500)), ((1000, 500), (1000, 1000), (1000, 2000)))
QUICK_K, QUICK_ALPHA = 200, 1e-4
QUICK_WEIGHED = ("cd", "fobos", "l0-sgd", "exact")


@dataclass(frozen=True)
class Settings:
    """What a run depends on: two runs of equal settings have the same cells."""

    facts: dict[str, Any]  # of the data
    quick: bool
    seeds: int


def plan(settings: Settings) -> list[Cell]:
    """Every cell, the longest first, so that two processes end together."""
    return [*memory_cells(settings.quick), *fit_cells(settings), *time_cells(settings.quick)]


def fit_cells(settings: Settings) -> list[FitCell]:
    """Every algorithm in every reading, over its strengths and the seeds that matter."""
    effort = QUICK if settings.quick else FULL
    cells = [
        FitCell(name, reading, float(strength), seed, effort)
        for name, algorithm in ALGORITHMS.items()
        for reading in algorithm.readings
        for strength in strengths(name, reading, settings)
        for seed in seeds_of(name, reading, strength, settings.seeds)
    ]
    return sorted(cells, key=_expected_work, reverse=True)


def strengths(name: str, reading: str, settings: Settings) -> tuple[float, ...]:
    """The paper's alphas or k, as far as the data has features; --quick leaves out what is empty, or takes long."""
    brief = settings.quick and reading == "riata"
    if ALGORITHMS[name].takes == "k":
        most = min(settings.facts["features"], QUICK_K if brief else max(SIZES))
        return tuple(k for k in SIZES if k <= most)
    if ALGORITHMS[name].random and reading == "code":  # long runs, which end where there is nothing to see
        return tuple(alpha for alpha in ALPHAS if alpha <= (USEFUL if name in SUBGRADIENTS else EMPTY))
    if settings.quick:
        return tuple(alpha for alpha in ALPHAS if (QUICK_ALPHA if brief else 0.0) <= alpha <= EMPTY)
    return tuple(sorted(ALPHAS + BETWEEN)) if name in CHEAP else ALPHAS


def seeds_of(name: str, reading: str, strength: float, seeds: int) -> range:
    """All seeds where chance plays and they are affordable: at the paper's own strengths, and in short runs."""
    algorithm = ALGORITHMS[name]
    own = name in BESTS and strength == BESTS[name].strength
    if not algorithm.random or (algorithm.takes == "alpha" and strength > LEARNT):
        return range(1)
    if reading == "code":  # long runs, and those of batches the longest
        most = (seeds if own else 2) if algorithm.rows_per_step == 1 else (2 if own else 1)
        return range(min(seeds, most))
    return range(seeds)


def _expected_work(cell: FitCell) -> float:
    """Rows visited, roughly; riata's batch methods take long at one end of their strengths, and come first."""
    algorithm, effort = ALGORITHMS[cell.algorithm], cell.effort
    if cell.reading == "riata" and not algorithm.random:
        return float("inf")
    if cell.reading != "code" or not algorithm.random:
        return 0.0
    return effort.code_steps if algorithm.rows_per_step == 1 else algorithm.rows_per_step * effort.code_batch_steps


def memory_cells(quick: bool) -> list[MemoryCell]:
    shapes = QUICK_MEMORY if quick else MEMORY
    names = QUICK_WEIGHED if quick else WEIGHED
    both = [("n", shapes.along_n), ("d", shapes.along_d)]
    return [MemoryCell(name, along, those) for name in names for along, those in both]


def time_cells(quick: bool) -> list[TimeCell]:
    shapes = QUICK_TIME if quick else TIME
    both = sorted({*shapes.along_n, *shapes.along_d})
    return [TimeCell(name, n, d) for name in ALGORITHMS if name != "online-k" for n, d in both]

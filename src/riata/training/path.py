"""The models of many alphas at the price of few: warm starts, shared curvature, several alphas certified per pass.

Alphas go from large to small, a block at a time. The quadratic at the last model, over a working set chosen by the
strong rule (features pulled by more than 2 l1_j(last of the block) - l1_j(now)), gives a first guess for every alpha of
the block without data. One pass then certifies all of them at once; those that fall short get a Newton step each from
their own slopes, once the features that they want are let in, until none falls short. Where the columns of the working
set are small and in memory they take the place of the quadratic (`solvers.gathered`), and a guess seldom falls short.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.objective import FirstOrder, Problem, gap_unit, summarise
from riata.solvers.convex.column_copy import Gathered, gathered
from riata.solvers.convex.exact import FINE, FIRST, grown
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.newton import (
    CUTS,
    DAMPED,
    NOTHING,
    Curvature,
    State,
    cut_back,
    newton_step,
    pass_part,
    read,
    worse,
)
from riata.training.checks import check_spec
from riata.training.fitting import bare_problem, with_start
from riata.training.spec import Spec

LENGTH, REACH = 100, 0.01  # alphas of a path, and the last one as a share of the first
BLOCK_IN_MEMORY, BLOCK = 2, 8  # alphas that share a pass: more where passes are dear
LEAST = 0.7  # of l1: the strong rule asks for less than this in long blocks, and lets too many features in
ROUNDS = 30


@dataclass(frozen=True)
class Path:
    """One row per alpha, from the emptiest model on."""

    alphas: np.ndarray
    coefs: np.ndarray  # alphas x features
    intercepts: np.ndarray
    losses: np.ndarray  # without the penalty
    gaps: np.ndarray  # relative to the loss of the empty model; residuals of slopes where there is no dual bound
    converged: bool
    passes: float
    stationary: bool = False  # whether models are judged by their slopes, for want of a dual bound

    @property
    def n_selected(self) -> np.ndarray:
        """How many features each model has."""
        return np.count_nonzero(self.coefs, axis=1)


@dataclass
class Point:
    """A model on its way to one alpha."""

    problem: Problem
    w: np.ndarray
    b: float
    best: float = np.inf  # F where it was last accepted, at (w_best, b_best)
    w_best: np.ndarray | None = None
    b_best: float = 0.0
    at: Any = None  # a FirstOrder, once there was a pass
    curvature: Curvature | None = None  # where it is not the same everywhere
    gap: float = np.inf
    damping: float = 1.0  # steps are made on so many times the curvature


def path(
    data: Dataset, spec: Spec, alphas=None, *, length=LENGTH, reach=REACH, max_features=None, progress=None
) -> Path:
    """Models for decreasing alphas: those given, or `length` of them from alpha_max to `reach` times it.

    It ends early with the first model of at least `max_features` features.
    """
    check_spec(spec, data.n_features)
    passes_before = data.passes
    problem, largest = with_start(bare_problem(data, spec), spec)
    alphas = largest * np.geomspace(1.0, reach, length) if alphas is None else _checked(alphas)
    points = []
    assert problem.start is not None
    judge = Judge.of(problem, problem.start)
    for point in _points(problem, spec, largest, alphas, judge, judge.unit(gap_unit(problem)), progress):
        points.append(point)
        if max_features is not None and np.count_nonzero(point.w) >= max_features:
            break
    return Path(
        alphas[: len(points)],
        np.array([point.w for point in points]),
        np.array([point.b for point in points]),
        np.array([point.at.loss for point in points]),
        np.array([point.gap for point in points]),
        all(point.gap <= spec.tol for point in points),
        data.passes - passes_before,
        stationary=judge.slope_unit is not None,
    )


def _checked(alphas) -> np.ndarray:
    alphas = np.asarray(alphas, dtype=np.float64)
    if alphas.ndim != 1 or len(alphas) == 0 or np.any(np.diff(alphas) > 0) or np.any(alphas < 0):
        raise OptionError("alphas must be zero or more and lie from large to small")
    return alphas


def _points(
    problem, spec, largest, alphas, judge: Judge, unit, progress: Callable[[float, int], None] | None
) -> Iterator[Point]:
    """The models, block by block."""
    assert problem.start is not None
    w, b, at = problem.start
    state = State(w, b, np.flatnonzero(w))
    now = largest
    at_start = int(np.sum(alphas >= largest))
    for alpha in alphas[:at_start]:  # no Newton step: its rounding would let features in
        its_problem = replace(problem, penalty=spec.penalty_at(alpha, problem.scale))
        gap = judge.shortfall(its_problem, w, at) / unit
        yield Point(its_problem, w, b, at=at, gap=gap)
    size = BLOCK_IN_MEMORY if problem.data.cheap_passes else BLOCK
    for i in range(at_start, len(alphas), size):
        block = alphas[i : i + size]
        problems = [replace(problem, penalty=spec.penalty_at(alpha, problem.scale)) for alpha in block]
        points = _solve_block(problems, state, at, now / max(block[-1], 1e-300), judge, unit, spec)
        for alpha, point in zip(block, points, strict=True):
            yield point
            if progress is not None:
                progress(alpha, int(np.count_nonzero(point.w)))
        last = points[-1]
        state.w, state.b, at, now = last.w, last.b, last.at, block[-1]


def _solve_block(problems, state: State, at: FirstOrder, drop, judge: Judge, unit, spec) -> list[Point]:
    """The models of a few alphas, from the last model, whose alpha was `drop` times the block's last."""
    smallest = problems[-1]
    if not smallest.loss.quadratic:  # curvature that is read anew is read of no more features than need be
        state.features = np.flatnonzero(state.w)
    state.features, _ = grown(smallest, state, [at], max(2.0 - drop, LEAST))
    model = _model(smallest, state, spec)
    points, here = [], (state.w, state.b)
    w, b = here
    for problem in problems:
        w, b = _minimum(problem, model, at, here, (w, b))
        points.append(Point(problem, w, b, at.loss + problem.penalty.value(state.w), *here))
    if _changes(smallest, model):  # a curvature that was kept may have let in features that were no longer expected
        state.features = np.union1d(state.features, np.flatnonzero([point.w for point in points]) % len(state.w))
    short = points
    for _ in range(ROUNDS):
        _certify(short, judge, state.features if _changes(smallest, model) else None)
        short = [point for point in short if point.gap > spec.tol * unit]
        if not short:
            break
        state.features = _wanting(smallest, state, short)
        model = _model(smallest, state, spec)
        for point in short:
            here = point.w, point.b
            its_model = point.curvature or model
            its_model = its_model.times(point.damping) if isinstance(its_model, Curvature) else its_model
            point.w, point.b = _minimum(point.problem, its_model, point.at, here, here)
    for point in points:
        point.gap /= unit
    state.curvature = points[-1].curvature or state.curvature
    return points


def _wanting(problem, state: State, points: list[Point]):
    """The working set with features that want in: all of them where passes are dear, else as many as are in use."""
    ats = [point.at for point in points]
    room = max(FIRST, *(int(np.count_nonzero(point.w)) for point in points))
    return grown(problem, state, ats, first=room if problem.data.cheap_passes else len(state.w))[0]


def _model(problem, state: State, spec) -> Gathered | Curvature:
    """What stands for the loss over the working set: its columns gathered together, or their curvature.

    That of new features is read: a pass. Losses other than the squared read theirs with the slopes, but once.
    """
    columns = gathered(problem, state.features)
    if columns is not None:
        return columns
    if problem.loss.quadratic or not len(state.curvature.features):
        second = read(problem, state, first=False, second=True, memory=spec.memory_bytes)[1]
        state.curvature = second or state.curvature
    return state.curvature


def _minimum(problem, model: Gathered | Curvature, at: FirstOrder, here: tuple[np.ndarray, float], guess):
    """The best (w, b) over the working set, searched from a guess: of F, or of its quadratic `here`."""
    if isinstance(model, Gathered):
        return model.minimum(problem, *guess)
    return newton_step(problem, model, at, *here, precision=FINE, guess=guess[0])


def _changes(problem, model: Gathered | Curvature) -> bool:
    """Whether the curvature differs from place to place, and has to be read with the slopes."""
    return not problem.loss.quadratic and not isinstance(model, Gathered)


def _certify(points: list[Point], judge: Judge, features):
    """Slopes, F and gap of several models in one pass, with the curvature of these features, if any; a step too far is
    cut back and read again, or taken back."""
    for cuts in range(2 + CUTS):
        if not points:
            return
        _read_points(points, features)
        far = []
        for point in points:
            F = point.at.loss + point.problem.penalty.value(point.w)
            if worse(F, point.best) and cuts <= CUTS:
                good: Any = (point.w_best, point.b_best)
                if cuts < CUTS:
                    point.w, point.b = cut_back(point.problem, good, (point.w, point.b))
                else:
                    point.w, point.b = good
                    point.damping *= 1.0 if point.problem.penalty.convex else DAMPED
                far.append(point)
            else:
                point.best, point.w_best, point.b_best = F, point.w, point.b
                point.gap = judge.shortfall(point.problem, point.w, point.at)
        points = far


def _read_points(points: list[Point], features):
    """The first-order means at each model, and its curvature over these features, if any: one pass for all."""
    features = features if features is not None and len(features) else None
    data, loss = points[0].problem.data, points[0].problem.loss
    parts = [pass_part(loss, point.w, point.b, features, features) for point in points]
    sums = data.sum(lambda chunk: tuple(part(chunk) for part in parts))
    for point, its_sums in zip(points, sums, strict=True):
        point.at = summarise(its_sums[:2])
        if features is not None:
            point.curvature = NOTHING.grown(features, its_sums[-1], data.total_weight)

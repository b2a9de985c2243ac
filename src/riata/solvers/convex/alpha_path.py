"""The models of many alphas in few passes: warm starts, shared curvature, several alphas certified per pass.

Alphas go from large to small, a block at a time. The quadratic at the last model, over a working set chosen by the
strong rule (features pulled by more than 2 l1_j(last of the block) - l1_j(now)), gives a first guess for every alpha of
the block without data. One pass then certifies all of them at once; for those whose gap is still too large the features
that they pull join the working set, and each gets a Newton step from its own slopes, until every gap is small. Where
the columns of the working set are in memory they may take the place of the quadratic (`inner_method`): then most first
guesses are good enough, and each starts further along the way of the last two.

Of rows in memory a compiled loop may make the models of many alphas first (`models_ahead`); blocks are for what it
leaves.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from riata.coupled_passes import by_rows
from riata.objective import FirstOrder, Problem, summarise
from riata.penalties import Penalty
from riata.solvers.convex.columns.anchored_columns import AnchoredColumns
from riata.solvers.convex.columns.gathered_columns import GatheredColumns
from riata.solvers.convex.columns.restricted import sum_rounding
from riata.solvers.convex.compiled_paths.models_ahead import ModelsAhead
from riata.solvers.convex.compiled_paths.path_models import AlphaModel, Passed, PathOptions
from riata.solvers.convex.inner_method import InnerModel, Step, all_columns, without_curvature
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.quadratics.curvature import NOTHING, Curvature, Point
from riata.solvers.convex.quadratics.kept_factor import KeptFactor
from riata.solvers.convex.quadratics.quadratic import MANY_COORDINATES
from riata.solvers.convex.smoothing import Stage, first_width, minima
from riata.solvers.convex.watched import watched
from riata.solvers.convex.working_set import (
    CUTS,
    MIN_JOINING,
    STEP_PRECISION,
    AnyCurvature,
    WorkingSetState,
    curvature_of,
    cut_back,
    grown,
    local_problem,
    pass_part,
    passes_are_cheap,
    read,
    without_rounding,
    worse,
)
from riata.solvers.iterate import Options
from riata.threads import one_blas_thread

BLOCK_IN_MEMORY, BLOCK = 2, 8  # alphas that share a pass: more where passes are slow
LEAST_PULL = 0.7  # of l1: in long blocks the strong rule would admit features of smaller pull, and so too many
MAX_ROUNDS = 30
WATCHED = 0.2  # of the columns that single fits watch: the strong rule misses a few at most


@dataclass
class PathPoint:
    """The model of one alpha while it is searched for."""

    problem: Problem
    w: np.ndarray
    b: Any
    best: float = np.inf  # F where it was last accepted, at (w_best, b_best)
    w_best: np.ndarray | None = None
    b_best: Any = 0.0
    at: FirstOrder | None = None  # after its first pass
    curvature: AnyCurvature | None = None  # there, where the loss is not quadratic
    gap: float = np.inf
    tangent: bool = False  # steps take the penalty's tangent for it, see `Penalty.tangent`

    @property
    def read_at(self) -> FirstOrder:
        """What the last pass told."""
        assert self.at is not None
        return self.at

    def model(self) -> AlphaModel:
        """As it was at the last pass."""
        return AlphaModel(self.w, self.b, self.read_at.loss, self.gap)


def alpha_path(
    problem: Problem,
    largest: float,
    alphas: np.ndarray,
    penalties: Sequence[Penalty],
    options: PathOptions,
    way: Sequence[Passed] = (),
) -> Iterator[AlphaModel]:
    """The models of falling alphas, each with its penalty, from the problem's start, which is that of `largest`.

    Where the path has come by minima before, `way` has the last two of them.
    """
    assert problem.start is not None
    w, b, at = problem.start
    state = WorkingSetState(w, b, np.flatnonzero(w != 0.0))
    way = list(way) or [Passed(largest, w, b)]
    at_start = int(np.sum(alphas >= largest))
    for penalty in penalties[:at_start]:  # no Newton step: by its rounding features would enter
        gap = options.judge.shortfall(replace(problem, penalty=penalty), w, at) / options.unit
        yield AlphaModel(w, b, at.loss, gap)
    if problem.loss.kinked:
        yield from _by_smoothing(problem, state, at, penalties[at_start:], options)
        return
    size, i = BLOCK_IN_MEMORY if passes_are_cheap(problem) else BLOCK, at_start
    ahead = None
    if options.judge.has_gap and i < len(alphas):
        ahead = ModelsAhead.of(replace(problem, penalty=penalties[i]), len(alphas) - i, options.memory)
    while i < len(alphas):
        problems = [replace(problem, penalty=penalty) for penalty in penalties[i : i + size]]
        proposed = None if ahead is None else ahead.proposed(problems[0], penalties[i:], alphas[i:], way, at, options)
        if proposed is not None:
            models, at = proposed
            support = np.flatnonzero(models[-1].w != 0.0)  # a block that follows is to move all of it
            state.features = np.concatenate([state.features, np.setdiff1d(support, state.features)])
        else:
            with one_blas_thread() if len(state.features) < MANY_COORDINATES else nullcontext():  # once, not by step
                points = _solve_block(problems, alphas[i : i + size], state, at, way, options)
            models, at = [point.model() for point in points], points[-1].read_at
        yield from models
        state.w, state.b = models[-1].w, models[-1].b
        way = [way[-1], *(Passed(alphas[i + j], model.w, model.b) for j, model in enumerate(models))][-2:]
        i += len(models)


def _by_smoothing(
    problem: Problem, state: WorkingSetState, at: FirstOrder, penalties: Sequence[Penalty], options: PathOptions
) -> Iterator[AlphaModel]:
    """The models of a loss with a kink, one after the other, each from the last."""
    for penalty in penalties:
        problem = replace(problem, penalty=penalty)
        stage = Stage(first_width(problem, state.w, at))
        for found in minima(problem, Options(MAX_ROUNDS, memory=options.memory), state, stage):
            if found.gap <= options.tol * options.unit:
                break
        at = found.at
        yield AlphaModel(state.w, state.b, at.loss, found.gap / options.unit)


def _solve_block(
    problems: list[Problem],
    alphas: np.ndarray,
    state: WorkingSetState,
    at: FirstOrder,
    way: list[Passed],
    options: PathOptions,
) -> list[PathPoint]:
    """The models of a few alphas, from the last model, and the one before it, if any."""
    smallest, drop = problems[-1], way[-1].alpha / max(alphas[-1], 1e-300)
    if not (smallest.loss.quadratic and len(state.curvature.features)):  # what is read again is of no more features
        state.features = np.flatnonzero(state.w != 0.0)
    state.features, _ = grown(smallest, state, [at], max(2.0 - drop, LEAST_PULL))
    model = _model(problems, state, at, options.memory)
    points, here = [], (state.w, state.b)
    for problem, alpha in zip(problems, alphas, strict=True):
        anywhere = model.starts_anywhere or (isinstance(model, Curvature) and problem.loss.quadratic)
        guess = _ahead(problem, way, alpha) if anywhere else way[-1][1:]
        found = model.minimum(problem, at, here, guess, STEP_PRECISION, options.enough)
        w, b = without_rounding(problem, found, options.tol)
        way = [way[-1], Passed(alpha, w, b)]
        points.append(PathPoint(problem, w, b, at.loss + problem.penalty.value(state.w), *here))
    if _is_local(smallest, model):  # a curvature kept from before may have moved features outside the working set
        _join_moved(state, points)
    short = points
    for _ in range(MAX_ROUNDS):
        _certify(short, options.judge, state.features if _is_local(smallest, model) else None)
        short = [point for point in short if point.gap > options.tol * options.unit]
        if not short:
            break
        if isinstance(model, GatheredColumns):  # which may have moved those that were watched
            _join_moved(state, short)
        state.features = _with_pulled(smallest, state, short)
        model = _model([point.problem for point in short], state, short[-1].read_at, options.memory)
        local = _is_local(smallest, model)
        for point in short:
            assert point.at is not None
            here, its_model = (point.w, point.b), (point.curvature if local else None) or model
            around = local_problem(point.problem, point.w, point.tangent)
            found = its_model.minimum(around, point.at, here, here, STEP_PRECISION, options.enough)
            point.w, point.b = without_rounding(point.problem, found, options.tol)
    for point in points:
        point.gap /= options.unit
    state.curvature = points[-1].curvature or state.curvature
    return points


def _ahead(problem: Problem, way: list[Passed], alpha: float) -> Point:
    """Where the last two minima lead to at this alpha: the same features, none with another sign. Between two changes
    of sign the minimum of a squared loss goes along a straight line."""
    before, (now, w, b) = way[0], way[-1]
    if not before.alpha > now:
        return w, b
    share = min(1.0, (now - alpha) / (before.alpha - now))  # from two that are close, no further than that
    far, S = np.zeros_like(w), np.flatnonzero(w != 0.0)
    now_there = w[S]
    ahead = now_there + share * (now_there - before.w[S])
    ahead[ahead * now_there <= 0.0] = 0.0
    if "strengths" in problem.penalty.has and "no bounds" not in problem.penalty.has:
        ahead = np.clip(ahead, problem.strengths.lower[S], problem.strengths.upper[S])
    far[S] = ahead
    return far, b + share * (b - before.b)


def _join_moved(state: WorkingSetState, points: list[PathPoint]) -> None:
    """Let all features of these points be in the working set."""
    state.features = np.union1d(state.features, np.flatnonzero([point.w for point in points]) % len(state.w))


def _with_pulled(problem: Problem, state: WorkingSetState, points: list[PathPoint]) -> np.ndarray:
    """The working set with features that are pulled in: all of them where passes are slow, else as many as are used."""
    ats = [point.at for point in points if point.at is not None]
    room = max(MIN_JOINING, *(int(np.count_nonzero(point.w)) for point in points))
    return grown(problem, state, ats, min_joining=room if passes_are_cheap(problem) else len(state.w))[0]


def _model(problems: list[Problem], state: WorkingSetState, at: FirstOrder, memory: int | None) -> InnerModel:
    """What steps over the working set minimise: the loss over a copy of its columns, or a quadratic by their curvature.

    Slopes at the start of these steps are `at`. The curvature of new features is read: a pass. For losses that are not
    quadratic only the first one is read here, the others together with the slopes.
    """
    problem = problems[-1]
    all_of_them = all_columns(problem, state, state.features, len(state.features), memory)
    state.all_columns = all_of_them
    if all_of_them is not None and all(all_of_them.serves(problem.penalty) for problem in problems):
        return all_of_them
    known = state.curvature.features if problem.loss.quadratic and isinstance(state.curvature, Curvature) else None
    in_model = int(np.count_nonzero(state.w))
    others = partial(watched, problem, at, state.features, in_model, share=WATCHED)
    step = Step(memory, many_minima=True, at_hand=state.gathered, watched=others, known=known)
    columns = without_curvature(problem, state.features, step)
    state.gathered = columns if isinstance(columns, AnchoredColumns) else None
    if columns is not None:
        state.curvature = NOTHING if problem.loss.quadratic else state.curvature
        return columns
    if problem.loss.quadratic or not state.curvature.is_local or not len(state.curvature.features):
        second = read(problem, state, first=False, second=True, memory=memory)[1]
        state.curvature = second or state.curvature
        if isinstance(state.curvature, Curvature) and problem.loss.quadratic and state.curvature.factor is None:
            state.curvature = replace(state.curvature, factor=KeptFactor())
    return state.curvature


def _is_local(problem: Problem, model: InnerModel) -> bool:
    """Whether the curvature differs from point to point, and has to be read with the slopes."""
    return model.is_local and not problem.loss.quadratic


def _certify(points: list[PathPoint], judge: Judge, features: np.ndarray | None) -> None:
    """Slopes, F and gap of several models in one pass, with the curvature of these features, if any; a step that raises
    F is cut back and read again, and undone if that does not help."""
    for cuts in range(2 + CUTS):
        if not points:
            return
        _read_points(points, features)
        far = []
        for point in points:
            assert point.at is not None
            F = point.at.loss + point.problem.penalty.value(point.w)
            gap = judge.shortfall(point.problem, point.w, point.at)
            if _rose(point, F, gap) and cuts <= CUTS:
                assert point.w_best is not None
                good = point.w_best, point.b_best
                if cuts < CUTS and (point.problem.penalty.convex or point.tangent):
                    point.w, point.b = cut_back(point.problem, good, (point.w, point.b))
                else:
                    (point.w, point.b), point.tangent = good, True
                far.append(point)
            else:
                point.best, point.w_best, point.b_best, point.gap = F, point.w, point.b, gap
        points = far


def _rose(point: PathPoint, F: float, gap: float) -> bool:
    """Whether F is above the best. Where that may be the rounding of a sum over rows, the gap tells a good step."""
    above = worse(F, point.best, sum_rounding(point.problem.data.n_rows))
    return above or (worse(F, point.best) and not gap < point.gap)


def _read_points(points: list[PathPoint], features: np.ndarray | None) -> None:
    """The first-order means at each model, and its curvature over these features, if any: one pass for all."""
    features = features if features is not None and len(features) else None
    data, loss = points[0].problem.data, points[0].problem.loss
    of_rows = by_rows(data, loss, [(point.w, point.b) for point in points])
    parts = [
        pass_part(replace(point.problem, loss=its_loss), point.w, point.b, features, features)
        for point, its_loss in zip(points, of_rows, strict=True)
    ]
    sums = data.sum(lambda chunk: tuple(part(chunk) for part in parts))
    for point, its_sums in zip(points, sums, strict=True):
        point.at = summarise(its_sums[0], point.w, point.b)
        if features is not None:
            point.curvature = curvature_of(point.problem, NOTHING, features, its_sums[-1])

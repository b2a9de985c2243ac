"""Newton steps on a working set, one pass after the other: what `exact` does once it has a start."""

from collections.abc import Generator
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem, gap_unit
from riata.outcome.reasons import StopReason
from riata.solvers.convex.columns.all_columns import NO_PAST
from riata.solvers.convex.columns.anchored_columns import AnchoredColumns
from riata.solvers.convex.columns.gathered_columns import GatheredColumns
from riata.solvers.convex.columns.restricted import sum_rounding
from riata.solvers.convex.inner_method import InnerModel, Step, all_columns, settles_within_a_pass, without_curvature
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.quadratics.curvature import FAST, NOTHING, ROUGH_PRECISION, Curvature
from riata.solvers.convex.smooth_step import smooth_step
from riata.solvers.convex.watched import most_are_pulled, watched
from riata.solvers.convex.working_set import (
    CUTS,
    MIN_JOINING,
    SLOW,
    STEP_PRECISION,
    AnyCurvature,
    Known,
    WorkingSetState,
    cut_back,
    grown,
    local_problem,
    passes_are_cheap,
    read,
    without_rounding,
    worse,
)
from riata.solvers.iterate import Iterate, Options, Saved

MIN_JOINING_FROM_DISK = 512  # in place of MIN_JOINING, where a pass costs more than a large working set
LAST_SHARE = 0.5  # of the gap that is asked for, where all features are in a step
LARGE_BUDGET = 1 << 28  # bytes, from which on a working set of that many features does no harm
SLOWLY_ENOUGH = 1e-3  # of the gap at hand, in place of `Care.enough`, after a step that left more of it than FAST
WORTH_A_PASS = 0.01  # of the gap: a step that lowers F by more
SLOW_GAIN = 0.9  # of F, where SLOW of the residual is left, too: a penalty that is not convex gives way to its tangent
LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e4  # of a mean curvature: where steps by the tangent lead too far to gain,
MORE_DAMPING, LESS_DAMPING = 100.0, 0.3  # as by a curvature that is nearly singular; each step takes some back
STALLED = 3  # steps that lower neither F nor the gap: only rounding is left


class Care(NamedTuple):
    """How precisely steps are made."""

    enough: float = 0.1  # of the gap at hand, or of the one that is asked for: then a working set is solved
    precision: float = STEP_PRECISION  # of the optimality conditions


USUAL_CARE = Care()


class Reading(NamedTuple):
    """What is known of the point from which a step is made."""

    at: FirstOrder
    gap: float
    second: AnyCurvature | None = None  # where it was read with the slopes
    fast: bool = False  # whether the last step left little of the gap
    gained: float = np.inf  # by how much the last step lowered F


def newton(
    problem: Problem,
    options: Options,
    state: WorkingSetState,
    judge: Judge,
    known: Known | None = None,
    resume: Saved | None = None,
    care: Care = USUAL_CARE,
    first: int = 2,
) -> Generator[Iterate, None, StopReason]:
    """Newton steps from a state, which is updated in place, numbered from `first` on.

    No step may be worse than the point `known`.
    The first point of a resumed run is not yielded: it was yielded before it was saved. Returns why it ended.
    """
    both_orders = not passes_are_cheap(problem)
    least_gap, idle = np.inf, 0
    if resume is not None:
        least_gap, idle, first = (resume.facts[name] for name in ("least_gap", "idle", "steps"))
    for t in count(first):
        found = _read_no_worse(problem, options, state, judge, known, least_gap, both_orders)
        if found is None and (problem.penalty.convex or state.damping > MOST_DAMPING):
            break
        if found is None:
            state.damping = max(LEAST_DAMPING, MORE_DAMPING * state.damping) if state.tangent else 0.0
            state.tangent = True
            continue
        at, second, F, gap = found
        if resume is None or t > first:
            save = None if known is None else partial(state.saved, known, least_gap, idle, t, judge.slope_unit)
            yield judge.iterate(t, state.w, state.b, F, gap, save)
        no_better = known is not None and F >= known[0] and gap >= least_gap
        idle = idle + 1 if no_better and not state.damping else 0
        state.damping *= LESS_DAMPING
        if idle == STALLED:
            break
        state.judge_sample(gap, least_gap)
        if not (problem.penalty.convex or problem.loss.quadratic) and known is not None:
            state.tangent |= gap > SLOW * least_gap and F > SLOW_GAIN * known[0]
        gained = np.inf if known is None else known[0] - F
        known = F, state.w, state.b
        reading = Reading(at, gap, second, fast=gap <= FAST * least_gap, gained=gained)
        advance(problem, options, state, reading, care)
        least_gap = min(gap, least_gap)
    return StopReason.ROUNDING


def _read_no_worse(
    problem: Problem,
    options: Options,
    state: WorkingSetState,
    judge: Judge,
    known: Known | None,
    least_gap: float,
    both_orders: bool,
) -> tuple[FirstOrder, AnyCurvature | None, float, float] | None:
    """(slopes, curvature, F, gap) at the state, whose step is cut back while F is worse than at the point `known`.

    Where F rose by no more than a sum may by rounding, the least gap so far tells a good step. None, with the state
    back at that point, if F stays worse: then rounding hides what a step gains, as where a column's mean is many times
    its deviation.
    """
    for _ in range(1 + CUTS):
        at, second = read(problem, state, first=True, second=both_orders, memory=options.memory)
        assert at is not None
        F = float(at.loss + problem.penalty.value(state.w))
        # With the curvature of a quadratic loss the next step is as good from any point, such as a sample's minimum.
        exact = second is not None and problem.loss.quadratic
        if known is None or exact or not worse(F, known[0], sum_rounding(problem.data.n_rows)):
            gap = judge.shortfall(problem, state.w, at)
            if known is None or exact or gap < least_gap or not worse(F, known[0]):
                return at, second, F, gap
        if not (problem.penalty.convex or state.tangent):
            break  # on the line to a lower point of its quadratic F may rise first, however short the step
        state.w, state.b = cut_back(problem, known[1:], (state.w, state.b))
    assert known is not None
    state.w, state.b = known[1:]
    return None


def advance(
    problem: Problem, options: Options, state: WorkingSetState, reading: Reading, care: Care = USUAL_CARE
) -> None:
    """Let features join, and step by the curvature: that of the reading, the one kept, or a new one (a pass)."""
    at, here = reading.at, (state.w, state.b)
    if _may_prune(problem, state):
        state.prune(problem, at)
    before = len(state.features)
    features, waiting = grown(problem, state, [at], min_joining=_least_joining(problem, options, state, at))
    joined = len(features) - before
    falling = joined > 0 and reading.gained > WORTH_A_PASS * reading.gap
    model, waiting = _inner_model(problem, options, state, reading, features, waiting, falling)
    state.gathered = model if isinstance(model, AnchoredColumns | GatheredColumns) else None
    # While F falls sweeps need not find who stays among the columns at hand: a pass brings better ones. Of sparse
    # columns, what is left undone costs more sweeps later than it saves.
    rough = waiting > 0 if state.gathered is None else state.gathered.dense and falling
    # where the same features made slow progress, what their quadratic left undone shows in the slopes
    if state.damping and isinstance(model, Curvature):
        model = model.damped(state.damping)
    slow = not (reading.fast or problem.loss.quadratic or joined > 0)
    to_the_end = model is state.all_columns or (isinstance(model, Curvature) and _settles(problem, model))
    enough = _enough(problem, options, reading, care, slow, to_the_end)
    local = local_problem(problem, state.w, state.tangent)
    found = smooth_step(problem, model, at, here) if slow and state.tangent and isinstance(model, Curvature) else None
    found = found or model.minimum(local, at, here, here, ROUGH_PRECISION if rough else care.precision, enough)
    state.w, state.b = without_rounding(problem, found, options.tol)
    state.features = features
    if model.lets_features_go:
        state.features, state.curvature = np.flatnonzero(state.w != 0.0), NOTHING
    if state.all_columns is not None:
        state.all_columns.known.forget()  # or a fit that goes on from a checkpoint would end with other bits


def _may_prune(problem: Problem, state: WorkingSetState) -> bool:
    """Whether features may leave the working set again: where passes are cheap, and what is known of others holds."""
    holds = problem.loss.quadratic or (problem.penalty.convex and isinstance(state.curvature, Curvature))
    return passes_are_cheap(problem) and holds


def _least_joining(problem: Problem, options: Options, state: WorkingSetState, at: FirstOrder) -> int:
    """How many features may join, however few are in use."""
    if len(state.features) and most_are_pulled(problem, at):  # beside the empty model the first few may explain all
        return len(at.by_w)
    small = passes_are_cheap(problem) or (options.memory or LARGE_BUDGET) < LARGE_BUDGET
    return MIN_JOINING if small else MIN_JOINING_FROM_DISK


def _inner_model(
    problem: Problem,
    options: Options,
    state: WorkingSetState,
    reading: Reading,
    features: np.ndarray,
    waiting: int,
    falling: bool,
) -> tuple[InnerModel, int]:
    """What a step over these features minimises, and how many more are waiting for the next one."""
    state.all_columns = all_columns(problem, state, features, len(features) + waiting, options.memory)
    state.past = NO_PAST
    if state.all_columns is not None and state.all_columns.serves(problem.penalty):
        return state.all_columns, waiting
    others = None if waiting else partial(watched, problem, reading.at, features, int(np.count_nonzero(state.w)))
    step = Step(memory=options.memory, rough=falling, at_hand=state.gathered, watched=others)
    columns = without_curvature(problem, features, step)
    if columns is not None:
        return columns, waiting
    if reading.second is not None:
        state.curvature = reading.second
        waiting += len(features) - len(state.features)
    elif len(features) > len(state.curvature.features) or not reading.fast:
        state.features = features
        second = read(problem, state, first=False, second=True, memory=options.memory)[1]
        state.curvature = second or state.curvature
    return state.curvature, waiting


def _settles(problem: Problem, model: Curvature) -> bool:
    """Whether to settle a working set once and for all takes less than the pass that it may save."""
    data, exactly = problem.data, problem.loss.quadratic
    return exactly and isinstance(data, InMemory) and settles_within_a_pass(data, len(model.features))


def _enough(problem: Problem, options: Options, reading: Reading, care: Care, slow: bool, to_the_end: bool) -> float:
    """The gap up to which a step minimises."""
    if not problem.penalty.convex:  # what is measured is slopes, and not a gap
        return 0.0
    asked = _asked_for(problem, options)
    if to_the_end and asked:
        return LAST_SHARE * asked
    share = min(care.enough, SLOWLY_ENOUGH) if slow else care.enough
    return share * max(min(reading.gap, reading.at.loss), asked)


def _asked_for(problem: Problem, options: Options) -> float:
    """The gap that is asked for, in the units of F."""
    if not (options.tol and problem.data.cheap_passes):
        return 0.0
    with problem.data.ledger.monitoring():
        return options.tol * gap_unit(problem)

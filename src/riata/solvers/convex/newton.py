"""Newton steps on a working set, one pass after the other: what `exact` does once it has a start."""

from collections.abc import Generator
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from riata.objective import FirstOrder, Problem, gap_unit
from riata.outcome.reasons import StopReason
from riata.solvers.convex.all_columns import NO_PAST, AllColumns
from riata.solvers.convex.anchored_columns import AnchoredColumns
from riata.solvers.convex.curvature import FAST, NOTHING, ROUGH_PRECISION, Curvature
from riata.solvers.convex.gathered_columns import GatheredColumns
from riata.solvers.convex.inner_method import InnerModel, all_columns, without_curvature
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.restricted import sum_rounding
from riata.solvers.convex.smooth_step import smooth_step
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
STALLED = 3  # steps that lower neither F nor the gap: only rounding is left


class Care(NamedTuple):
    """How precisely steps are made."""

    enough: float = 0.1  # of the gap at hand, or of the one that is asked for: then a working set is solved
    precision: float = STEP_PRECISION  # of the optimality conditions


USUAL_CARE = Care()


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
        if found is None and (problem.penalty.convex or state.tangent):
            break
        if found is None:
            state.tangent = True
            continue
        at, second, F, gap = found
        if resume is None or t > first:
            save = None if known is None else partial(state.saved, known, least_gap, idle, t, judge.slope_unit)
            yield judge.iterate(t, state.w, state.b, F, gap, save)
        idle = idle + 1 if known is not None and F >= known[0] and gap >= least_gap else 0
        if idle == STALLED:
            break
        state.judge_sample(gap, least_gap)
        if not (problem.penalty.convex or problem.loss.quadratic) and known is not None:
            state.tangent |= gap > SLOW * least_gap and F > SLOW_GAIN * known[0]
        gained = np.inf if known is None else known[0] - F
        known = F, state.w, state.b
        advance(problem, options, state, at, gap, second, keep=gap <= FAST * least_gap, care=care, gained=gained)
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
    problem: Problem,
    options: Options,
    state: WorkingSetState,
    at: FirstOrder,
    gap: float,
    second: AnyCurvature | None = None,
    keep: bool = False,
    care: Care = USUAL_CARE,
    gained: float = np.inf,
) -> None:
    """Let features join, and step by the curvature: that read with `at`, the one kept, or a new one (a pass).

    The last step lowered F by as much as it `gained`.
    """
    cheap = passes_are_cheap(problem)
    small = cheap or (options.memory or LARGE_BUDGET) < LARGE_BUDGET
    min_joining = MIN_JOINING if small else MIN_JOINING_FROM_DISK
    if cheap and (problem.loss.quadratic or (problem.penalty.convex and isinstance(state.curvature, Curvature))):
        state.prune(problem, at)
    known_features = state.features
    features, waiting = grown(problem, state, [at], min_joining=min_joining)
    state.all_columns = all_columns(problem, state, features, len(features) + waiting, options.memory)
    state.past = NO_PAST
    all_at_once = state.all_columns is not None and state.all_columns.serves(problem.penalty)
    model: InnerModel | None = state.all_columns if all_at_once else None
    joined = len(features) - len(known_features)
    falling = joined > 0 and gained > WORTH_A_PASS * gap
    model = model or without_curvature(problem, features, rough=falling, memory=options.memory, at_hand=state.gathered)
    if model is None:
        if second is not None:
            state.curvature = second
            waiting += len(features) - len(state.features)
        elif len(features) > len(state.curvature.features) or not keep:
            state.features = features
            second = read(problem, state, first=False, second=True, memory=options.memory)[1]
            state.curvature = second or state.curvature
        model = state.curvature
    here = state.w, state.b
    columns = model if isinstance(model, AnchoredColumns | GatheredColumns) else None
    state.gathered = columns
    rough = waiting > 0
    if columns is not None:
        # While F falls sweeps need not find who stays among the columns at hand: a pass brings better ones. Of sparse
        # columns, what is left undone costs more sweeps later than it saves.
        rough = columns.dense and falling
    precision = ROUGH_PRECISION if rough else care.precision
    # where the same features made slow progress, what their quadratic left undone shows in the slopes
    slow = not (keep or problem.loss.quadratic or joined > 0)
    share, asked = min(care.enough, SLOWLY_ENOUGH) if slow else care.enough, _asked_for(problem, options)
    enough = share * max(min(gap, at.loss), asked)
    if all_at_once and asked:
        enough = LAST_SHARE * asked
    if not problem.penalty.convex:  # what is measured is slopes, and not a gap
        enough = 0.0
    local = local_problem(problem, state.w, state.tangent)
    found = smooth_step(problem, model, at, here) if slow and state.tangent and isinstance(model, Curvature) else None
    found = found or model.minimum(local, at, here, here, precision, enough)
    state.w, state.b = without_rounding(problem, found, options.tol)
    state.features = features
    if isinstance(model, AnchoredColumns | GatheredColumns | AllColumns):  # features that came to nothing leave
        state.features, state.curvature = np.flatnonzero(state.w != 0.0), NOTHING
    if isinstance(model, AllColumns):
        model.known.forget()  # or a fit that goes on from a checkpoint would end with other bits


def _asked_for(problem: Problem, options: Options) -> float:
    """The gap that is asked for, in the units of F."""
    if not (options.tol and problem.data.cheap_passes):
        return 0.0
    with problem.data.ledger.monitoring():
        return options.tol * gap_unit(problem)

"""The minimum with a certificate, in a few passes over data of any size: Newton steps on a working set.

A first-order pass at (w, b) gives the slopes g of all d features, F and a certified gap. Features whose |g_j| exceeds
l1_j join the working set W, at most as many as the model has. A second-order pass gives the curvature over W alone, and
the next point minimises the penalised quadratic of slopes and curvature. For a squared loss that is F itself. For other
losses the curvature is kept while steps with it converge fast, and a step that does not lower F is cut back.

Large data is first solved on a sample of its rows: the minimum, W and the curvature there are near those of all rows.
Out of core a single pass gives slopes and curvature, the latter for the features that joined after the pass before.
Where the columns of W are small and in memory, F itself is minimised over a copy of them, in place of its quadratic
(`column_copy`).
"""

from collections.abc import Generator
from dataclasses import replace
from functools import partial
from itertools import count, islice

import numpy as np

from riata.data.sample import sample_rows
from riata.objective import FirstOrder, Problem, empty_start, first_order, gap_unit
from riata.outcome.reasons import StopReason
from riata.solvers.convex.curvature import NOTHING
from riata.solvers.convex.gathered_columns import GatheredColumns
from riata.solvers.convex.inner_method import InnerModel, without_curvature
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.working_set import (
    CUTS,
    MIN_JOINING,
    STEP_PRECISION,
    AnyCurvature,
    Known,
    WorkingSetState,
    cut_back,
    grown,
    local_problem,
    passes_are_cheap,
    read,
    sum_rounding,
    without_rounding,
    worse,
)
from riata.solvers.iterate import Iterate, Options, Saved

MIN_JOINING_FROM_DISK = 512  # in place of MIN_JOINING, where a pass costs more than a large working set
LARGE_BUDGET = 1 << 28  # bytes, from which on a working set of that many features does no harm
FAST = 0.1  # a curvature is kept while a step reduces the gap to this share
ROUGH_PRECISION = 1e-3  # of a step while more features are to join
SAMPLE_STEPS = 20  # on a sample, at most
ENOUGH = 0.1  # of the gap at hand, or of the one that is asked for: how precisely a working set is solved
STALLED = 3  # steps that lower neither F nor the gap: only rounding is left


def exact(problem: Problem, options: Options) -> Generator[Iterate, None, StopReason]:
    """One iterate after every first-order pass, each with its certified gap."""
    if options.resume is not None:
        state, known = WorkingSetState.resumed(options.resume, problem.n_coefficients, problem.loss.n_outputs)
        judge = Judge(options.resume.facts["slope_unit"])
        return (yield from newton(problem, options, state, judge, known, options.resume))
    start = problem.start or empty_start(problem)
    w, b, at = start
    F = float(at.loss + problem.penalty.value(w))
    judge = Judge.of(problem, start)
    gap = judge.shortfall(problem, w, at)
    yield judge.iterate(1, w, b, F, gap)
    state = WorkingSetState(w, b, np.flatnonzero(w))
    sample = sample_rows(problem.data, options.memory, options.seed) if problem.penalty.convex else None
    if sample is None:
        _advance(problem, options, state, at, gap)
    else:
        on_sample = replace(problem, data=sample, empty=None)
        on_sample = on_sample if problem.empty is None else replace(on_sample, empty=empty_start(on_sample))
        steps = newton(on_sample, options, state, judge)
        for point in islice(steps, SAMPLE_STEPS):
            if judge.near(point, F):
                break
        if problem.loss.quadratic:
            state.curvature = NOTHING  # that of all rows is read once and kept for all further steps
        if problem.loss.n_outputs > 1:  # products of coefficients of all pairs of outputs: many times a pass for slopes
            state.sample = on_sample
        if not problem.data.cheap_passes:
            state.features = _near_sample_minimum(on_sample, state)
    return (yield from newton(problem, options, state, judge, known=(F, w, b)))


def newton(
    problem: Problem,
    options: Options,
    state: WorkingSetState,
    judge: Judge,
    known: Known | None = None,
    resume: Saved | None = None,
) -> Generator[Iterate, None, StopReason]:
    """Newton steps from a state, which is updated in place. No step may be worse than the point `known`.

    The first point of a resumed run is not yielded: it was yielded before it was saved. Returns why it ended.
    """
    both_orders = not passes_are_cheap(problem)
    least_gap, idle, first = np.inf, 0, 2
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
        known = F, state.w, state.b
        _advance(problem, options, state, at, gap, second, keep=gap <= FAST * least_gap)
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


def _near_sample_minimum(sample: Problem, state: WorkingSetState) -> np.ndarray:
    """The features of a sample's minimum, and as many more that are pulled most there: the likely ones of all rows."""
    used = WorkingSetState(state.w, state.b, np.flatnonzero(state.w))
    return grown(sample, used, [first_order(sample, state.w, state.b)], least=0.0)[0]


def _advance(
    problem: Problem,
    options: Options,
    state: WorkingSetState,
    at: FirstOrder,
    gap: float,
    second: AnyCurvature | None = None,
    keep: bool = False,
) -> None:
    """Let features join, and step by the curvature: that read with `at`, the one kept, or a new one (a pass)."""
    cheap = passes_are_cheap(problem)
    small = cheap or (options.memory or LARGE_BUDGET) < LARGE_BUDGET
    min_joining = MIN_JOINING if small else MIN_JOINING_FROM_DISK
    if cheap and problem.loss.quadratic:
        state.prune(problem, at)
    features, waiting = grown(problem, state, [at], min_joining=min_joining)
    model: InnerModel | None = without_curvature(problem, features)
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
    precision, enough = (
        ROUGH_PRECISION if waiting else STEP_PRECISION,
        ENOUGH * max(min(gap, at.loss), _asked_for(problem, options)),
    )
    local = local_problem(problem, state.w, state.tangent)
    found = model.minimum(local, at, here, here, precision, enough)
    state.w, state.b = without_rounding(problem, found, options.tol)
    state.features = features
    if isinstance(model, GatheredColumns):  # features that came to nothing leave
        state.features, state.curvature = np.flatnonzero(state.w), NOTHING


def _asked_for(problem: Problem, options: Options) -> float:
    """The gap that is asked for, in the units of F."""
    if not (options.tol and problem.data.cheap_passes):
        return 0.0
    with problem.data.ledger.monitoring():
        return options.tol * gap_unit(problem)

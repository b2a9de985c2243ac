"""The batch answer with a certificate, in a few passes over data of any size: Newton steps on a working set.

A first-order pass at (w, b) gives the slopes g of all d features, F and a certified gap. Features whose |g_j| exceeds
l1_j join the working set W, as many again as there are in the model. A second-order pass gives the curvature over W
alone, and the next point minimises the penalised quadratic that the two make. For a squared loss this is the problem
itself. For other losses the curvature is kept while it serves, and a step that does not lower F is cut back.

Many rows are first solved on a sample of them: its answer, its W and its curvature are near those of all rows. Out of
core a single pass does both orders, the second for features that wanted in after the pass before. Where the columns of
W are small and in memory, F itself is minimised over a copy of them in place of its quadratic (`column_copy`).
"""

from collections.abc import Generator
from dataclasses import replace
from functools import partial
from itertools import count, islice

import numpy as np

from riata.data.sample import sample_rows
from riata.objective import FirstOrder, Problem, empty_start, first_order
from riata.outcome.reasons import StopReason
from riata.solvers.convex.column_copy import ColumnCopy, column_copy
from riata.solvers.convex.curvature import NOTHING, Curvature
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.working_set import CUTS, DAMPED, FINE, FIRST, WorkingSetState, cut_back, grown, read, worse
from riata.solvers.iterate import Iterate, Options

FIRST_AHEAD = 512  # features that join at least, where passes are dear
ROOMY = 1 << 28  # bytes of budget from which on a large working set does no harm
KEEPS = 0.1  # a curvature is kept while a step cuts the gap to this share
ROUGH = 1e-3  # precision of a step while features have to wait
SAMPLE_STEPS = 20  # a sample is not worth more time
STALLED = 3  # steps in which neither F nor the gap got smaller: rounding is all that is left


def exact(problem: Problem, options: Options) -> Generator[Iterate, None, StopReason]:
    """One iterate after every first-order pass, each with its certified gap."""
    if options.resume is not None:
        arrays, facts = options.resume
        known = facts["known_F"], arrays["known"], facts["known_b"]
        judge = Judge(facts["slope_unit"])
        return (
            yield from newton(problem, options, WorkingSetState.resumed(options.resume), judge, known, options.resume)
        )
    start = problem.start or empty_start(problem)
    w, b, at = start
    F = float(at.loss + problem.penalty.value(w))
    judge = Judge.of(problem, start)
    yield judge.iterate(1, w, b, F, judge.shortfall(problem, w, at))
    state = WorkingSetState(w, b, np.flatnonzero(w))
    sample = sample_rows(problem.data, options.memory, options.seed)
    if sample is None:
        _advance(problem, options, state, at)
    else:
        steps = newton(replace(problem, data=sample), options, state, judge)
        for point in islice(steps, SAMPLE_STEPS):
            if judge.near(point, F):
                break
        if problem.loss.quadratic:
            state.curvature = NOTHING  # only that of all rows can serve all further steps
        if not problem.data.cheap_passes:
            state.features = _likely(replace(problem, data=sample), state)
    return (yield from newton(problem, options, state, judge, known=(F, w, b)))


def newton(
    problem: Problem, options: Options, state: WorkingSetState, judge: Judge, known=None, resume=None
) -> Generator[Iterate, None, StopReason]:
    """Newton steps from a state, which is kept up to date. No step may be worse than the point `known`, (F, w, b).

    The first point of a run that goes on was yielded before it was saved. Returns why it ended.
    """
    ahead = not problem.data.cheap_passes
    last_gap, idle, first = np.inf, 0, 2
    if resume is not None:
        last_gap, idle, first = (resume.facts[name] for name in ("last_gap", "idle", "steps"))
    for t in count(first):
        found = _read_no_worse(problem, options, state, known, ahead)
        if found is None and problem.penalty.convex:
            break
        if found is None:  # along a line towards a lower model, F may rise first: a step on more curvature may not
            state.damping *= DAMPED
            continue
        at, second, F = found
        gap = judge.shortfall(problem, state.w, at)
        if resume is None or t > first:
            save = None if known is None else partial(state.saved, known, last_gap, idle, t, judge.slope_unit)
            yield judge.iterate(t, state.w, state.b, F, gap, save)
        idle = idle + 1 if known is not None and F >= known[0] and gap >= last_gap else 0
        if idle == STALLED:
            break
        if idle == 0:
            state.damping = 1.0
        known = F, state.w, state.b
        _advance(problem, options, state, at, second, keep=gap <= KEEPS * last_gap)
        last_gap = gap
    return StopReason.ROUNDING


def _read_no_worse(problem, options, state: WorkingSetState, known, ahead):
    """(slopes, curvature, F), cut back while F is worse than at the point known; None, and that point, if it stays so.

    Then rounding hides what a step gains, as where a column's mean is many times its deviation.
    """
    for _ in range(1 + CUTS):
        at, second = read(problem, state, first=True, second=ahead, memory=options.memory)
        F = float(at.loss + problem.penalty.value(state.w))
        exact = second is not None and problem.loss.quadratic  # the next step is as good from a bad sample's answer
        if known is None or exact or not worse(F, known[0]):
            return at, second, F
        state.w, state.b = cut_back(problem, known[1:], (state.w, state.b))
    state.w, state.b = known[1:]
    return None


def _likely(sample: Problem, state: WorkingSetState):
    """The features of a sample's answer, and as many again that are nearest to it: what all rows may well ask for."""
    used = WorkingSetState(state.w, state.b, np.flatnonzero(state.w))
    return grown(sample, used, [first_order(sample, state.w, state.b)], least=0.0)[0]


def _advance(problem, options, state: WorkingSetState, at: FirstOrder, second=None, keep=False):
    """Let features in, and step on the curvature: that read with `at`, that kept, or a new one (a pass)."""
    first = FIRST if problem.data.cheap_passes or (options.memory or ROOMY) < ROOMY else FIRST_AHEAD
    features, waiting = grown(problem, state, [at], first=first)
    model: ColumnCopy | Curvature | None = column_copy(problem, features)
    if model is None:
        if second is not None:
            state.curvature = second
            waiting += len(features) - len(state.features)
        elif len(features) > len(state.features) or not keep:
            state.features = features
            second = read(problem, state, first=False, second=True, memory=options.memory)[1]
            state.curvature = second or state.curvature
        model = state.curvature.times(state.damping)
    here = state.w, state.b
    state.w, state.b = model.minimum(problem, at, here, here, ROUGH if waiting else FINE)
    state.features = features

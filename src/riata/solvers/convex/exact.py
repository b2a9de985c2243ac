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
from itertools import islice

import numpy as np

from riata.data.sample import sample_rows
from riata.objective import Problem, empty_start, first_order
from riata.outcome.reasons import StopReason
from riata.solvers.convex.compiled_paths.first_model import first_model
from riata.solvers.convex.from_above import Steps, may_crawl, or_from_above
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.newton import Reading, advance, newton
from riata.solvers.convex.quadratics.curvature import NOTHING
from riata.solvers.convex.smoothing import by_smoothing
from riata.solvers.convex.working_set import WorkingSetState, grown
from riata.solvers.iterate import Iterate, Options

SAMPLE_STEPS = 20  # on a sample, at most


def exact(problem: Problem, options: Options) -> Generator[Iterate, None, StopReason]:
    """One iterate after every first-order pass, each with its certified gap."""
    if problem.loss.kinked:
        return (yield from by_smoothing(problem, options))
    if options.resume is not None:
        state, known = WorkingSetState.resumed(options.resume, problem)
        judge = Judge(options.resume.facts.get("slope_unit"))
        return (
            yield from _patiently(
                problem, options, judge, newton(problem, options, state, judge, known, options.resume)
            )
        )
    start = problem.start or empty_start(problem)
    w, b, at = start
    F = float(at.loss + problem.penalty.value(w))
    judge = Judge.of(problem, start)
    gap = judge.shortfall(problem, w, at)
    yield judge.iterate(1, w, b, F, gap)
    state = WorkingSetState(w, b, np.flatnonzero(w != 0.0))
    sample = sample_rows(problem.data, options.memory, options.seed) if problem.penalty.convex else None
    found = first_model(problem, options, start) if sample is None else None
    if found is not None:
        state.w, state.b = found
        state.features = np.flatnonzero(state.w != 0.0)
    elif sample is None:
        advance(problem, options, state, Reading(at, gap))
    else:
        on_sample = replace(problem, data=sample, empty=None)
        on_sample = on_sample if problem.empty is None else replace(on_sample, empty=empty_start(on_sample))
        steps = newton(on_sample, options, state, judge)
        for point in islice(steps, SAMPLE_STEPS):
            if judge.near(point, F):
                break
        state.gathered = state.all_columns = None  # they have the rows of the sample
        if problem.loss.quadratic or not state.curvature.is_local:
            state.curvature = NOTHING  # that of all rows is read once and kept for all further steps
        elif (
            problem.loss.n_outputs > 1
        ):  # products of coefficients of all pairs of outputs: many times a pass for slopes
            state.sample = on_sample
        if not problem.data.cheap_passes:
            state.features = _near_sample_minimum(on_sample, state)
    return (yield from _patiently(problem, options, judge, newton(problem, options, state, judge, known=(F, w, b))))


def _patiently(problem: Problem, options: Options, judge: Judge, steps: Steps) -> Steps:
    """These steps, and other ways where they may crawl."""
    return or_from_above(problem, options, judge, steps) if may_crawl(problem) else steps


def _near_sample_minimum(sample: Problem, state: WorkingSetState) -> np.ndarray:
    """The features of a sample's minimum, and as many more that are pulled most there: the likely ones of all rows."""
    used = WorkingSetState(state.w, state.b, np.flatnonzero(state.w != 0.0))
    return grown(sample, used, [first_order(sample, state.w, state.b)], least=0.0)[0]

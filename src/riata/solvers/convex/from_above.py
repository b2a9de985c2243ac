"""The minimum by way of those of larger penalties, where Newton steps crawl.

Where the features can nearly put the times of events in order, risks differ by hundreds of powers of e, and the loss is
nearly one of corners: a step moves no margin by more than about 1. The minimum of a somewhat larger penalty is near,
and a few steps lead from one to the next.
"""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from riata.objective import Problem, empty_start, gap_unit, pulls
from riata.outcome.reasons import StopReason
from riata.penalties.penalty import largest_ratio
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.newton import newton
from riata.solvers.convex.working_set import WorkingSetState
from riata.solvers.iterate import Iterate, Options

CRAWLING = 20  # steps, after which a gap of more than
FAR = 0.02  # of the empty model's loss says that they crawl
FALL = 0.5  # of the penalty, from one minimum to the next
NEAR = 1e-3  # of the empty model's loss: a gap that is less ends the steps at one of them,
MOST_STEPS = 8  # or so many

Steps = Generator[Iterate, None, StopReason]


def or_from_above(problem: Problem, options: Options, judge: Judge, steps: Steps) -> Steps:
    """These steps, or others once they crawl. The points on the way are judged by their F alone."""
    unit = gap_unit(problem)
    while True:
        try:
            point = next(steps)
        except StopIteration as end:
            reason: StopReason = end.value
            return reason
        crawls = point.steps == CRAWLING and point.gap is not None and point.gap > FAR * unit
        yield point._replace(save=None) if crawls else point  # a fit that goes on finds out again that they crawl
        if crawls:
            return (yield from _from_above(problem, options, judge, unit))


def _from_above(problem: Problem, options: Options, judge: Judge, unit: float) -> Steps:
    w, b, at = empty_start(problem)
    state, t = WorkingSetState(w, b, np.flatnonzero(w)), CRAWLING
    times = FALL * largest_ratio(*pulls(problem.penalty, at.by_w))
    while times > 1.0:
        larger = replace(problem, penalty=problem.penalty.scaled(factors=times), start=None)
        for steps, point in enumerate(newton(larger, options, state, judge), 1):
            t += 1
            F = (point.objective or 0.0) - larger.penalty.value(point.coef) + problem.penalty.value(point.coef)
            yield Iterate(point.coef, point.intercept, t, F)
            if steps == MOST_STEPS or (point.gap is not None and point.gap <= NEAR * unit):
                break
        times *= FALL
    return (yield from newton(problem, options, state, judge, first=t + 1))

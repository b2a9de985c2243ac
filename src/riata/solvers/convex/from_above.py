"""The minimum by way of those of easier problems, where Newton steps crawl.

Where the features can nearly put the times of events in order, risks differ by hundreds of powers of e, and the loss is
nearly one of corners: a step moves no margin by more than about 1. The minimum of a somewhat larger penalty is near,
and a few steps lead from one to the next. A Huber loss whose bend is tiny beside all residuals is nearly one of
corners, too: there the way leads by bends that are further out, with penalties that are larger by as much.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from riata.objective import Problem, empty_start, first_order, gap_unit, pulls
from riata.outcome.reasons import StopReason
from riata.penalties import ElasticNet, GroupLasso, SeparablePenalty
from riata.penalties.penalty import largest_ratio
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.newton import newton
from riata.solvers.convex.working_set import WorkingSetState
from riata.solvers.iterate import Iterate, Options

CRAWLING = 20  # steps, after which a gap of more than
FAR = 0.02  # of the empty model's loss says that they crawl
FALL = 0.5  # of the penalty, or of the bend, from one minimum to the next
NEAR = 1e-3  # of the empty model's loss: a gap that is less ends the steps at one of them,
MOST_STEPS = 8  # or so many

Steps = Generator[Iterate, None, StopReason]


def may_crawl(problem: Problem) -> bool:
    """Whether there are easier problems on the way, should steps crawl."""
    bends = problem.loss.bent_at(2.0) is not None
    if isinstance(problem.penalty, ElasticNet | GroupLasso):
        return bends or problem.loss.couples_rows
    return bends and isinstance(problem.penalty, SeparablePenalty)


def or_from_above(problem: Problem, options: Options, judge: Judge, steps: Steps) -> Steps:
    """These steps, or others once they crawl: then one point for each problem on the way."""
    unit = gap_unit(problem)
    while True:
        try:
            point = next(steps)
        except StopIteration as end:
            reason: StopReason = end.value
            return reason
        crawls = point.steps == CRAWLING and _shortfall(point, unit) > FAR
        yield point._replace(save=None) if crawls else point  # a fit that goes on finds out again that they crawl
        if crawls:
            return (yield from _from_above(problem, options, judge))


def _from_above(problem: Problem, options: Options, judge: Judge) -> Steps:
    w, b, _ = empty_start(problem)
    state, t = WorkingSetState(w, b, np.flatnonzero(w)), CRAWLING
    for easier in _easier(problem):
        unit = gap_unit(easier)
        for point in islice(newton(easier, options, state, judge), MOST_STEPS):
            if _shortfall(point, unit) <= NEAR:
                break
        w, b, t = point.coef, point.intercept, t + 1
        at = first_order(problem, w, b)
        yield judge.iterate(t, w, b, float(at.loss + problem.penalty.value(w)), judge.shortfall(problem, w, at))
    return (yield from newton(problem, options, state, judge, first=t + 1))


def _shortfall(point: Iterate, unit: float) -> float:
    """How far a point is from the minimum, as a share: by its residual, or by its gap in this unit."""
    if point.residual is not None:
        return point.residual
    return 0.0 if point.gap is None else point.gap / unit


def _easier(problem: Problem) -> Iterator[Problem]:
    """Problems on the way to this one, the easiest first."""
    data = problem.data
    if problem.loss.bent_at(2.0) is None:
        times = FALL * largest_ratio(*pulls(problem.penalty, empty_start(problem).at.by_w))
    else:
        moments = data.target_moments
        times = float(np.sqrt(moments.y_squares / moments.weight)) / (problem.loss.parameter or np.inf)
    while times > 1.0:
        loss = problem.loss.bent_at(times) or problem.loss
        yield replace(problem, loss=loss, penalty=problem.penalty.scaled(factors=times), start=None, empty=None)
        times *= FALL

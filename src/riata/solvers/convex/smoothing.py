"""Losses with a kink: Newton steps on a smoothed loss, whose width falls until the gap of the loss itself is small.

The minimum for one width is where the search for that of a smaller one begins, with a step that sees what the smaller
width will change (as interior-point methods do; Portnoy & Koenker, 1997). A slope of the smoothed loss is one of the
loss itself, so that a pass certifies a gap for the loss itself: that of the smoothed problem, and about two widths.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from riata.data.sample import sample_rows
from riata.losses import Loss
from riata.objective import (
    FirstOrder,
    Problem,
    best_slopes,
    duality_gap,
    empty_intercept,
    empty_start,
    gap_unit,
    smoothed_part,
    summarise,
    summarise_smoothed,
)
from riata.outcome.reasons import StopReason
from riata.solvers.convex.judge import SAMPLE_PRECISION, Judge
from riata.solvers.convex.newton import Care, newton
from riata.solvers.convex.quadratics.curvature import NOTHING, Point
from riata.solvers.convex.working_set import WorkingSetState, check_memory, pass_part
from riata.solvers.iterate import Iterate, Options, Saved
from riata.solvers.saved_checks import check_facts, restoring

FALL = 0.3  # of the width, from one to the next
SOLVED = 1.0  # width: a smoothed problem is solved up to such a gap,
OF_ASKED = 0.5  # or this share of the gap that is asked for, once the width itself costs less than that
STEPS, CHEAP_STEPS = 40, 400  # at one width, at most; and where passes are cheap
CARE = Care(1e-3, 1e-10)  # where a kink is nearly one slopes change a lot with margins, and have fewer digits
OF_GAP = 0.5  # is the width that loses about as much
NARROWEST = 1e-10  # of F: slopes at smaller widths are rounding
IDLE = 2  # widths in a row that do not lower the gap: only rounding is left
GAP = Judge(None)


def by_smoothing(problem: Problem, options: Options) -> Generator[Iterate, None, StopReason]:
    """One iterate for every width, each with the certified gap of the loss itself."""
    if options.resume is not None:
        state, stage, steps = _resumed(options.resume, problem)
        if stage is not None:
            yield from _iterates(problem, options, state, stage, steps + 1)
        return StopReason.ROUNDING
    w, b, at = problem.start or empty_start(problem)
    yield Iterate(w, b, 1, float(at.loss + problem.penalty.value(w)), duality_gap(problem, w, at))
    state = WorkingSetState(w, b, np.flatnonzero(w))
    sample = sample_rows(problem.data, options.memory, options.seed)
    if sample is not None:
        at = _solve_sample(replace(problem, data=sample, start=None, empty=None), problem, options, state, at)
    yield from _iterates(problem, options, state, Stage(first_width(problem, state.w, at)), 2)
    return StopReason.ROUNDING


def first_width(problem: Problem, w: np.ndarray, at: FirstOrder) -> float:
    """The width to begin with at a point: one that loses about as much as the point does."""
    return OF_GAP * min(duality_gap(problem, w, at), at.loss + problem.penalty.value(w))


class Stage(NamedTuple):
    """A width, the least gap at larger ones, and how many of these in a row have not lowered it."""

    width: float
    least_gap: float = np.inf
    idle: int = 0

    def after(self, F: float, gap: float) -> "Stage | None":
        """The next one, if this one came to such an F and gap; None where rounding is all that is left."""
        idle = 0 if gap < self.least_gap else self.idle + 1
        if idle == IDLE or self.width <= NARROWEST * F:
            return None
        return Stage(FALL * self.width, min(gap, self.least_gap), idle)


class Minimum(NamedTuple):
    """The minimum for one width, as the loss itself sees it; the state has the point."""

    at: FirstOrder
    F: float
    gap: float
    stage: Stage | None  # the next one
    start: Point  # where that begins


def _iterates(
    problem: Problem, options: Options, state: WorkingSetState, stage: Stage, first: int
) -> Iterator[Iterate]:
    for t, found in enumerate(minima(problem, options, state, stage), first):
        yield Iterate(state.w, state.b, t, found.F, found.gap, save=partial(_saved, state, found, t))


def minima(problem: Problem, options: Options, state: WorkingSetState, stage: Stage) -> Iterator[Minimum]:
    """Those for falling widths from a state, which is updated in place, until rounding is all that is left."""
    quiet, asked = replace(options, tol=0.0, resume=None), (options.tol or 0.0) * gap_unit(problem)
    while True:
        width = stage.width
        at, smoothed_gap, ahead = _look(problem, options, state, width)
        enough = _enough(problem, state, at, smoothed_gap, width, asked)
        while smoothed_gap > enough:
            smooth = _smoothed(problem, problem.loss.smoothed(width))
            if not len(state.features):  # a step over no features leaves the intercept, which depends on the width
                state.b = float(empty_intercept(smooth))
            steps = CHEAP_STEPS if problem.data.cheap_passes else STEPS
            for point in islice(newton(smooth, quiet, state, GAP, care=CARE), steps):
                if point.gap is not None and point.gap <= enough:
                    break
            solved_to, (at, smoothed_gap, ahead) = enough, _look(problem, options, state, width)
            enough = _enough(problem, state, at, smoothed_gap, width, asked)
            if enough == solved_to:
                break
        F, gap = float(at.loss + problem.penalty.value(state.w)), duality_gap(problem, state.w, at)
        found = Minimum(at, F, gap, stage.after(F, gap), ahead or (state.w, state.b))
        yield found
        if found.stage is None:
            return
        stage, (state.w, state.b) = found.stage, found.start


def _enough(
    problem: Problem, state: WorkingSetState, at: FirstOrder, smoothed_gap: float, width: float, asked: float
) -> float:
    """The gap up to which the smoothed problem is to be solved at this width."""
    gap = duality_gap(problem, state.w, at)
    last = gap > asked and gap - smoothed_gap <= OF_ASKED * asked  # then a smaller width would gain little
    return min(SOLVED * width, OF_ASKED * asked) if last else SOLVED * width


def _look(
    problem: Problem, options: Options, state: WorkingSetState, width: float
) -> tuple[FirstOrder, float, Point | None]:
    """(the pass at the state, the gap of the smoothed problem, the minimum for the next width by a quadratic that
    foresees it, over the features in play): one reading of the rows."""
    smooth = problem.loss.smoothed(width)
    ahead = _smoothed(problem, smooth.ahead(FALL * width))
    w, b, W = state.w, state.b, state.features if len(state.features) else None
    if W is not None:
        check_memory(len(W), len(w), options.memory)
    here, there = smoothed_part(problem.loss, width, w, b), pass_part(ahead, w, b, W, W)
    sums, (slopes, *products) = problem.data.sum(lambda chunk: (here(chunk), there(chunk)))
    weight = problem.data.total_weight
    at = summarise_smoothed(sums, weight, w, b)
    gap = duality_gap(_smoothed(problem, smooth), w, at.smoothed)
    if W is None:
        return at.own, gap, None
    quadratic = NOTHING.grown(W, products[0], weight)
    foreseen = quadratic.minimum(ahead, summarise(slopes, w, b), (w, b), (w, b), CARE.precision)
    return at.own, gap, foreseen


def _smoothed(problem: Problem, loss: Loss) -> Problem:
    """The problem of a smoothed loss."""
    return replace(problem, loss=loss, start=None, empty=None)


def _solve_sample(
    sample: Problem, problem: Problem, options: Options, state: WorkingSetState, at: FirstOrder
) -> FirstOrder:
    """Bring the state to the minimum over a sample of the rows; the pass over all of them there."""
    sample = replace(sample, empty=empty_start(sample))
    for found in minima(sample, options, state, Stage(first_width(problem, state.w, at))):
        if found.gap <= SAMPLE_PRECISION * found.F:
            break
    return best_slopes(problem, state.w, state.b)


def _saved(state: WorkingSetState, found: Minimum, steps: int) -> Saved:
    """The state, where the next width begins, and that width; None where there is none."""
    width, least_gap, idle = found.stage or (None, found.gap, 0)
    arrays, facts = state.saved((found.F, *found.start), least_gap, idle, steps, None)
    return Saved(arrays, facts | {"width": width})


@restoring()
def _resumed(saved: Saved, problem: Problem) -> tuple[WorkingSetState, Stage | None, int]:
    """The state where the next width begins, that width, and the number of steps."""
    state, (_, *start) = WorkingSetState.resumed(saved, problem)
    check_facts(saved.facts, {"width": float | None})
    state.w, state.b = start
    width, least_gap, idle, steps = (saved.facts[name] for name in ("width", "least_gap", "idle", "steps"))
    return state, None if width is None else Stage(width, least_gap, idle), steps

"""The least objective with given features, for losses of several margins a row or whose rows go together.

Newton steps, over a copy of the columns of these features. A step that raises F is cut back as far as needed: a level
that only rows of some classes have gets coefficients without end, of which F soon shows nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from riata.data.sample import sample_rows
from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem, Side, Start, empty_intercept, gap_unit
from riata.penalties import ElasticNet
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.convex.quadratics.targets_curvature import TargetsCurvature
from riata.solvers.convex.working_set import WorkingSetState, cut_back, read
from riata.solvers.iterate import Options
from riata.solvers.subset.local.coupled_quadratic import coefficients_of, in_units
from riata.solvers.subset.local.refit import SEPARATED, Fitted, narrowed, solved

STEPS = 60
SAMPLED = 2  # first steps by the curvature of a sample of many rows: from afar it is as good as that of all
PRECISION = 1e-11  # of the empty model's loss: how far above the least objective a fit may end,
SCORED_PRECISION = 1e-8  # and one that is scored only
REACH = 4.0  # what is left to gain is no more than so many decrements, once steps converge
DAMPING = 1e-9  # of the curvature: to all margins of softmax the same may be added
CUTS = 8  # of one step, each to less than 1/30,000 of it at most


class CoupledRefits:
    """Fits supports within some features, whose columns are read once where passes are not cheap."""

    def __init__(self, problem: Problem, features: np.ndarray, options: Options, precision: float = PRECISION):
        self._options, self._unit, self._precision = options, gap_unit(problem), precision
        l2 = np.broadcast_to(np.asarray(problem.cardinality.l2, dtype=np.float64), problem.n_coefficients)
        self._problem = replace(problem, penalty=ElasticNet(0.0, l2))
        self._features = None if problem.data.cheap_passes else features
        if self._features is not None:
            self._problem = _narrowed(self._problem, features, options.memory)

    def fit(self, features: np.ndarray, start: Point, base: Point | None = None, target: float = np.inf) -> Fitted:
        """The best model of these features, from the better of a start and what they have of a base, or are without.

        A fit that cannot end below the target is abandoned early.
        """
        places = features if self._features is None else np.searchsorted(self._features, features)
        problem = _narrowed(self._problem, places, self._options.memory)
        mine = coefficients_of(features, problem.loss.n_outputs)
        nothing = np.zeros(len(mine)), empty_intercept(problem)
        starts = [nothing if base is None else (base[0][mine], base[1]), (start[0][mine], start[1])]
        state, at, F = self._best_of(problem, starts)
        if not F <= self._unit and base is not None:  # a base without some of its features may be far off
            state, at, F = self._best_of(problem, [nothing])
        state.sample = self._sample(problem)
        for steps in range(STEPS):
            if steps == SAMPLED:
                state.sample = None
            here, (there, decrement) = (state.w, state.b), _newton_step(problem, state, at)
            known, F_known, at_known = here, F, at
            hopeless = steps > 0 and F - REACH * decrement > target
            if decrement <= self._precision * self._unit or hopeless or F <= SEPARATED * self._unit:
                break
            for _ in range(CUTS):
                state.w, state.b = there
                at = _first_order(problem, state)
                F = _objective(problem, state, at)
                if F < F_known:
                    break
                there = cut_back(problem, known, there)
            else:  # rounding hides what a step would gain
                (state.w, state.b), F, at = known, F_known, at_known
                break
        w, b = state.w, state.b
        if isinstance(problem.loss, SeveralMargins):
            w, b = problem.loss.centred(w, b)
        return Fitted(mine, w, b, float(F))

    @staticmethod
    def _best_of(problem: Problem, starts: Sequence[Point]) -> tuple[WorkingSetState, FirstOrder, float]:
        """The point of least objective, with its slopes."""
        tried = []
        for w, b in starts:
            state = WorkingSetState(w, b, np.arange(len(w)))
            at = _first_order(problem, state)
            tried.append((state, at, _objective(problem, state, at)))
        return min(tried, key=lambda one: one[2] if np.isfinite(one[2]) else np.inf)

    def first_below(self, target: float, proposals: Sequence[tuple[np.ndarray, Point]], base: Point) -> Fitted | None:
        """The first of these features with their starts, most promising first, that fits below the target, if any."""
        for features, start in proposals:
            if (fit := self.fit(features, start, base, target)).objective < target:
                return fit
        return None

    def _sample(self, problem: Problem) -> Problem | None:
        """Rows that tell how columns go together, where the products of all would take long."""
        loss = problem.loss
        if not isinstance(loss, SeveralMargins) or loss.unit_curvature:
            return None
        rows = sample_rows(problem.data, self._options.memory, self._options.seed)
        return None if rows is None else replace(problem, data=rows, empty=None)


def _first_order(problem: Problem, state: WorkingSetState) -> FirstOrder:
    with np.errstate(over="ignore", invalid="ignore"):  # a step may be too long
        at, _ = read(problem, state, first=True, second=False)
    assert at is not None
    return at


def _objective(problem: Problem, state: WorkingSetState, at: FirstOrder) -> float:
    return float(at.loss + problem.penalty.value(state.w))


def _newton_step(problem: Problem, state: WorkingSetState, at: FirstOrder) -> tuple[Point, float]:
    """Where Newton's step leads, and its decrement: about what is left to gain."""
    _, curvature = read(problem, state, first=False, second=True)
    assert curvature is not None
    assert isinstance(problem.penalty, ElasticNet)
    H, slope = curvature.quadratic(problem, at)
    l2 = np.broadcast_to(problem.penalty.l2, len(state.w))
    slope = slope + l2 * state.w
    by_output: tuple[int, ...] = ()
    if isinstance(curvature, TargetsCurvature):
        by_output, l2 = (problem.loss.n_outputs,), l2[:: problem.loss.n_outputs]
    H, unit = in_units(H, l2)
    H[np.diag_indices_from(H)] += DAMPING
    scale = unit.reshape(-1, *(1 for _ in by_output))
    step = -(solved(H, slope.reshape(-1, *by_output) / scale) / scale).ravel()
    there = curvature.moved(problem, at, (state.w, state.b), state.w + step)
    decrement = -0.5 * float(slope @ step + np.sum(at.by_b * (there[1] - state.b) * problem.fit_intercept))
    return there, abs(decrement)


def _narrowed(problem: Problem, columns: np.ndarray, memory: int | None) -> Problem:
    """The problem of an elastic net with these columns alone."""
    mine, penalty = coefficients_of(columns, problem.loss.n_outputs), problem.penalty
    assert isinstance(penalty, ElasticNet)
    data = narrowed(problem.data, columns, memory)
    scale: Any = problem.scale if np.ndim(problem.scale) == 0 else np.asarray(problem.scale)[mine]
    empty = problem.empty and Start(problem.empty.w[mine], problem.empty.b, _of(problem.empty.at, mine))
    return replace(problem, data=data, penalty=penalty.of(mine), scale=scale, empty=empty)


def _of(at: FirstOrder, mine: np.ndarray) -> FirstOrder:
    """The means of a pass, for these coefficients."""
    sides = [Side(side.by_w.ravel()[mine], side.by_b, side.conjugate) for side in (at.positive, at.negative)]
    return FirstOrder(at.loss, *sides)

"""The least objective with given features, for losses of several margins a row or whose rows go together.

Solver 'exact' makes the Newton steps, over a copy of the columns of these features.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from riata.data.chunk import Chunk
from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem, Side, Start, first_order, gap_unit
from riata.penalties import ElasticNet
from riata.solvers.convex.curvature import Point
from riata.solvers.convex.exact import exact
from riata.solvers.iterate import Options
from riata.solvers.subset.coupled_quadratic import coefficients_of
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.solvers.subset.refit import REFIT_PRECISION, SEPARATED, Fitted, cut_data

STEPS = 60
STALLED = 2  # steps in a row that gain nothing
REACH = 4.0  # what is left to gain is no more than so many times what the last step gained, once steps converge


class CoupledRefits:
    """Fits supports within some features, whose columns are read once where passes are not cheap."""

    def __init__(self, problem: Problem, features: np.ndarray, options: Options):
        self._options, self._n_features, self._unit = options, problem.data.n_features, gap_unit(problem)
        l2 = np.broadcast_to(np.asarray(problem.cardinality.l2, dtype=np.float64), problem.n_coefficients)
        self._problem = replace(problem, penalty=ElasticNet(0.0, l2))
        self._features = None if problem.data.cheap_passes else features
        if self._features is not None:
            self._problem = _narrowed(self._problem, features, options.memory)

    def fit(self, features: np.ndarray, start: Point | None = None, target: float = np.inf) -> Fitted:
        """The best model of these features, from a start or from no features at all.

        A fit that cannot end below the target is abandoned early.
        """
        places = features if self._features is None else np.searchsorted(self._features, features)
        problem = _narrowed(self._problem, places, self._options.memory)
        mine = coefficients_of(features, problem.loss.n_outputs)
        if start is not None:
            w, b = start[0][mine], start[1]
            begin = Start(w, b, first_order(problem, w, b))
            empty_is_better = not begin.at.loss + problem.penalty.value(w) <= self._unit
            problem = problem if empty_is_better else replace(problem, start=begin)
        F, idle = np.inf, 0
        w, b = np.zeros(len(mine)), np.zeros(problem.loss.n_outputs)  # there is a point at least
        options = Options(STEPS, memory=self._options.memory, seed=self._options.seed)
        for point in islice(exact(problem, options), STEPS):
            assert point.objective is not None
            gained = F - point.objective
            if gained >= 0.0:
                w, b, F = point.coef, point.intercept, point.objective
            idle = idle + 1 if gained <= REFIT_PRECISION * self._unit else 0
            hopeless = gained < np.inf and F - REACH * max(gained, 0.0) > target
            certified = point.gap is not None and point.gap <= REFIT_PRECISION * self._unit
            if certified or hopeless or idle == STALLED or F <= SEPARATED * self._unit:
                break
        if isinstance(problem.loss, SeveralMargins):
            w, b = problem.loss.centred(w, b)
        return Fitted(mine, w, b, float(F))

    def first_below(self, target: float, proposals: Sequence[tuple[np.ndarray, Point]]) -> Fitted | None:
        """The first of these features with their starts, most promising first, that fits below the target, if any."""
        for features, start in proposals:
            if (fit := self.fit(features, start, target)).objective < target:
                return fit
        return None


def _narrowed(problem: Problem, columns: np.ndarray, memory: int | None) -> Problem:
    """The problem of an elastic net with these columns alone."""
    mine, penalty = coefficients_of(columns, problem.loss.n_outputs), problem.penalty
    assert isinstance(penalty, ElasticNet)

    def cut(chunk: Chunk) -> Chunk:
        return chunk._replace(X=chunk.X.narrowed(columns))

    data = cut_data(problem.data, cut, len(columns), MEMORY_UNTOLD if memory is None else memory)
    data.facts = data.facts.but(n_features=len(columns))
    scale = problem.scale if np.ndim(problem.scale) == 0 else np.asarray(problem.scale)[mine]
    empty = problem.empty and Start(problem.empty.w[mine], problem.empty.b, _of(problem.empty.at, mine))
    return replace(problem, data=data, penalty=penalty.of(mine), scale=scale, empty=empty)


def _of(at: FirstOrder, mine: np.ndarray) -> FirstOrder:
    """The means of a pass, for these coefficients."""
    sides = [Side(side.by_w.ravel()[mine], side.by_b, side.conjugate) for side in (at.positive, at.negative)]
    return FirstOrder(at.loss, *sides)

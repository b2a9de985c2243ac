"""Some columns of the data in which supports compete for the least objective: the local model proposes, refits decide.

The local model at a fit is searched by single swaps as if it were the loss. It is not, and the further the way, the
less it can be trusted: supports on the way are refitted, after a few swaps, after twice as many while that is better,
after half as many while it is not. Swaps that promise more than they keep are found out beforehand (`swap_trials`) and
left out of the way.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from riata.objective import Problem
from riata.solvers.subset.local_quadratic import LocalQuadratic
from riata.solvers.subset.refit import MEMORY_UNTOLD, SEPARATED, Fitted, Proposal, Refits, held
from riata.solvers.subset.subset import PRECISION, Subset
from riata.solvers.subset.swap_trials import tried
from riata.threads import one_blas_thread

TRIED = 32  # swaps tried at every fit
KEPT = 0.25  # of what a swap promises its trial has to show, or the swap leads astray
LAST = 1  # swaps refitted where the way leads nowhere
FIRST_SWAPS = 4  # swaps on the way to the first support that is refitted


class Swap(NamedTuple):
    """A column that wants in, the fall of the objective that the local model promises, and what its trial found."""

    column: int
    promised: float
    trial: Fitted

    @property
    def proposal(self) -> Proposal:
        return self.trial.support, (self.trial.coef, self.trial.intercept)


class SupportSearch:
    """The columns, held in memory if they fit; inside, supports are counted in places among them."""

    def __init__(self, problem: Problem, columns, memory, unit):
        self._columns, self._unit = columns, unit
        self._problem = _cut_to(problem, columns, MEMORY_UNTOLD if memory is None else memory)
        self._refits = Refits(self._problem, np.arange(len(columns)), memory)

    def improved(self, fit: Fitted) -> Fitted:
        """Where a fit leads, from one support to a better one, until none is found."""
        better: Fitted | None = self._inside(fit)
        reach = FIRST_SWAPS
        with one_blas_thread():  # small matrices, many times
            while better is not None:
                fit = better
                better, reach = self._step(fit, reach)
        return self._outside(fit)

    def challenged(self, fit: Fitted, count) -> tuple[Fitted | None, int]:
        """A better fit one swap away, if refits of the `count` that look best show one, and how many those were."""
        fit = self._inside(fit)
        _, _, swaps = self._tried(fit, len(self._columns))
        better = self._first_better(fit, swaps, count)
        return better and self._outside(better), min(count, len(swaps))

    def _step(self, fit: Fitted, reach) -> tuple[Fitted | None, int]:
        """A better fit, if the local model leads to one, and after how many swaps."""
        if fit.objective <= SEPARATED * self._unit:
            return None, reach
        model, search, swaps = self._tried(fit, TRIED)
        astray = [swap.column for swap in swaps if fit.objective - swap.trial.objective < KEPT * swap.promised]
        search.bar(astray)
        better, reach = self._on_the_way(fit, _way(model, search), reach)
        return better or self._first_better(fit, swaps, LAST), reach

    def _tried(self, fit: Fitted, count) -> tuple[LocalQuadratic, Subset, list[Swap]]:
        """The local model at the fit, a search from there, and the swaps that promise most, each with its trial."""
        k, worthwhile = self._problem.cardinality.k, 2.0 * PRECISION * self._unit
        w = np.zeros(len(self._columns))
        w[fit.support] = fit.coef
        model = LocalQuadratic(self._problem, w, fit.intercept, np.arange(len(w)))
        search, outlook = model.search(fit.support, k, worthwhile), model.outlook(fit.support, k)
        best = np.argsort(-outlook.gains, kind="stable")[:count]
        best = best[outlook.gains[best] > worthwhile]
        trials = tried(model, search, best, outlook.partners[best]) if len(best) else []
        return model, search, [Swap(*swap) for swap in zip(best, 0.5 * outlook.gains[best], trials, strict=True)]

    def _on_the_way(self, fit: Fitted, way: Iterator[Proposal], reach) -> tuple[Fitted | None, int]:
        """The best refit found on a way of swaps, and after how many of them."""
        if not self._refits.cheap_passes:  # passes cost more than steps: several lengths in the same
            passed = list(islice(way, 4 * FIRST_SWAPS))
            return self._best(fit, [passed[i - 1] for i in (1, 2, 4, 8, 16) if i <= len(passed)]), FIRST_SWAPS
        passed = list(islice(way, reach))
        count = len(passed)
        better = self._best(fit, passed[-1:])
        while better is None and count > 1:
            count //= 2
            better = self._best(fit, [passed[count - 1]])
        while better is not None and count == len(passed):
            passed += islice(way, count)
            further = self._best(better, passed[count:][-1:])
            if further is None:
                break
            better, count = further, len(passed)
        return better, max(count, 1)

    def _best(self, fit: Fitted, proposals: list[Proposal]) -> Fitted | None:
        """The best refit of these supports, if it is better."""
        return self._refits.best_below(fit.objective - PRECISION * self._unit, proposals)

    def _first_better(self, fit: Fitted, swaps: list[Swap], count) -> Fitted | None:
        """The first refit that is better, among the `count` swaps of best trials."""
        best = sorted(swaps, key=lambda swap: swap.trial.objective)[:count]
        return self._refits.first_below(fit.objective - PRECISION * self._unit, [swap.proposal for swap in best])

    def _inside(self, fit: Fitted) -> Fitted:
        return fit._replace(support=np.searchsorted(self._columns, fit.support))

    def _outside(self, fit: Fitted) -> Fitted:
        return fit._replace(support=self._columns[fit.support])


def _way(model: LocalQuadratic, search: Subset) -> Iterator[Proposal]:
    """Where a search leads: to as many members as there may be, then one swap further each time."""
    if search.size < model.problem.cardinality.k:
        search.forward(model.problem.cardinality.k)
        yield _proposal(model, search)
    for _ in search.swaps():
        yield _proposal(model, search)


def _proposal(model: LocalQuadratic, search: Subset) -> Proposal:
    """The support that a search is at, and its weights on the local model."""
    w, b = model.coefficients(search.members, search.weights)
    support = np.sort(search.members)
    return support, (w[support], b)


def _cut_to(problem: Problem, columns, memory) -> Problem:
    """The problem with these features alone."""

    def cut(chunk):
        return chunk._replace(X=chunk.X.narrowed(columns))

    data = held(problem.data, cut, len(columns), memory)
    data.facts = data.facts.but(n_features=len(columns))
    l2 = np.broadcast_to(problem.cardinality.l2, problem.data.n_features)[columns]
    return replace(problem, data=data, penalty=replace(problem.cardinality, l2=l2))

"""The search for the support of least objective among some columns: the local quadratic proposes, refits decide.

The local quadratic at a fit is searched by single swaps as if it were the loss. It is only near the loss, and less so
after many swaps: supports on the path of swaps are refitted, after a few of them, after twice as many while that is
better, after half as many while it is not. Swaps that gain much less in the true loss than on the quadratic are found
beforehand (`swap_trials`) and excluded from the path.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from riata.objective import Problem
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import SEPARATED, Fitted, Proposal, Refits, cut_to
from riata.solvers.subset.search.subset import MIN_GAIN, Subset
from riata.solvers.subset.search.swap_trials import tried
from riata.threads import one_blas_thread

TRIED = 32  # swaps tried at every fit
TRUSTED = 0.25  # of the promised gain: swaps whose trial gains less are excluded from the path
LAST_REFITS = 1  # of single swaps, where the path has no better support
FIRST_SWAPS = 4  # on the path to the first support that is refitted
FAR_WORK = 3e7  # multiplications of a step of all refits far away, roughly, but FEWEST_FAR at least
FEWEST_FAR = 2
ALL_SWAPS_WORK = 2e6  # margins: where trying all swaps takes no more, they all are


class Swap(NamedTuple):
    """A column that may enter by a swap, and what it would gain."""

    column: int
    promised: float  # reduction of the objective by the local quadratic
    trial: Fitted  # the best point that was tried in the true loss

    @property
    def proposal(self) -> Proposal:
        return self.trial.support, (self.trial.coef, self.trial.intercept)


class SupportSearch:
    """The columns, copied into memory if they fit. Internally supports are places among them.

    `unit` is that of gaps: the loss of the empty model.
    """

    def __init__(self, problem: Problem, columns: np.ndarray, memory: int | None, unit: float):
        self.columns, self._unit = np.union1d(columns, problem.always_in), unit
        self.problem = cut_to(problem, self.columns, memory)
        self._refits = Refits(self.problem, np.arange(len(self.columns)), memory)

    def improved(self, fit: Fitted) -> Fitted:
        """The fit that a search from this one ends at: it moves to better supports until none is found."""
        better: Fitted | None = self._inside(fit)
        n_swaps = FIRST_SWAPS
        with one_blas_thread():  # small matrices, many times
            while better is not None:
                fit = better
                better, n_swaps = self._step(fit, n_swaps)
        return self._outside(fit)

    def better_by_one_swap(self, fit: Fitted, count: int) -> tuple[Fitted | None, int]:
        """A better fit one swap away, if any, among refits of the `count` best swaps; and how many were refitted."""
        fit = self._inside(fit)
        _, _, swaps = self._tried(fit, len(self.columns))
        better = self._first_better(fit, swaps, count)
        return better and self._outside(better), min(count, len(swaps))

    def better_far_away(self, fit: Fitted) -> Fitted | None:
        """A better fit, if any, where the local quadratic does not lead from here.

        That is among the swaps that lose little by the quadratic, which may be wrong about that, and the supports that
        searches from nothing end at.
        """
        fit, k, target = self._inside(fit), self.problem.cardinality.k, fit.objective - MIN_GAIN * self._unit
        count = max(int(FAR_WORK / (self.problem.data.n_rows * (k + 1) ** 2)), FEWEST_FAR)
        with one_blas_thread():
            model, search, swaps = self._tried(fit, count, -np.inf)
            if self.problem.data.n_rows * len(self.columns) * len(fit.support) <= ALL_SWAPS_WORK:
                swaps = self._tried_for_all(model, search, fit)
            better = self._first_better(fit, swaps, count)
            if better is None:
                better = self._refits.first_below(target, self._anew(model, fit)[:count])
        return better and self._outside(better)

    def _tried_for_all(self, model: LocalQuadratic, search: Subset, fit: Fitted) -> list[Swap]:
        """Every column outside for every member, in the true loss."""
        others = np.setdiff1d(np.flatnonzero(search.addable), fit.support)
        swaps = []
        for place in range(search.size):
            trials = tried(model, search, others, np.full(len(others), place)) if len(others) else []
            swaps += [Swap(int(j), 0.0, trial) for j, trial in zip(others, trials, strict=True)]
        return swaps

    def _anew(self, model: LocalQuadratic, fit: Fitted) -> list[Proposal]:
        """Where searches from nothing end on the local quadratic, the best first."""
        k, chosen = self.problem.cardinality.k, model.others(fit.support)
        search = model.search(chosen, 2 * len(chosen), 2.0 * MIN_GAIN * self._unit)
        ends: dict[bytes, tuple[float, Proposal]] = {}
        for _ in search.anew(k):
            proposal = _proposal(model, search)
            if not np.array_equal(proposal[0], chosen):
                ends.setdefault(proposal[0].tobytes(), (search.reduction, proposal))
        return [proposal for _, proposal in sorted(ends.values(), key=lambda end: -end[0])]

    def _step(self, fit: Fitted, n_swaps: int) -> tuple[Fitted | None, int]:
        """A better fit, if the path of swaps has one, first after `n_swaps` of them; and after how many it was."""
        if fit.objective <= SEPARATED * self._unit:
            return None, n_swaps
        model, search, swaps = self._tried(fit, TRIED)
        search.exclude(
            [swap.column for swap in swaps if fit.objective - swap.trial.objective < TRUSTED * swap.promised]
        )
        better, n_swaps = self._best_on_path(fit, _swap_path(model, search), n_swaps)
        return better or self._first_better(fit, swaps, LAST_REFITS), n_swaps

    def _tried(
        self, fit: Fitted, count: int, least_gain: float | None = None
    ) -> tuple[LocalQuadratic, Subset, list[Swap]]:
        """The local quadratic at the fit, a search from there, and the `count` best swaps with their trials."""
        k, min_gain = self.problem.cardinality.k, 2.0 * MIN_GAIN * self._unit
        w = np.zeros(len(self.columns))
        w[fit.support] = fit.coef
        model = LocalQuadratic.at(self.problem, w, fit.intercept, np.arange(len(w)))
        chosen = model.others(fit.support)
        search, outlook = model.search(chosen, k, min_gain), model.outlook(chosen, k)
        best = np.argsort(-outlook.gains, kind="stable")[:count]
        best = best[outlook.gains[best] > (min_gain if least_gain is None else least_gain)]
        trials = tried(model, search, best, outlook.partners[best]) if len(best) else []
        return model, search, [Swap(*swap) for swap in zip(best, 0.5 * outlook.gains[best], trials, strict=True)]

    def _best_on_path(self, fit: Fitted, path: Iterator[Proposal], n_swaps: int) -> tuple[Fitted | None, int]:
        """The best refit found on a path of swaps, if it is better than the fit, and after how many of them."""
        if not self._refits.cheap_passes:  # passes cost more than Newton steps: several supports in the same passes
            passed = list(islice(path, 4 * FIRST_SWAPS))
            return self._best(fit, [passed[i - 1] for i in (1, 2, 4, 8, 16) if i <= len(passed)]), FIRST_SWAPS
        passed = list(islice(path, n_swaps))
        count = len(passed)
        better = self._best(fit, passed[-1:])
        while better is None and count > 1:
            count //= 2
            better = self._best(fit, [passed[count - 1]])
        while better is not None and count == len(passed):
            passed += islice(path, count)
            further = self._best(better, passed[count:][-1:])
            if further is None:
                break
            better, count = further, len(passed)
        return better, max(count, 1)

    def _best(self, fit: Fitted, proposals: list[Proposal]) -> Fitted | None:
        """The best refit of these supports, if it is better."""
        return self._refits.best_below(fit.objective - MIN_GAIN * self._unit, proposals)

    def _first_better(self, fit: Fitted, swaps: list[Swap], count: int) -> Fitted | None:
        """The first refit that is better, among the `count` swaps of best trials."""
        best = sorted(swaps, key=lambda swap: swap.trial.objective)[:count]
        return self._refits.first_below(fit.objective - MIN_GAIN * self._unit, [swap.proposal for swap in best])

    def _inside(self, fit: Fitted) -> Fitted:
        return fit._replace(support=np.searchsorted(self.columns, fit.support))

    def _outside(self, fit: Fitted) -> Fitted:
        return fit._replace(support=self.columns[fit.support])


def _swap_path(model: LocalQuadratic, search: Subset) -> Iterator[Proposal]:
    """The supports of a search: first with as many members as there may be, then after every single swap."""
    if search.size < model.problem.cardinality.k:
        search.forward(model.problem.cardinality.k)
        yield _proposal(model, search)
    for _ in search.swaps():
        yield _proposal(model, search)


def _proposal(model: LocalQuadratic, search: Subset) -> Proposal:
    """The current support of a search, and its coefficients by the local quadratic."""
    w, b = model.coefficients(search.members, search.weights)
    support = np.sort(search.members)
    return support, (w[support], b)

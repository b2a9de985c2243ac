"""The best model with at most k features where a loss has several margins a row, or its rows go together.

k counts features, however many margins use them. As for groups (`best_groups`): forward selection and swaps on the
local quadratic (`coupled_quadratic`) of the features that are pulled most, then refits to the true loss
(`coupled_refit`) of the swaps that look best, each time from the fit so far, until none of them is better. Of several
targets with room for the products of all columns the quadratic is the loss itself, and the proof covers all swaps.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from riata.data.sample import sample_rows
from riata.errors import OptionError
from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem, empty_start, first_order, gap_unit
from riata.outcome.proofs import Bound, Proof, SwapOptimal, ZeroLoss
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.iterate import Iterate, Iterates, Options, Saved
from riata.solvers.saved_checks import check_array, check_facts, check_set, restoring
from riata.solvers.subset.local.coupled_quadratic import CoupledQuadratic
from riata.solvers.subset.local.coupled_refit import CoupledRefits
from riata.solvers.subset.local.refit import SEPARATED, Fitted
from riata.solvers.subset.memory_untold import budget_for
from riata.solvers.subset.proof.global_bound import bound_of_all
from riata.solvers.subset.search.subset import MIN_GAIN
from riata.threads import one_blas_thread
from riata.units import whole_megabytes

REFITS = 8  # swaps that look best, each refitted before a support is final
COPIES = 8  # of the products of candidates, with those of a search
WORK = 2e10  # multiplications for these products: more candidates are not looked at at once,
FEWEST = 32  # but so many features beside those of the model


def is_coupled(problem: Problem) -> bool:
    """Whether a loss is not one number for each row's one margin."""
    return problem.loss.n_outputs > 1 or problem.loss.couples_rows


def best_coupled(problem: Problem, options: Options) -> Iterates:
    """An iterate for every better support."""
    k, found = problem.cardinality.k, CoupledSearch(problem, options, problem.cardinality.k)
    with one_blas_thread():
        if options.resume is not None:
            fit, t = _resumed(options.resume, problem)
        else:
            model = found.at_empty()
            model.search.forward(2 * k)
            model.search.backward(k)
            model.search.swap(k)
            fit, t = found.refitted(model), 0
        proof: Proof | None = None
        while proof is None:
            t += 1
            better, proof = found.checked(fit)
            (w, b), F = found.point(fit), fit.objective
            fit = better or fit
            bound = found.bound(F, proof)
            yield Iterate(w, b, t, F, proof=proof, save=partial(_saved, fit, t), bound=bound)
    return None


def _saved(fit: Fitted, steps: int) -> Saved:
    """The fit that is checked next: all that follows depends on it alone."""
    arrays = {"support": fit.support, "coef": fit.coef, "intercept": np.atleast_1d(np.asarray(fit.intercept, float))}
    return Saved(arrays, {"objective": float(fit.objective), "steps": steps})


@restoring()
def _resumed(saved: Saved, problem: Problem) -> tuple[Fitted, int]:
    """The fit that was saved, and how many steps were made before."""
    (arrays, facts), K = saved, problem.loss.n_outputs
    check_facts(facts, {"objective": float, "steps": int})
    support = check_array(arrays, "support", np.int64, (None,))
    check_set(support, "support", np.arange(problem.n_coefficients))
    coef = check_array(arrays, "coef", np.float64, support.shape)
    b = check_array(arrays, "intercept", np.float64, (K,))
    return Fitted(support, coef, float(b[0]) if K == 1 else b, facts["objective"]), facts["steps"]


class CoupledSearch:
    """A search for models of up to k features, with room for the products of some candidates."""

    def __init__(self, problem: Problem, options: Options, k: int):
        self.problem, self.k, self._options, self._unit = problem, k, options, gap_unit(problem)
        loss = problem.loss
        self.is_quadratic = isinstance(loss, SeveralMargins) and loss.unit_curvature
        self._sample: Problem | None = None  # whose rows tell how columns go together, where there are many
        if not (self.is_quadratic or loss.couples_rows):  # a sample has other risk sets
            sample = sample_rows(problem.data, options.memory, options.seed)
            self._sample = None if sample is None else replace(problem, data=sample, empty=None)

    @property
    def n_candidates(self) -> int:
        """How many features are looked at at once."""
        data, d = self.problem.data, self.problem.data.n_features
        of_each = 1 if self.is_quadratic else self.problem.loss.n_outputs  # columns that a feature has products of
        fewest = min(d, max(2 * self.k, self.k + FEWEST))
        need = COPIES * 8 * (fewest * of_each) ** 2
        memory = budget_for(need, self._options.memory)
        if need > memory:
            raise OptionError(
                f"best k = {self.k} of loss {self.problem.loss.name!r} needs about {whole_megabytes(need)}, more than "
                f"memory={memory / 1e6:.0f} MB; give it more, or ask for a smaller k"
            )
        n_rows = data.n_rows if self._sample is None else self._sample.data.n_rows
        most = min(np.sqrt(memory / (COPIES * 8)), np.sqrt(WORK / max(1, n_rows)))
        return max(fewest, min(d, int(most / of_each)))

    def at_empty(self) -> CoupledQuadratic:
        """The local quadratic at the model without features."""
        w, b, at = empty_start(self.problem)
        return self._local((w, b), at)

    def at(self, fit: Fitted) -> CoupledQuadratic:
        """The local quadratic at a fit, where its search begins."""
        here = self.point(fit)
        model = self._local(here, first_order(self.problem, *here))
        model.go_to(np.unique(fit.support // self.problem.loss.n_outputs))
        return model

    def point(self, fit: Fitted) -> Point:
        """The coefficients of all features, and the intercepts."""
        w = np.zeros(self.problem.n_coefficients)
        w[fit.support] = fit.coef
        return w, fit.intercept

    def is_separated(self, fit: Fitted) -> bool:
        """Whether a fit leaves nothing to explain, and no curvature to search on."""
        return fit.objective <= SEPARATED * self._unit

    def refitted(self, model: CoupledQuadratic) -> Fitted:
        """The fit of the features that a search is at."""
        return CoupledRefits(self.problem, model.members, self._options).fit(model.members, model.minimum())

    def checked(self, fit: Fitted) -> tuple[Fitted | None, Proof | None]:
        """A better fit, one swap away or where all swaps on the quadratic lead, if found; what is proved otherwise."""
        k, d = self.k, self.problem.data.n_features
        if self.is_separated(fit):
            return None, ZeroLoss()
        model = self.at(fit)
        size, sees_all = len(model.members), len(model.features) == d
        # a quadratic is of one point, of some features or by some rows: what it does not promise may still come true
        moves = model.search.moves(k, REFITS, even_without_gain=not self.is_quadratic)
        proposals = self._proposals(model, moves)
        if proposals:
            columns = np.unique(np.concatenate([features for features, _ in proposals]))
            refits = CoupledRefits(self.problem, columns, self._options)
            target = fit.objective - MIN_GAIN * self._unit
            if (better := refits.first_below(target, proposals, self.point(fit))) is not None:
                return better, None
        n_known: int | None = len(proposals)
        if self.is_quadratic:  # all swaps among the candidates are as good as refitted
            n_known = None if sees_all else max(size, 1) * (len(model.features) - size)
        elif k == 1 and len(proposals) >= d - 1:  # all models of one feature are
            n_known = None
        return None, SwapOptimal(k, d - k, size, n_refitted=n_known)

    def bound(self, objective: float, proof: Proof | None) -> Callable[[], Bound] | None:
        """A bound on all other models, where the check has compared them."""
        known = bound_of_all(self.problem, objective, proof) if isinstance(proof, SwapOptimal) else None
        return None if known is None else lambda: known

    def _proposals(self, model: CoupledQuadratic, moves: list[list[int]]) -> list[tuple[np.ndarray, Point]]:
        """Features that searches on the quadratic end at, by swaps, with more or anew; then those of single moves."""
        search, k, before = model.search, self.k, model.search.members
        ends = []
        for start, most in ((before, k), (before, 2 * k), ([], 2 * k)):
            search.go_to(start)
            search.forward(most)
            search.backward(k)
            search.swap(k)
            ends.append(search.members)
        tried = [*ends, *(sorted(members) for members in moves)]
        proposals = []
        for i, members in enumerate(tried):
            if members != before and members not in tried[:i]:
                search.go_to(members)
                proposals.append((model.members, model.minimum()))
        return proposals

    def _local(self, here: Point, at: FirstOrder) -> CoupledQuadratic:
        min_gain = 2.0 * MIN_GAIN * self._unit
        return CoupledQuadratic(self.problem, here, at, self._candidates(here[0], at), min_gain, self._sample)

    def _candidates(self, w: np.ndarray, at: FirstOrder) -> np.ndarray:
        """The features of a model, and those that are pulled most there, in units of their deviations."""
        d, K, moments = self.problem.data.n_features, self.problem.loss.n_outputs, self.problem.data.moments
        if (count := self.n_candidates) >= d:
            return np.arange(d)
        pulls = at.by_w.reshape(d, K)
        if self.problem.fit_intercept:
            pulls = pulls - np.outer(moments.mean, at.by_b)
        gains = np.sum((pulls / moments.scale[:, None]) ** 2, axis=1)
        gains[w.reshape(d, K).any(axis=1)] = np.inf
        return np.sort(np.argsort(-gains, kind="stable")[:count])

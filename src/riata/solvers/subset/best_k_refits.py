"""Best k for losses that are not quadratic: local quadratics propose supports, refits to the true loss decide.

The columns of some candidates are copied into memory, and supports among them are searched (`support_search`). When
none is better than the current fit, one pass over all d features finds the swaps that look best among all of them, to
second order; those are tried in the true loss, and the best of them refitted. If one is better, the features of largest
gain become candidates, and the search goes on; otherwise it has ended.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from riata.objective import Problem, gap_unit
from riata.outcome.proofs import Bound, GlobalBound, NoBound, Proof, SwapOptimal, ZeroLoss
from riata.solvers.iterate import Iterate, Iterates, Options, Saved
from riata.solvers.saved_checks import check_array, check_facts, check_indices, check_set, restoring
from riata.solvers.subset.close_features import NONE_CLOSE, close_features
from riata.solvers.subset.local.hessian import NOTHING
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import SEPARATED, Fitted, Refits
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.solvers.subset.proof.certified import certified_iterates
from riata.solvers.subset.proof.global_bound import true_bounds
from riata.solvers.subset.search.candidates import next_count, room_for
from riata.solvers.subset.search.subset import MIN_GAIN
from riata.solvers.subset.search.support_search import SupportSearch

CHECKED = 64  # swaps among all features that are tried before a support is final
REFITS = 16  # how many of them are refitted
NEWCOMERS = 256  # candidates that a check adds


def by_refits(problem: Problem, options: Options, start: tuple[np.ndarray, np.ndarray] | None = None) -> Iterates:
    """From a support to better ones, until no promising swap is an improvement.

    The start is a support and candidates, the most important last; None where the options resume a fit.
    """
    k, unit = problem.cardinality.k + len(problem.always_in), gap_unit(problem)
    room = _room(problem.data.n_rows, k, MEMORY_UNTOLD if options.memory is None else options.memory)
    t, columns, copied = 0, NOTHING, None  # the columns of the last search, and their copies
    if options.resume is not None:
        fit, candidates, columns, t = _resumed(options.resume, problem.data.n_features)
        copied = SupportSearch(problem, columns, options.memory, unit) if t else None
    else:
        assert start is not None
        support, candidates = start
        fit = Refits(problem, support, options.memory).fit([support], [(np.zeros(len(support)), 0.0)])[0]
        yield _iterate(problem, fit, t, save=partial(_saved, fit, candidates, columns, t))
    yielded = t > 0  # a point that was saved was yielded before
    while True:
        if not yielded:
            t += 1
            candidates = candidates[-room:]
            columns = np.union1d(candidates, fit.support)
            copied = SupportSearch(problem, columns, options.memory, unit)
            fit = copied.improved(fit)
            yield _iterate(problem, fit, t, save=partial(_saved, fit, candidates, columns, t))
        yielded = False
        better, proof, gains, bound, close = _checked(problem, fit, copied, options, unit)
        if better is None:
            if options.certify is not None:
                return (yield from certified_iterates(problem, fit, options, None, t + 1, proof, bound))
            yield _iterate(problem, fit, t + 1, proof=proof, bound=bound, close=close)
            return None
        fit, candidates = better, np.append(candidates, largest_gains(gains, candidates, min(NEWCOMERS, room)))


def _iterate(problem: Problem, fit: Fitted, t: int, **more: Any) -> Iterate:
    w = np.zeros(problem.data.n_features)
    w[fit.support] = fit.coef
    return Iterate(w, fit.intercept, t, fit.objective, **more)


Checked = tuple[Fitted | None, Proof, np.ndarray, Callable[[], Bound], np.ndarray]


def _checked(problem: Problem, fit: Fitted, copied: SupportSearch | None, options: Options, unit: float) -> Checked:
    """A better fit one swap away, if found; what is proved otherwise; the gains of all features; the bound; what is
    close to the features of the fit."""
    k, d = problem.cardinality.k, problem.data.n_features
    if fit.objective <= SEPARATED * unit:
        return None, ZeroLoss(), np.zeros(d), lambda: NoBound(k, problem.counted), NONE_CLOSE
    w = np.zeros(d)
    w[fit.support] = fit.coef
    model = LocalQuadratic.at(problem, w, fit.intercept, at_once=room_for(k, d, options).at_once)
    chosen = model.others(fit.support)
    outlook = model.outlook(chosen, k)
    gains, close = outlook.gains, close_features(model, chosen, outlook)
    best = largest_gains(np.where(gains > 2.0 * MIN_GAIN * unit, gains, -np.inf), NOTHING, CHECKED)
    search = SupportSearch(problem, np.union1d(fit.support, best), options.memory, unit)
    better, n_refitted = search.better_by_one_swap(fit, REFITS)
    slopes = -model.pulls(chosen, w[chosen] * model.unit[chosen]) * model.unit
    near = copied or search
    if better is None and near.problem.data.cheap_passes:
        better = near.better_far_away(fit)

    def bound() -> Bound:
        return true_bounds(problem, k, fit, near.problem, near.columns, slopes).of(problem, k, fit.objective)

    n_others = d - len(problem.always_in) - k
    proof = SwapOptimal(k, n_others, len(chosen), problem.counted, n_refitted)
    lowest = fit.objective
    if better is None and k == 1 and 0 < n_others <= CHECKED:  # so few are all fitted, and the best is known
        other = _best_other(problem, fit, options)
        better = other if other.objective < fit.objective - MIN_GAIN * unit else None
        lowest, proof = min(lowest, other.objective), replace(proof, n_refitted=None)
    if proof.compares_all and problem.limit is None:
        return better, proof, gains, lambda: GlobalBound(k, lowest, fit.objective, problem.counted), close
    return better, proof, gains, bound, close


def _best_other(problem: Problem, fit: Fitted, options: Options) -> Fitted:
    """The best fit of one feature that is not in this one."""
    others = np.setdiff1d(np.arange(problem.data.n_features), fit.support)
    supports = [np.union1d(problem.always_in, other) for other in others]
    refits = Refits(problem, np.arange(problem.data.n_features), options.memory)
    fits = refits.fit(supports, [(np.zeros(len(one)), fit.intercept) for one in supports])
    return min(fits, key=lambda one: one.objective)


def _saved(fit: Fitted, candidates: np.ndarray, columns: np.ndarray, rounds: int) -> Saved:
    arrays = {"support": fit.support, "coef": fit.coef, "candidates": candidates, "columns": columns}
    return Saved(arrays, {"b": float(fit.intercept), "objective": float(fit.objective), "rounds": rounds})


@restoring()
def _resumed(saved: Saved, n_features: int) -> tuple[Fitted, np.ndarray, np.ndarray, int]:
    """(fit, candidates, columns, rounds) as they were saved."""
    arrays, facts = saved
    for name in ("support", "candidates", "columns"):
        check_indices(check_array(arrays, name, np.int64, (None,)), name, 0, n_features)
    check_array(arrays, "coef", np.float64, arrays["support"].shape)
    check_facts(facts, {"b": float, "objective": float, "rounds": int})
    fit = Fitted(arrays["support"], arrays["coef"], facts["b"], facts["objective"])
    columns = np.unique(arrays["columns"])
    if facts["rounds"]:
        check_set(fit.support, "support", columns)
    return fit, arrays["candidates"], columns, facts["rounds"]


def _room(n_rows: int, k: int, memory: int) -> int:
    """How many candidates to copy: as many as fit into the memory beside a support, if those are enough."""
    room = memory // (8 * n_rows) - k
    return room if room >= next_count(k) else NEWCOMERS


def largest_gains(gains: np.ndarray, known: np.ndarray, count: int) -> np.ndarray:
    """The `count` features of largest gain that are not among the known ones."""
    gains = gains.copy()
    gains[known] = -np.inf
    order = np.argsort(-gains, kind="stable")[:count]
    return order[gains[order] > -np.inf]

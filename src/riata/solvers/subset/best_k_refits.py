"""Best k for losses that are not quadratic: supports that local models point to, judged by refits to the true loss.

A candidate set is cut out of the data and held in memory, and supports compete there (`contest`). When none of them is
better than the current fit, one pass over all d features says which swaps look best among all of them, to second
order; those are tried in the true loss, and the best of them refitted. If one is better, the features that want in most
become candidates, and the search goes on; otherwise it has ended.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from riata.objective import Problem, gap_unit
from riata.outcome.proofs import Proof, SwapOptimal, ZeroLoss
from riata.solvers.iterate import Iterate, Options, Saved
from riata.solvers.subset.local_quadratic import LocalQuadratic
from riata.solvers.subset.refit import MEMORY_UNTOLD, SEPARATED, Fitted, Refits
from riata.solvers.subset.subset import PRECISION
from riata.solvers.subset.support_search import SupportSearch

CHECKED = 64  # swaps among all features that are tried before a support is called final
REFITS = 16  # of them that are refitted
NEWCOMERS = 256  # candidates that a check adds


def by_refits(problem: Problem, options: Options, support, candidates) -> Iterator[Iterate]:
    """From a support to better ones, until no swap that looks good is; the candidates last named matter most."""
    k, unit = problem.cardinality.k, gap_unit(problem)
    room = _room(problem.data.n_rows, k, MEMORY_UNTOLD if options.memory is None else options.memory)
    t = 0
    if options.resume is not None:
        fit, candidates, t = _resumed(options.resume)
    else:
        fit = Refits(problem, support, options.memory).fit([support], [(np.zeros(len(support)), 0.0)])[0]
        yield _iterate(problem, fit, t, save=partial(_saved, fit, candidates, t))
    shown = t > 0  # a point that was saved has been yielded
    while True:
        if not shown:
            t += 1
            candidates = candidates[-room:]
            columns = np.union1d(candidates, fit.support)
            fit = SupportSearch(problem, columns, options.memory, unit).improved(fit)
            yield _iterate(problem, fit, t, save=partial(_saved, fit, candidates, t))
        shown = False
        better, proof, gains = _checked(problem, fit, options.memory, unit)
        if better is None:
            yield _iterate(problem, fit, t + 1, proof=proof)
            return
        fit, candidates = better, np.append(candidates, wanting(gains, candidates, min(NEWCOMERS, room)))


def _iterate(problem: Problem, fit: Fitted, t, **more) -> Iterate:
    w = np.zeros(problem.data.n_features)
    w[fit.support] = fit.coef
    return Iterate(w, fit.intercept, t, fit.objective, **more)


def _checked(problem: Problem, fit: Fitted, memory, unit) -> tuple[Fitted | None, Proof, np.ndarray]:
    """A better fit one swap away, if one is found, or else what was shown; and the gains of all features."""
    k, d = problem.cardinality.k, problem.data.n_features
    if fit.objective <= SEPARATED * unit:
        return None, ZeroLoss(), np.zeros(d)
    w = np.zeros(d)
    w[fit.support] = fit.coef
    gains = LocalQuadratic(problem, w, fit.intercept).outlook(fit.support, k).gains
    best = wanting(np.where(gains > 2.0 * PRECISION * unit, gains, -np.inf), [], CHECKED)
    rivals = SupportSearch(problem, np.union1d(fit.support, best), memory, unit)
    better, n_refitted = rivals.challenged(fit, REFITS)
    return better, SwapOptimal(k, d - k, len(fit.support), n_refitted=n_refitted), gains


def _saved(fit: Fitted, candidates, rounds) -> Saved:
    arrays = {"support": fit.support, "coef": fit.coef, "candidates": candidates}
    return Saved(arrays, {"b": float(fit.intercept), "objective": float(fit.objective), "rounds": rounds})


def _resumed(saved: Saved):
    """(fit, candidates, rounds)"""
    arrays, facts = saved
    fit = Fitted(arrays["support"], arrays["coef"], facts["b"], facts["objective"])
    return fit, arrays["candidates"], facts["rounds"]


def _room(n_rows, k, memory):
    """How many candidates to hold: as many as fit the memory beside a support, unless all are read at every pass."""
    room = memory // (8 * n_rows) - k
    return room if room >= next_count(k) else NEWCOMERS


def wanting(gains, known, count):
    """The `count` features of largest gain that are not known yet."""
    gains = gains.copy()
    gains[known] = -np.inf
    order = np.argsort(-gains, kind="stable")[:count]
    return order[gains[order] > -np.inf]


def next_count(k):
    """How many candidates to add at a time: fewer would cost a pass all the same."""
    return max(k, 64)

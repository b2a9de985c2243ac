"""Best k for losses that are not quadratic: supports that local models point to, judged by refits to the true loss.

A candidate set is cut out of the data and held in memory. On it the local model at the current fit (`local_model`) is
searched as if it were the loss; the support it prefers, then the single swaps that promise most, are refitted, and the
first with a lower objective becomes the current fit. When none has, one pass over all d features says which swaps look
best among all of them, to second order: if refits show that one is better, the features that want in most become
candidates, and the search goes on; otherwise it has ended.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from riata.device.rows import DeviceRows
from riata.objective import Problem, gap_unit
from riata.solvers.iterate import Iterate, Options, Saved
from riata.solvers.local_model import LocalModel
from riata.solvers.refit import DEFAULT_MEMORY, SEPARATED, Fitted, Refits, held
from riata.solvers.subset import OVERSHOOTS
from riata.threads import one_blas_thread

PRECISION = 1e-9  # of the empty model's loss: a smaller gain is not worth a move
REFITS = 16  # swaps that are tried in earnest before a support is called final

Proposal = tuple[np.ndarray, tuple[np.ndarray, float]]  # a support, and where its refit starts


def by_refits(problem: Problem, options: Options, support, candidates) -> Iterator[Iterate]:
    """From a support to better ones, until no swap that looks good is."""
    k, d, unit = problem.penalty.k, problem.data.n_features, gap_unit(problem)
    proof, t, shown = None, 0, options.resume is not None  # a point that was saved has been yielded
    if options.resume is not None:
        fit, candidates, t = _resumed(options.resume)
    else:
        fit = Refits(problem, support, options.memory).fit([support], [(np.zeros(len(support)), 0.0)])[0]
    while proof is None:
        if not shown:
            t += 1
            candidates = np.union1d(candidates, fit.support)
            with one_blas_thread():  # small matrices, many times
                fit = _improved(_cut_to(problem, candidates, options), fit, candidates, options, unit)
        w = np.zeros(d)
        w[fit.support] = fit.coef
        if not shown:
            yield Iterate(w, fit.intercept, t, fit.objective, save=partial(_saved, fit, candidates, t))
        shown = False
        model = LocalModel(problem, w, fit.intercept)
        outlook = model.outlook(fit.support, k)
        swaps = _swapped(model, outlook, fit.support, unit)
        better = first_better(model, fit, swaps, options, unit)
        if better is None:
            proof = what_looks_best(fit, k, d, len(swaps), unit)
        else:
            fit, candidates = better, np.append(candidates, wanting(outlook.gains, candidates, next_count(k)))
    yield Iterate(w, fit.intercept, t + 1, fit.objective, proof=proof)


def _saved(fit: Fitted, candidates, rounds) -> Saved:
    arrays = {"support": fit.support, "coef": fit.coef, "candidates": candidates}
    return Saved(arrays, {"b": float(fit.intercept), "objective": float(fit.objective), "rounds": rounds})


def _resumed(saved: Saved):
    """(fit, candidates, rounds)"""
    arrays, facts = saved
    fit = Fitted(arrays["support"], arrays["coef"], facts["b"], facts["objective"])
    return fit, arrays["candidates"], facts["rounds"]


def _cut_to(problem: Problem, columns, options) -> Problem:
    """The problem with these features alone."""
    memory = DEFAULT_MEMORY if options.memory is None else options.memory

    def cut(chunk):
        if isinstance(chunk.X, DeviceRows):
            return chunk._replace(X=chunk.X.narrowed(columns))
        X = chunk.X[:, columns]
        return chunk._replace(X=X if sp.issparse(X) else np.ascontiguousarray(X))

    data = held(problem.data, cut, len(columns), memory)
    data.n_features = len(columns)
    l2 = np.broadcast_to(problem.penalty.l2, problem.data.n_features)[columns]
    return replace(problem, data=data, penalty=replace(problem.penalty, l2=l2))


def _improved(problem, fit: Fitted, columns, options, unit) -> Fitted:
    """The fit, and where it has led when no support that the local model proposes is better; columns are `columns`."""
    fit = fit._replace(support=np.searchsorted(columns, fit.support))
    better: Fitted | None = fit
    while better is not None and better.objective > SEPARATED * unit:
        fit = better
        w = np.zeros(len(columns))
        w[fit.support] = fit.coef
        model = LocalModel(problem, w, fit.intercept, np.arange(len(columns)))
        better = first_better(model, fit, _searched(model, fit.support, unit), options, unit)
        if better is None:
            outlook = model.outlook(fit.support, problem.penalty.k)
            better = first_better(model, fit, _swapped(model, outlook, fit.support, unit), options, unit)
    fit = fit if better is None else better
    return fit._replace(support=columns[fit.support])


def first_better(model: LocalModel, fit: Fitted, proposals: list[Proposal], options, unit) -> Fitted | None:
    """The first of these supports, most promising first, whose refit has a lower objective, if any."""
    if not proposals or fit.objective <= SEPARATED * unit:
        return None
    refits = Refits(model.problem, np.unique(np.concatenate([support for support, _ in proposals])), options.memory)
    at_a_time = 1 if model.problem.data.in_memory else len(proposals)  # passes cost more than steps
    target = fit.objective - PRECISION * unit
    for i in range(0, len(proposals), at_a_time):
        supports, starts = zip(*proposals[i : i + at_a_time], strict=True)
        for refitted in refits.fit(supports, starts, target):
            if refitted.objective < target:
                return refitted
    return None


def _searched(model: LocalModel, support, unit) -> list[Proposal]:
    """Supports that the local model prefers among its candidates: after leaving its optimum, and after swaps alone."""
    k = model.problem.penalty.k
    search = model.search(support, k + OVERSHOOTS[-1], 2.0 * PRECISION * unit)
    search.forward(k)
    search.swap()
    swapped = search.members, search.weights
    search.overshoot(k)
    proposals = []
    for members, weights in ((search.members, search.weights), swapped):
        order = np.argsort(model.candidates[members])
        found = model.candidates[members][order]
        if not np.array_equal(found, support):
            w, b = model.coefficients(found, weights[order])
            proposals.append((found, (w[found], b)))
    return proposals


def _swapped(model: LocalModel, outlook, support, unit) -> list[Proposal]:
    """The supports one swap (or one addition) away that promise most."""
    worthwhile = outlook.gains > 2.0 * PRECISION * unit
    proposals = []
    for j in wanting(np.where(worthwhile, outlook.gains, -np.inf), [], REFITS):
        i = outlook.partners[j]
        found = np.sort(np.append(np.delete(support, i) if i >= 0 else support, j))
        proposals.append((found, (model.w[found], model.b)))
    return proposals


def wanting(gains, known, count):
    """The `count` features of largest gain that are not known yet."""
    gains = gains.copy()
    gains[known] = -np.inf
    order = np.argsort(-gains, kind="stable")[:count]
    return order[gains[order] > -np.inf]


def next_count(k):
    """How many candidates to add at a time: fewer would cost a pass all the same."""
    return max(k, 64)


def what_looks_best(fit, k, d, n_tried, unit):
    """The certificate, in words."""
    if fit.objective <= SEPARATED * unit:
        return "the loss is within a millionth of zero, which no model can beat"
    change = f"swap of one of the {k} features for one of the other {d - k}"
    if len(fit.support) < k:
        change = "further feature"
    if n_tried == 0:
        return f"to second order, no {change} improves the objective"
    return f"no {change} improves the objective among the {n_tried} that look best to second order, each refitted"

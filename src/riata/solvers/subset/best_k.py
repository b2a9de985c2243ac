"""The best model with at most k features (best subset selection).

The search runs in memory on second-order statistics of a few hundred candidates (`solvers.subset`); the rows of H that
it needs tell, for all d features, what swapping each of them in is worth (`solvers.local_model`). The features that
want in most become candidates, one pass for all of them, and the search goes on until no feature outside wants in. What
is then proved: no exchange of one feature inside for one outside improves the objective.

For the squared loss the local model is the loss, and the whole costs some six passes. For other losses that is where
`solvers.best_k_refits` starts.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np

from riata.errors import OptionError
from riata.objective import Problem, empty_intercept, gap_unit
from riata.outcome.proofs import SwapOptimal
from riata.penalties import GroupCardinality
from riata.solvers.iterate import Iterate, Options, Saved
from riata.solvers.subset.best_groups import best_groups
from riata.solvers.subset.best_k_refits import by_refits, next_count, wanting
from riata.solvers.subset.local_quadratic import LocalQuadratic, Outlook
from riata.solvers.subset.refit import MEMORY_UNTOLD
from riata.solvers.subset.subset import OVERSHOOTS, PRECISION

ROW_COPIES = 5  # of the rows of H: those of two chunks and their sum while they are made, and as much for all else
CHEAP = 3e7  # multiplications: to pursue one feature after the other among all takes a moment
EARLY = 2  # rounds whose supports will change too much to be worth their rows of H


def best_k(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Forward selection, swaps, and a check over all features, until nothing outside wants in."""
    if isinstance(problem.penalty, GroupCardinality):
        yield from best_groups(problem, options)
        return
    k, d, resume = problem.cardinality.k, problem.data.n_features, options.resume
    if resume is not None and not problem.loss.quadratic:
        yield from by_refits(problem, options, None, None)
        return
    if resume is None:
        model = LocalQuadratic(problem, np.zeros(d), empty_intercept(problem))
    else:
        model = LocalQuadratic.resumed(problem, resume.arrays)
    rounds = settle(model, k, 2.0 * PRECISION * gap_unit(problem), row_limit(k, d, options), resume)
    if problem.loss.quadratic:
        yield from _by_model(model, k, rounds, 0 if resume is None else resume.facts["rounds"])
    else:
        *_, (support, outlook, _) = islice(rounds, EARLY)  # to settle a model that is about to change is not worth it
        more = wanting(outlook.gains, model.candidates, next_count(k))
        yield from by_refits(problem, options, support, np.append(model.candidates, more))


def _by_model(model, k, rounds, done):
    """Iterates of the squared loss, of which the local model knows all."""
    for t, (support, outlook, settled) in enumerate(rounds, done + 1):
        w, b = model.coefficients(support, outlook.weights)
        proof = SwapOptimal(k, len(w) - k, len(support)) if settled else None
        arrays = {"support": support, "outlook.weights": outlook.weights, "outlook.gains": outlook.gains,
                  "outlook.partners": outlook.partners}  # fmt: skip
        save = partial(_saved, model, arrays, rounds=t, fall=outlook.fall)
        yield Iterate(w, b, t, model.loss - 0.5 * outlook.fall, proof=proof, save=save)


def _saved(model, arrays, **facts) -> Saved:
    return Saved(arrays | model.arrays, facts)


def settle(model: LocalQuadratic, k, worthwhile, limit, resume=None) -> Iterator[tuple[np.ndarray, Outlook, bool]]:
    """(support, outlook, whether nothing outside wants in) after every round of candidates."""
    count = min(first_count(k), limit)
    settled, t, data = False, 0, model.problem.data
    pursue = data.cheap_passes and data.n_rows * data.n_features * k <= CHEAP
    if resume is None:
        support = np.empty(0, dtype=np.int64)
        outlook = model.outlook(support, k)
    else:
        arrays, facts = resume
        support, t, count = arrays["support"], facts["rounds"], min(next_count(k), limit - k)
        weights, gains, partners = (arrays[f"outlook.{name}"] for name in ("weights", "gains", "partners"))
        outlook = Outlook(weights, facts["fall"], gains, partners)
    while not settled:
        t += 1
        candidates = wanting(outlook.gains, model.candidates, count)
        make_room(model, support, outlook.gains, len(candidates), limit)
        model.add_candidates(candidates)
        search = model.search(support, 2 * k + OVERSHOOTS[-1], worthwhile)
        if len(support) == 0:
            search.forward(2 * k)
            search.backward(k)
        search.forward(k)
        search.swap()
        if t <= EARLY and len(model.candidates) < len(model.w):
            support, weights = _sorted(model, search)
            outlook = model.glance(support, weights)
        else:
            support, outlook, settled = _check(model, search, k, worthwhile)
        if settled:
            if pursue:
                search, pursue = _against_pursuit(model, search, k), False
            search.overshoot(k)
            support, outlook, settled = _check(model, search, k, worthwhile)
        count = min(next_count(k), limit - k)
        yield support, outlook, settled


def _against_pursuit(model, search, k):
    """The search where it is, or where matching pursuit among all features leads it if that is better.

    With few rows and many features the first candidates, those that tell most alone, lack what the pursuit finds.
    """
    support = model.candidates[search.members]
    pursued = model.pursued(k, search.worthwhile)
    model.add_candidates(np.setdiff1d(pursued, model.candidates))
    search = model.search(support, search.capacity, search.worthwhile)
    search.rival(model.places(pursued), k)
    return search


def _sorted(model, search):
    """The support that a search is at, and its weights."""
    support = model.candidates[search.members]
    order = np.argsort(support)
    return support[order], search.weights[order]


def _check(model, search, k, worthwhile):
    """What the search ended with, and whether no feature that it did not have wants in."""
    support, _ = _sorted(model, search)
    outlook = model.outlook(support, k)
    outside = outlook.gains.copy()
    outside[model.candidates] = -np.inf
    return support, outlook, bool(outside.max(initial=-np.inf) <= worthwhile)


def make_room(model, support, gains, n_more, limit):
    """Forget the candidates that want in least, if otherwise the rows of H were too many for the memory."""
    if max(len(model.candidates), model.n_rows) + n_more <= limit:
        return
    gains = gains[model.candidates]
    gains[np.isin(model.candidates, support)] = np.inf
    n_kept = max(limit - n_more, len(support))
    model.keep(model.candidates[np.argsort(-gains, kind="stable")[:n_kept]])


def row_limit(k, d, options):
    """How many rows of H the memory holds, or a sentence that says that they are too few."""
    memory = MEMORY_UNTOLD if options.memory is None else options.memory
    need = min(2 * k, d)
    limit = memory // (ROW_COPIES * 8 * d)
    if limit < need:
        raise OptionError(
            f"best k = {k} of {d} features needs about {ROW_COPIES * 8 * d * need / 1e6:.0f} MB, more than memory="
            f"{memory / 1e6:.0f} MB; give it more, ask for a smaller k, or take solver 'l0-sgd'"
        )
    return limit


def first_count(k):
    """How many candidates to start with: enough that forward selection has a choice."""
    return max(2 * k, 128)

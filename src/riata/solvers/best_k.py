"""The best model with at most k features (best subset selection).

The search runs in memory on second-order statistics of a few hundred candidates (`solvers.subset`); the rows of H that
it needs tell, for all d features, what swapping each of them in is worth (`solvers.local_model`). The features that
want in most become candidates, one pass for all of them, and the search goes on until no feature outside wants in. What
is then proved: no exchange of one feature inside for one outside improves the objective.

For the squared loss the local model is the loss, and the whole costs some six passes. For other losses it is a guide:
supports that the model at the current fit prefers are refitted, and the best of them is taken if the true objective
falls; the last word have the refits of the swaps that look best among all d features.
"""

from collections.abc import Iterator

import numpy as np

from riata.errors import OptionError
from riata.losses import Squared
from riata.objective import Problem, empty_intercept, gap_unit
from riata.solvers.iterate import Iterate, Options
from riata.solvers.local_model import LocalModel, Outlook
from riata.solvers.refit import SEPARATED, Fitted, Refits
from riata.solvers.subset import OVERSHOOTS

PRECISION = 1e-9  # of the empty model's loss: a smaller gain is not worth a move
FIRST_CANDIDATES = 2  # times k, by marginal gain; then k more in every round
FEWEST_CANDIDATES = 32  # rows of H that cost about as much as the pass itself
REFITS = 16  # swaps that are tried in earnest before a support is called final
DEFAULT_MEMORY = 1 << 30


def best_k(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Forward selection, swaps, and a check over all features, until nothing outside wants in."""
    k, d = problem.penalty.k, problem.data.n_features
    b = empty_intercept(problem)
    unit = gap_unit(problem)
    model = LocalModel(problem, np.zeros(d), b)
    rounds = settle(model, k, 2.0 * PRECISION * unit, row_limit(k, d, options))
    if problem.loss == Squared():
        yield from _by_model(model, k, rounds)
    else:
        *_, (support, outlook, _) = rounds
        yield from _by_refits(problem, options, unit, support, outlook)


def _by_model(model, k, rounds):
    """Iterates of the squared loss, of which the local model knows all."""
    for t, (support, outlook, settled) in enumerate(rounds, 1):
        w, b = model.coefficients(support, outlook.weights)
        proof = what_is_proved(len(support), k, len(w)) if settled else None
        yield Iterate(w, b, t, model.loss - 0.5 * outlook.fall, proof=proof)


def _by_refits(problem, options, unit, support, outlook):
    """Iterates of any other loss: from a support to the first better one that the local model points to."""
    k, d = problem.penalty.k, problem.data.n_features
    fit = Refits(problem, support, options.memory).fit([support], [(np.zeros(len(support)), 0.0)])[0]
    worthwhile = 2.0 * PRECISION * unit
    proof, t = None, 0
    while proof is None:
        t += 1
        w = np.zeros(d)
        w[fit.support] = fit.coef
        yield Iterate(w, fit.intercept, t, fit.objective)
        candidates = wanting(outlook.gains, fit.support, max(k, FEWEST_CANDIDATES))
        model = LocalModel(problem, w, fit.intercept, np.append(fit.support, candidates))
        outlook = model.outlook(fit.support, k)
        swaps = _swapped(outlook, fit.support, worthwhile)
        better = None
        if fit.objective > SEPARATED * unit:
            better = _first_better(model, fit, _searched(model, fit.support, k, worthwhile), options, unit)
            better = better or _first_better(model, fit, swaps, options, unit)
        if better is None:
            proof = what_looks_best(fit, k, d, len(swaps), unit)
        else:
            fit = better
    yield Iterate(w, fit.intercept, t + 1, fit.objective, proof=proof)


def _first_better(model, fit, supports, options, unit) -> Fitted | None:
    """The first of these supports, most promising first, whose refit has a lower objective, if any."""
    if not supports:
        return None
    refits = Refits(model.problem, np.unique(np.concatenate(supports)), options.memory)
    at_a_time = 1 if model.problem.data.in_memory else len(supports)  # passes cost more than steps
    target = fit.objective - PRECISION * unit
    for i in range(0, len(supports), at_a_time):
        some = supports[i : i + at_a_time]
        for refitted in refits.fit(some, [(model.w[S], model.b) for S in some], target):
            if refitted.objective < target:
                return refitted
    return None


def _searched(model, support, k, worthwhile) -> list[np.ndarray]:
    """Supports that the local model prefers among its candidates: after swaps, and after leaving their optimum."""
    search = model.search(support, k + OVERSHOOTS[-1], worthwhile)
    search.forward(k)
    search.swap()
    swapped = np.sort(model.candidates[search.members])
    search.overshoot(k)
    overshot = np.sort(model.candidates[search.members])
    return [S for S in (overshot, swapped) if not np.array_equal(S, support)]


def _swapped(outlook, support, worthwhile) -> list[np.ndarray]:
    """The supports one swap (or one addition) away that promise most."""
    promising = wanting(np.where(outlook.gains > worthwhile, outlook.gains, -np.inf), [], REFITS)
    partners = [outlook.partners[j] for j in promising]
    stay = [np.delete(support, i) if i >= 0 else support for i in partners]
    return [np.sort(np.append(S, j)) for S, j in zip(stay, promising, strict=True)]


def settle(model: LocalModel, k, worthwhile, limit) -> Iterator[tuple[np.ndarray, Outlook, bool]]:
    """(support, outlook, whether nothing outside wants in) after every round of candidates."""
    support = np.empty(0, dtype=np.int64)
    outlook = model.outlook(support, k)
    count = max(FIRST_CANDIDATES * k, FEWEST_CANDIDATES)
    settled = False
    while not settled:
        candidates = wanting(outlook.gains, model.candidates, count)
        make_room(model, support, outlook, len(candidates), limit)
        model.add_candidates(candidates)
        search = model.search(support, 2 * k + OVERSHOOTS[-1], worthwhile)
        if len(support) == 0:
            search.forward(2 * k)
            search.backward(k)
        search.forward(k)
        search.swap()
        support, outlook, settled = _check(model, search, k, worthwhile)
        if settled:
            search.overshoot(k)
            support, outlook, settled = _check(model, search, k, worthwhile)
        count = max(k, FEWEST_CANDIDATES)
        yield support, outlook, settled


def _check(model, search, k, worthwhile):
    """What the search ended with, and whether no feature that it did not have wants in."""
    support = np.sort(model.candidates[search.members])
    outlook = model.outlook(support, k)
    outside = outlook.gains.copy()
    outside[model.candidates] = -np.inf
    return support, outlook, bool(outside.max(initial=-np.inf) <= worthwhile)


def wanting(gains, known, count):
    """The `count` features of largest gain that are not known yet."""
    gains = gains.copy()
    gains[known] = -np.inf
    order = np.argsort(-gains, kind="stable")[:count]
    return order[gains[order] > -np.inf]


def make_room(model, support, outlook, n_more, limit):
    """Forget the candidates that want in least, if otherwise the rows of H were too many for the memory."""
    if max(len(model.candidates), model.n_rows) + n_more <= limit:
        return
    gains = outlook.gains[model.candidates]
    gains[np.isin(model.candidates, support)] = np.inf
    n_kept = max(limit - n_more, len(support))
    model.keep(model.candidates[np.argsort(-gains, kind="stable")[:n_kept]])


def row_limit(k, d, options):
    """How many rows of H the memory holds, or a sentence that says that they are too few."""
    memory = DEFAULT_MEMORY if options.memory is None else options.memory
    need = max((FIRST_CANDIDATES + 1) * k, FEWEST_CANDIDATES + k)
    limit = memory // (3 * 8 * d)  # while rows are made there are up to three copies of them
    if limit < min(need, d):
        raise OptionError(
            f"best k = {k} of {d} features needs about {3 * 8 * d * need / 1e6:.0f} MB, more than memory="
            f"{memory / 1e6:.0f} MB; give it more, ask for a smaller k, or take solver 'l0-sgd'"
        )
    return limit


def what_is_proved(size, k, d):
    """The certificate of the squared loss, in words."""
    if size < k:
        return f"{size} features do as well as {k}: no other changes the objective"
    return f"no swap of one of the {k} features for one of the other {d - k} improves the objective"


def what_looks_best(fit, k, d, n_tried, unit):
    """The certificate of other losses, in words."""
    if fit.objective <= SEPARATED * unit:
        return "the loss is within a millionth of zero, which no model can beat"
    change = f"swap of one of the {k} features for one of the other {d - k}"
    if len(fit.support) < k:
        change = "further feature"
    if n_tried == 0:
        return f"to second order, no {change} improves the objective"
    return f"no {change} improves the objective among the {n_tried} that look best to second order, each refitted"

"""The best model with at most k features (best subset selection).

The search runs in memory on second-order statistics of a few hundred candidates (`subset`); the rows of H of a support
give, for all d features, the gain of swapping each of them in (`local_quadratic`). The features of largest gain become
candidates, in one pass for all of them, and the search is repeated until no feature outside has a gain. That proves
that no swap of one feature of the model for one outside improves the objective.

For the squared loss the local quadratic is the loss itself, and a fit takes about six passes. For other losses
`best_k_refits` starts from the support found after the first rounds.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from riata.objective import Problem, empty_intercept, gap_unit
from riata.outcome.proofs import Bound, GlobalBound, SwapOptimal
from riata.solvers.iterate import Iterate, Iterates, Options, Saved
from riata.solvers.saved_checks import check_array, check_facts, check_set, restoring
from riata.solvers.subset.best_coupled import best_coupled, is_coupled
from riata.solvers.subset.best_groups import best_groups
from riata.solvers.subset.best_k_refits import by_refits, largest_gains
from riata.solvers.subset.close_features import close_features
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import Fitted
from riata.solvers.subset.proof.certified import certified_iterates, resumed_iterates
from riata.solvers.subset.proof.global_bound import Size, quadratic_bounds
from riata.solvers.subset.proof.saved_search import is_search
from riata.solvers.subset.search.candidates import Room, first_count, make_room, next_count, room_for
from riata.solvers.subset.search.subset import MIN_GAIN, OVERSHOOTS, Subset
from riata.solvers.subset.search.swap_outlook import Outlook, matching_pursuit, rough_outlook

CHEAP_PURSUIT = 3e7  # multiplications: matching pursuit among all features is tried if it takes no more
EARLY_ROUNDS = 2  # their supports will change too much to be worth their rows of H


def best_k(problem: Problem, options: Options) -> Iterates:
    """Forward selection, swaps, and a check over all features, until no feature outside has a gain."""
    if is_coupled(problem):
        return (yield from best_coupled(problem, options))
    if problem.cardinality.groups is not None:
        return (yield from best_groups(problem, options))
    k, d, resume = problem.cardinality.k, problem.data.n_features, options.resume
    if resume is not None and is_search(resume):
        return (yield from resumed_iterates(problem, options, resume))
    if resume is not None and not problem.loss.quadratic:
        return (yield from by_refits(problem, options))
    start: Round | None = None
    room = room_for(k, d, options)
    if resume is None:
        model = LocalQuadratic.at(problem, np.zeros(d), empty_intercept(problem), at_once=room.at_once)
    else:
        model, start = _resumed(problem, resume, room)
    rounds = candidate_rounds(model, k, 2.0 * MIN_GAIN * gap_unit(problem), room.candidates, start)
    if problem.loss.quadratic:
        return (yield from _quadratic_iterates(model, k, rounds, options))
    *_, last = islice(rounds, EARLY_ROUNDS)  # more would refine a quadratic about to be replaced
    more = largest_gains(last.outlook.gains, model.candidates, next_count(k))
    return (yield from by_refits(problem, options, (last.support, np.append(model.candidates, more))))


class Round(NamedTuple):
    """What a round of a search ends with."""

    number: int
    support: np.ndarray
    outlook: Outlook
    final: bool  # whether no feature outside has a gain
    pursue: bool  # whether matching pursuit is still to be tried


def _quadratic_iterates(model: LocalQuadratic, k: int, rounds: Iterator[Round], options: Options) -> Iterates:
    """Iterates of the squared loss, for which the local quadratic gives F."""
    for t, support, outlook, final, pursue in rounds:
        w, b = model.coefficients(support, outlook.weights)
        n_others = len(w) - len(model.problem.always_in) - k
        proof = SwapOptimal(k, n_others, len(support), model.problem.counted) if final else None
        arrays = {"support": support, "outlook.weights": outlook.weights, "outlook.gains": outlook.gains,
                  "outlook.partners": outlook.partners}  # fmt: skip
        save = partial(_saved, model, arrays, rounds=t, reduction=outlook.reduction, pursue=pursue)
        F = model.loss - 0.5 * outlook.reduction
        bound = partial(_bound, model, Size(k, support, outlook.weights), F, outlook.gains, proof)
        if proof is not None and options.certify is not None:
            whole = np.union1d(support, model.problem.always_in)
            fit = Fitted(whole, w[whole], b, F)
            return (yield from certified_iterates(model.problem, fit, options, model, t, proof, bound))
        close = close_features(model, support, outlook) if final else None
        yield Iterate(w, b, t, F, proof=proof, save=save, bound=bound, close=close)
    return None


def _bound(model: LocalQuadratic, size: Size, objective: float, gains: np.ndarray, proof: SwapOptimal | None) -> Bound:
    if proof is not None and proof.compares_all and model.problem.limit is None:
        better = 0.5 * max(0.0, gains.max(initial=0.0))  # gains too small for a change
        return GlobalBound(size.k, max(0.0, objective - better), objective, model.problem.counted)
    return quadratic_bounds(model, [size]).of(model.problem, size.k, objective)


def _saved(model: LocalQuadratic, arrays: dict[str, np.ndarray], **facts: Any) -> Saved:
    return Saved(arrays | model.arrays, facts)


@restoring()
def _resumed(problem: Problem, saved: Saved, room: Room) -> tuple[LocalQuadratic, Round]:
    """The quadratic and the last round, as they were saved."""
    arrays, facts = saved
    d = problem.data.n_features
    model = LocalQuadratic.resumed(problem, arrays, room.at_once)
    support = check_array(arrays, "support", np.int64, (None,))
    check_set(support, "support", model.candidates)
    check_facts(facts, {"rounds": int, "reduction": float, "pursue": bool})
    outlook = Outlook(
        check_array(arrays, "outlook.weights", np.float64, support.shape), facts["reduction"],
        check_array(arrays, "outlook.gains", np.float64, (d,), finite=False),
        check_array(arrays, "outlook.partners", np.int64, (d,)),
    )  # fmt: skip
    return model, Round(facts["rounds"], support, outlook, False, facts["pursue"])


def candidate_rounds(
    model: LocalQuadratic, k: int, min_gain: float, limit: int, start: Round | None = None
) -> Iterator[Round]:
    """Rounds of adding candidates and searching among them, until no feature outside has a gain.

    The start is the last round of a fit that is resumed.
    """
    count = min(first_count(k), limit)
    final, t, data = False, 0, model.problem.data
    if start is None:
        support = np.empty(0, dtype=np.int64)
        outlook = model.outlook(support, k)
        pursue = model.hessian.keeps_rows and data.cheap_passes and data.n_rows * data.n_features * k <= CHEAP_PURSUIT
    else:
        t, support, outlook, _, pursue = start
        count = min(next_count(k), limit - k)
    while not final:
        t += 1
        candidates = largest_gains(outlook.gains, model.candidates, count)
        make_room(model, support, outlook.gains, len(candidates), limit)
        model.add_candidates(candidates)
        search = model.search(support, 2 * k + OVERSHOOTS[-1], min_gain)
        if len(support) == 0:
            search.forward(2 * k)
            search.backward(k)
        search.forward(k)
        search.swap()
        if t <= EARLY_ROUNDS and len(model.candidates) < len(model.w):
            support, weights = _sorted(model, search)
            outlook = rough_outlook(model.hessian, model.h, support, weights)
        else:
            support, outlook, final = _check(model, search, k, min_gain)
        if final:
            if pursue:
                search, pursue = _against_pursuit(model, search, k), False
            search.overshoot(k)
            search.undershoot(k)
            support, outlook, final = _check(model, search, k, min_gain, (support, outlook))
        if final:
            for _ in search.anew(k):
                pass
            support, outlook, final = _check(model, search, k, min_gain, (support, outlook))
        count = min(next_count(k), limit - k)
        yield Round(t, support, outlook, final, pursue)


def _against_pursuit(model: LocalQuadratic, search: Subset, k: int) -> Subset:
    """The search as it is, or continued from the support of matching pursuit among all features if that is better.

    With few rows and many features the first candidates, the best single features, may miss what the pursuit finds.
    """
    support = model.candidates[search.members]
    pursued = matching_pursuit(model.hessian, model.h, k, search.min_gain)
    model.add_candidates(np.setdiff1d(pursued, model.candidates))
    search = model.search(support, search.capacity, search.min_gain)
    search.try_start(model.places(pursued), k)
    return search


def _sorted(model: LocalQuadratic, search: Subset) -> tuple[np.ndarray, np.ndarray]:
    """The current support of a search, sorted, and its weights."""
    support = model.candidates[search.members]
    order = np.argsort(support)
    return support[order], search.weights[order]


def _check(
    model: LocalQuadratic, search: Subset, k: int, min_gain: float, known: tuple[np.ndarray, Outlook] | None = None
) -> tuple[np.ndarray, Outlook, bool]:
    """The support of a search that has ended, and whether no feature outside its candidates has a gain.

    `known` is an outlook that is there already: where rows of H are not kept, another one takes passes.
    """
    support, _ = _sorted(model, search)
    same = known is not None and np.array_equal(known[0], support)
    outlook = known[1] if known is not None and same else model.outlook(support, k)
    outside = outlook.gains.copy()
    outside[model.candidates] = -np.inf
    return support, outlook, bool(outside.max(initial=-np.inf) <= min_gain)

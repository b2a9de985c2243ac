"""The best model with at most k groups of features, such as all levels of a category.

As for single features (`best_k`): forward selection, then swaps of one group for another until none helps; for losses
that are not quadratic the local quadratic proposes supports, which are refitted. The products of all columns are in
memory, so that one pass is enough for the squared loss, and the proof covers all groups.
"""

from functools import partial

import numpy as np

from riata.errors import OptionError
from riata.objective import Problem, empty_intercept, gap_unit
from riata.outcome.proofs import Bound, SwapOptimal
from riata.penalties import GroupCardinality
from riata.solvers.iterate import Iterate, Iterates, Options
from riata.solvers.subset.best_k_refits import REFITS
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import SEPARATED, Fitted, Proposal, Refits
from riata.solvers.subset.memory_untold import budget_for
from riata.solvers.subset.proof.certified import certified_iterates, resumed_iterates
from riata.solvers.subset.proof.global_bound import Size, bound_of_all, quadratic_bounds, true_bounds
from riata.solvers.subset.search.group_subset import GroupSubset
from riata.solvers.subset.search.subset import MIN_GAIN
from riata.threads import one_blas_thread
from riata.units import whole_megabytes


def groups_of(problem: Problem) -> GroupCardinality:
    """The penalty, which must be a limit on groups."""
    assert isinstance(problem.penalty, GroupCardinality)
    return problem.penalty


def best_groups(problem: Problem, options: Options) -> Iterates:
    """The answer at once for the squared loss; for others an iterate for every better support."""
    k, d = groups_of(problem).k, problem.data.n_features
    check_memory(d, options.memory)
    if options.resume is not None:  # a search of all models: there are no other checkpoints
        return (yield from resumed_iterates(problem, options, options.resume))
    model, search = searched(problem, np.zeros(d), empty_intercept(problem))
    with one_blas_thread():
        search.forward(2 * k)
        search.backward(k)
        search.swap(k)
    if problem.loss.quadratic:
        w, b = model.coefficients(search.outlook.support, search.outlook.weights)
        F = model.loss - 0.5 * search.outlook.reduction
        support, proof = search.outlook.support, swap_optimal(search, groups_of(problem))
        size = Size(k, support, search.outlook.weights)

        def bound() -> Bound:
            return bound_of_all(problem, F, proof) or quadratic_bounds(model, [size]).of(problem, k, F)

        if options.certify is not None:
            whole = np.union1d(support, problem.always_in)
            fit = Fitted(whole, w[whole], b, F)
            return (yield from certified_iterates(problem, fit, options, model, 1, proof, bound))
        yield Iterate(w, b, 1, F, proof=proof, bound=bound)
        return None
    return (yield from _by_refits(problem, options, search.outlook.support))


def _by_refits(problem: Problem, options: Options, support: np.ndarray) -> Iterates:
    """From a support to better ones, until no promising swap is an improvement."""
    penalty, unit = groups_of(problem), gap_unit(problem)
    fit = refitted(problem, [support], options)[0]
    proof, t = None, 0
    while proof is None:
        t += 1
        w = np.zeros(problem.data.n_features)
        w[fit.support] = fit.coef
        model, search = searched(problem, w, fit.intercept)
        with one_blas_thread():
            search.go_to(np.setdiff1d(penalty.groups[fit.support], penalty.choices_in))
            proposals = _proposals(model, search, penalty.k)
            better = _first_better(problem, fit, proposals, options, unit)
        if better is None:
            proof = swap_optimal(search, penalty, len(proposals))
        bound = partial(_bound, problem, fit, model, proof)
        if proof is not None and options.certify is not None:
            return (yield from certified_iterates(problem, fit, options, None, t, proof, bound))
        yield Iterate(w, fit.intercept, t, fit.objective, proof=proof, bound=bound)
        fit = better or fit
    return None


def _bound(problem: Problem, fit: Fitted, model: LocalQuadratic, proof: SwapOptimal | None) -> Bound:
    """How much better other groups could be, from the local quadratic at a fit."""
    if (known := bound_of_all(problem, fit.objective, proof)) is not None:
        return known
    k, everything = groups_of(problem).k, np.arange(problem.data.n_features)
    chosen = model.others(fit.support)
    slopes = -model.pulls(chosen, model.w[chosen] * model.unit[chosen]) * model.unit
    return true_bounds(problem, k, fit, problem, everything, slopes).of(problem, k, fit.objective)


def _first_better(
    problem: Problem, fit: Fitted, proposals: list[Proposal], options: Options, unit: float
) -> Fitted | None:
    """The first of these supports, most promising first, whose refit has a lower objective, if any."""
    if not proposals or fit.objective <= SEPARATED * unit:
        return None
    refits = Refits(problem, np.unique(np.concatenate([support for support, _ in proposals])), options.memory)
    return refits.first_below(fit.objective - MIN_GAIN * unit, proposals)


def _proposals(model: LocalQuadratic, search: GroupSubset, k: int) -> list[Proposal]:
    """The set that all swaps on the local quadratic end at, then the sets after one of the best single swaps."""
    moves = search.moves(k, REFITS)
    if moves:
        search.swap(k)
        moves = [search.members, *moves]
    proposals = []
    for members in moves:
        search.go_to(members)
        support = search.outlook.support
        w, b = model.coefficients(support, search.outlook.weights)
        proposals.append((support, (w[support], b)))
    return proposals


def searched(problem: Problem, w: np.ndarray, b: float) -> tuple[LocalQuadratic, GroupSubset]:
    """The local quadratic at (w, b) with the products of all columns, a pass or two, and a search that has no group."""
    model = LocalQuadratic.at(problem, w, b, np.arange(problem.data.n_features))
    search = GroupSubset(model.products, model.h, groups_of(problem).groups, 2.0 * MIN_GAIN * gap_unit(problem))
    return model, search


def refitted(problem: Problem, supports: list[np.ndarray], options: Options) -> list[Fitted]:
    """Every support fitted to the true loss, all in the same passes."""
    refits = Refits(problem, np.unique(np.concatenate(supports)), options.memory)
    return refits.fit(supports, [(np.zeros(len(support)), 0.0) for support in supports])


def check_memory(d: int, memory: int | None) -> None:
    """An error if a few matrices of d x d numbers do not fit into the memory."""
    need = 4 * 8 * d**2
    memory = budget_for(need, memory)
    if need > memory:
        raise OptionError(
            f"groups need the products of all {d} features, about {whole_megabytes(need)}, more than memory="
            f"{memory / 1e6:.0f} MB: give it more, or leave features out"
        )


def swap_optimal(search: GroupSubset, penalty: GroupCardinality, n_refitted: int | None = None) -> SwapOptimal:
    """What is proved where a search ended; `n_refitted` where the local quadratic is not the loss itself."""
    n_others = penalty.n_choices(len(penalty.groups)) - penalty.k
    return SwapOptimal(penalty.k, n_others, len(search.members), penalty.counted, n_refitted)

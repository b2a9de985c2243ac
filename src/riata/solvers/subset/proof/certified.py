"""The gap of a bound is closed: a better bound at the root, screening of all features, branch and bound on the rest.

1. The relaxation among some candidates, with the slopes of all d features; those that it wants become candidates, until
   it wants none, and its plane is the best there is. Where the products of all features fit, they all are candidates.
2. By that plane, features that no better model has are out, and those that all of them have are in (`planes.screened`).
   With fewer features left more of the diagonal may be taken for a ridge, so this goes on as long as it helps.
3. Branch and bound on the rest, on their products or, for losses that are not quadratic, on their columns in memory.

Everything is a bound on all models as it goes, so that it can end at any time.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from riata.objective import Problem, empty_intercept
from riata.outcome.proofs import Bound, GlobalBound, Proof, SearchedAll
from riata.outcome.reasons import StopReason
from riata.solvers.iterate import Iterate, Iterates, Options, Saved, Searched
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import Fitted, Refits
from riata.solvers.subset.proof.branch_and_bound import Budget, State, branch_and_bound
from riata.solvers.subset.proof.deadline import Deadline, OutOfTimeError
from riata.solvers.subset.proof.frontier import SavedFrontier
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.proof.proof_so_far import Certificate, ProofSoFar
from riata.solvers.subset.proof.root_bounds import quadratic_root, true_root
from riata.solvers.subset.proof.saved_search import SavedSearch, restored_search, saved_search
from riata.solvers.subset.proof.search_space import (
    SHARE_OF_MEMORY,
    SearchSpace,
    memory_of,
    most_products,
    saved_space,
    space_of_features,
    space_of_groups,
)


def certified_iterates(
    problem: Problem,
    fit: Fitted,
    options: Options,
    model: LocalQuadratic | None,
    steps: int,
    proof: Proof,
    bound: Callable[[], Bound],
) -> Iterates:
    """Iterates of a fit that is certified from here on; `proof` and `bound` are what it has already."""
    first = bound() if problem.data.cheap_passes else None  # elsewhere the first plane of the root costs the same pass
    least = first.value if isinstance(first, GlobalBound) else 0.0
    told = yield from _iterates(problem, certified(problem, fit, options, model, least), steps)
    if not told:  # there is no bound to begin with
        w = np.zeros(problem.data.n_features)
        w[fit.support] = fit.coef
        yield Iterate(w, fit.intercept, steps, fit.objective, proof=proof, bound=partial(_same, first or bound()))
    return StopReason.SEARCH_LIMIT


def resumed_iterates(problem: Problem, options: Options, saved: Saved) -> Iterates:
    """Iterates of a search that goes on where a checkpoint has it."""
    search = restored_search(saved, problem.data.n_features, problem.cardinality.n_groups)
    yield from _iterates(problem, _resumed(problem, options, search), search.steps)
    return StopReason.SEARCH_LIMIT


def _iterates(problem: Problem, certificates: Iterator[Certificate], steps: int) -> Generator[Iterate, None, bool]:
    """The iterates of certificates; whether there are any."""
    told = False
    for found in certificates:
        told = True
        w = np.zeros(problem.data.n_features)
        w[found.fit.support] = found.fit.coef
        searched = Searched(found.bound.value, found.n_nodes)
        point = Iterate(w, found.fit.intercept, steps, found.fit.objective, bound=partial(_same, found.bound))
        proved = None
        if found.finished:
            bound, n_choices = found.bound, problem.n_choices
            proved = SearchedAll(
                k=bound.k,
                gap=bound.gap,
                n_features=n_choices,
                n_out=found.n_out,
                n_in=found.n_in,
                n_parts=found.n_nodes,
                counted=bound.counted,
                limit=bound.limit,
            )
        save = None if found.search is None else partial(_saved, found.search, steps)
        yield point._replace(end_of_pass=found.finished, searched=searched, proof=proved, save=save)
    return told


def _saved(search: Callable[[], SavedSearch], steps: int) -> Saved:
    return saved_search(search()._replace(steps=steps))


def _same(bound: Bound) -> Bound:
    return bound


def certified(
    problem: Problem, fit: Fitted, options: Options, model: LocalQuadratic | None, least: float = 0.0
) -> Iterator[Certificate]:
    """Certificates, each better than the last; `model` has the candidates of a search, where the loss is quadratic.

    No model is known to have an objective below `least`.
    """
    proof = ProofSoFar.at_first(problem, least)
    of = _certified_features if problem.cardinality.groups is None else _certified_groups
    try:
        yield from of(problem, fit, options, model, proof)
    except OutOfTimeError:  # before the search, which ends by itself
        if proof.bound > 0.0:
            yield proof.certificate(problem, fit)


def _certified_features(
    problem: Problem, fit: Fitted, options: Options, model: LocalQuadratic | None, proof: ProofSoFar
) -> Iterator[Certificate]:
    quadratic, bounded, budget = problem.loss.quadratic, Costs.of(problem).bounding, _budget(options)
    all_products = quadratic and problem.data.n_features <= min(most_products(memory_of(options)), problem.data.n_rows)
    if bounded and not all_products:
        by_products = model is not None and quadratic_root(model, fit, proof, options)
        for _ in by_products or true_root(problem, fit, proof, budget.deadline):
            closed = proof.bound >= fit.objective  # as where models within a limit are worse than the one found
            yield proof.certificate(problem, fit, finished=closed)
            if closed:
                return
            budget.deadline.check()
    space = space_of_features(problem, fit, options, model, proof, budget.deadline)
    if space is None or (proof.bound <= 0.0 and not bounded):
        return
    yield proof.certificate(problem, fit, finished=proof.bound >= fit.objective)
    if proof.bound >= fit.objective:
        return
    left = space.left
    first = np.where(proof.inside[left], 1, np.where(proof.out[left], -1, 0)).astype(np.int8)
    if quadratic:
        first[np.isin(left, problem.always_in)] = -1  # the products are of what they leave
    search = _CertifiedSearch(problem, fit, proof, space, options.memory)
    yield from search.certificates(State(None, fit.objective, proof.bound), first, budget)


def _certified_groups(
    problem: Problem, fit: Fitted, options: Options, model: LocalQuadratic | None, proof: ProofSoFar
) -> Iterator[Certificate]:
    """The best k groups, certified by a search alone: the products of all columns, or their rows, are in memory."""
    budget = _budget(options)
    space = space_of_groups(problem, options, model, budget.deadline)
    if space is None:
        return
    yield proof.certificate(problem, fit)
    first = np.zeros(len(space.left), dtype=np.int8)
    first[problem.cardinality.choices_in] = 1 if model is None else -1
    search = _CertifiedSearch(problem, fit, proof, space, options.memory)
    yield from search.certificates(State(None, fit.objective, proof.bound), first, budget)


def _resumed(problem: Problem, options: Options, saved: SavedSearch) -> Iterator[Certificate]:
    """Certificates of a search that goes on with the nodes that were left."""
    fit, proof, budget = saved.fit, ProofSoFar(saved.bound, saved.out, saved.inside), _budget(options)
    try:
        space = saved_space(problem, saved, memory_of(options), budget.deadline)
    except OutOfTimeError:
        yield proof.certificate(problem, fit, saved.n_nodes)._replace(search=lambda: saved)
        return
    if space is None:
        return
    search = _CertifiedSearch(problem, fit, proof, space, options.memory)
    yield from search.certificates(State(None, fit.objective, proof.bound, saved.n_nodes), saved.frontier, budget)


@dataclass
class _CertifiedSearch:
    """A search of some columns of a problem, from the best model known."""

    problem: Problem
    fit: Fitted
    proof: ProofSoFar
    space: SearchSpace
    memory: int | None

    def certificates(self, state: State, first: np.ndarray | SavedFrontier, budget: Budget) -> Iterator[Certificate]:
        """What the search proves, from its root or its frontier on."""
        for found in branch_and_bound(self.space.subsets, state, first, budget):
            if found.members is not None and found.objective < self.fit.objective:
                support = self.problem.cardinality.columns_of(self.space.left[found.members])
                start = np.zeros(len(support)), empty_intercept(self.problem)
                self.fit = Refits(self.problem, support, self.memory).fit([support], [start])[0]
            self.proof.bound = max(self.proof.bound, found.bound)
            certificate = self.proof.certificate(self.problem, self.fit, found.n_nodes, found.finished)
            yield certificate._replace(search=partial(self._search, found))

    def _search(self, found: State) -> SavedSearch:
        proof, frontier = self.proof, found.frontier
        assert frontier is not None
        return SavedSearch(
            fit=self.fit,
            bound=proof.bound,
            out=proof.out,
            inside=proof.inside,
            left=self.space.left,
            by_candidates=self.space.by_candidates,
            n_nodes=found.n_nodes,
            steps=0,
            frontier=frontier(),
        )


def _budget(options: Options) -> Budget:
    return Budget(options.certify or 0.0, Deadline(options.certify_seconds), SHARE_OF_MEMORY * memory_of(options))

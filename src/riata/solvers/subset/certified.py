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
from typing import NamedTuple

import numpy as np

from riata.objective import Problem, empty_intercept, first_order
from riata.outcome.proofs import Bound, GlobalBound, Proof, SearchedAll
from riata.outcome.reasons import StopReason
from riata.penalties import GroupCardinality
from riata.solvers.iterate import Iterate, Iterates, Options, Saved, Searched
from riata.solvers.subset.branch_and_bound import Budget, State, Subsets, branch_and_bound
from riata.solvers.subset.candidate_subsets import CandidateSubsets
from riata.solvers.subset.candidates import room_for
from riata.solvers.subset.deadline import Deadline, OutOfTimeError
from riata.solvers.subset.global_bound import RelaxedPoint, Size, relaxed_planes, relaxed_point
from riata.solvers.subset.group_subsets import QuadraticGroups, TrueGroups
from riata.solvers.subset.local_quadratic import LocalQuadratic
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.solvers.subset.planes import Costs, Plane, screened, tangent
from riata.solvers.subset.quadratic_subsets import QuadraticSubsets
from riata.solvers.subset.refit import Fitted, Refits, cut_to
from riata.solvers.subset.relaxation import Node, Quadratic, diagonal_shift
from riata.solvers.subset.saved_search import SavedSearch, restored_search, saved_search
from riata.solvers.subset.true_subsets import TrueSubsets

MORE = 128  # candidates that are added at a time,
MORE_FROM_DISK = 512  # where that takes two passes over files
PRODUCT_COPIES = 6  # of the products of all columns that are searched, while they are made and used
ROUNDS = 20  # of candidates that the relaxation wants
WIDE = 1000  # columns: as many as rows, and as this, are searched by their products, the others by candidates
SHRINKS = 0.9  # of the columns: screening goes on while no more of them are left
SHARE_OF_MEMORY = 0.5  # for parts of the search that are left


class Certificate(NamedTuple):
    """How far it has come."""

    fit: Fitted  # the best model known
    bound: GlobalBound
    n_out: int = 0  # features that are in no better model
    n_in: int = 0  # and in all of them
    n_parts: int = 0
    finished: bool = False
    search: Callable[[], SavedSearch] | None = None  # for a checkpoint


@dataclass
class _Known:
    """What is known of all features: the bound so far, which of them are out and which are in."""

    bound: float
    out: np.ndarray
    inside: np.ndarray  # those that are always in, too

    @classmethod
    def at_first(cls, problem: Problem, least: float) -> "_Known":
        """That no objective is below `least`, and nothing of features, or groups, but which are always in."""
        out, inside = np.zeros((2, _n_choices(problem) + len(_always(problem))), dtype=bool)
        inside[_always(problem)] = True
        return cls(least, out, inside)

    def learn(self, costs: Costs, plane: Plane, k: int, objective: float, columns: np.ndarray | slice) -> None:
        """Take in what a plane over some columns says, of which all others are out already."""
        self.bound = max(self.bound, float(costs.bounds(plane, k)[-1]))
        found = screened(costs, plane, k, objective)
        self.out[columns] |= found.out
        self.inside[columns] |= found.inside

    @property
    def left(self) -> np.ndarray:
        return np.flatnonzero(~self.out)

    def certificate(self, problem: Problem, fit: Fitted, n_parts: int = 0, finished: bool = False) -> Certificate:
        """What is proved of this model."""
        value = min(self.bound, fit.objective)
        bound = GlobalBound(problem.cardinality.k, value, fit.objective, problem.counted, problem.limit)
        n_in = int(self.inside.sum()) - len(_always(problem))
        return Certificate(fit, bound, int(self.out.sum()), n_in, n_parts, finished)


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
    penalty = problem.penalty
    n_groups = penalty.n_groups if isinstance(penalty, GroupCardinality) else None
    search = restored_search(saved, problem.data.n_features, n_groups)
    yield from _iterates(problem, _resumed(problem, options, search), search.steps)
    return StopReason.SEARCH_LIMIT


def _iterates(problem: Problem, certificates: Iterator[Certificate], steps: int) -> Generator[Iterate, None, bool]:
    """The iterates of certificates; whether there are any."""
    told = False
    for found in certificates:
        told = True
        w = np.zeros(problem.data.n_features)
        w[found.fit.support] = found.fit.coef
        searched = Searched(found.bound.value, found.n_parts)
        point = Iterate(w, found.fit.intercept, steps, found.fit.objective, bound=partial(_same, found.bound))
        proved = None
        if found.finished:
            bound, n_choices = found.bound, _n_choices(problem)
            proved = SearchedAll(bound.k, bound.gap, n_choices, found.n_out, found.n_in, found.n_parts, bound.counted,
                                 bound.limit)  # fmt: skip
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
    known = _Known.at_first(problem, least)
    of = _certified_groups if isinstance(problem.penalty, GroupCardinality) else _certified_features
    try:
        yield from of(problem, fit, options, model, known)
    except OutOfTimeError:  # before the search, which ends by itself
        if known.bound > 0.0:
            yield known.certificate(problem, fit)


def _certified_features(
    problem: Problem, fit: Fitted, options: Options, model: LocalQuadratic | None, known: _Known
) -> Iterator[Certificate]:
    k, d, quadratic = problem.cardinality.k, problem.data.n_features, problem.loss.quadratic
    memory, budget = _memory(options), _budget(options)
    most = int(np.sqrt(memory / (8 * PRODUCT_COPIES)))  # columns whose products fit
    late, ridge = budget.deadline, Costs.of(problem).bounding
    if ridge and not (quadratic and d <= min(most, problem.data.n_rows)):
        by_products = model is not None and _quadratic_root(model, fit, known, options)
        for _ in by_products or _true_root(problem, fit, known, late):
            closed = known.bound >= fit.objective  # as where models within a limit are worse than the one found
            yield known.certificate(problem, fit, finished=closed)
            if closed:
                return
            late.check()
    left = known.left
    rows_fit = quadratic or 24 * problem.data.n_rows * len(left) <= memory  # three copies of the columns
    subsets: Subsets
    by_candidates = len(left) > min(most, max(problem.data.n_rows, WIDE)) and problem.data.cheap_passes
    by_candidates = by_candidates and model is not None and ridge
    if by_candidates:
        assert model is not None
        left, subsets = np.arange(d), CandidateSubsets(model, k, _most_rows(memory, d), late)
    elif (quadratic and len(left) > most) or not rows_fit or not (ridge or quadratic):
        return  # what is left does not fit into the memory, or nothing bounds it
    else:
        near = problem if len(left) == d else cut_to(problem, left, memory)
        if quadratic:
            quadratic_left, left = _quadratic_left(near, fit, known, left, late)
            subsets = QuadraticSubsets.of(quadratic_left, k, fit.objective, problem.data.send, late)
        else:
            subsets = TrueSubsets.of(near, k + len(problem.always_in), fit.objective, problem.data.send, late)
    if known.bound <= 0.0 and not ridge:
        return
    yield known.certificate(problem, fit, finished=known.bound >= fit.objective)
    if known.bound >= fit.objective:
        return
    first = np.where(known.inside[left], 1, np.where(known.out[left], -1, 0)).astype(np.int8)
    if quadratic:
        first[np.isin(left, problem.always_in)] = -1  # the products are of what they leave
    task = _Task(problem, fit, known, left, by_candidates, options.memory)
    yield from task.certificates(branch_and_bound(subsets, State(None, fit.objective, known.bound), first, budget))


def _certified_groups(
    problem: Problem, fit: Fitted, options: Options, model: LocalQuadratic | None, known: _Known
) -> Iterator[Certificate]:
    """The same for groups: the products of all columns, or their rows, are in memory, and so there is only a search."""
    always, left, budget = _always(problem), np.arange(len(known.out)), _budget(options)
    rows_fit = 16 * problem.data.n_rows * problem.data.n_features <= _memory(options)
    if model is None and not (rows_fit and Costs.of(problem).bounding):
        return
    subsets = _group_subsets(problem, model, budget.deadline)
    if subsets is None:
        return
    yield known.certificate(problem, fit)
    task = _Task(problem, fit, known, left, False, options.memory)
    first = np.zeros(len(left), dtype=np.int8)
    first[always] = 1 if model is None else -1
    state = State(None, fit.objective, known.bound)
    yield from task.certificates(branch_and_bound(subsets, state, first, budget))


def _group_subsets(problem: Problem, model: LocalQuadratic | None, deadline: Deadline) -> Subsets | None:
    """All groups, by their products (`model`) or by their rows; None where nothing bounds them."""
    k = problem.cardinality.k
    if model is None:
        return TrueGroups(problem, k + len(_always(problem)), deadline)
    whole = model.among_candidates()
    quadratic = whole.shifted(diagonal_shift(whole.G))
    return QuadraticGroups(quadratic, k, deadline) if quadratic.costs.bounding else None


def _n_choices(problem: Problem) -> int:
    """How many there are of what models have at most k: features, or groups of them, but for those always in."""
    penalty = problem.penalty
    every = penalty.n_groups if isinstance(penalty, GroupCardinality) else problem.data.n_features
    return every - len(_always(problem))


def _always(problem: Problem) -> np.ndarray:
    """The features, or groups, that are always in."""
    penalty = problem.penalty
    return penalty.groups_in if isinstance(penalty, GroupCardinality) else problem.always_in


def _resumed(problem: Problem, options: Options, search: SavedSearch) -> Iterator[Certificate]:
    """Certificates of a search that goes on with the parts that were left."""
    fit, known, budget = search.fit, _Known(search.bound, search.out, search.inside), _budget(options)
    try:
        subsets = _subsets_of(problem, search, _memory(options), budget.deadline)
    except OutOfTimeError:
        yield known.certificate(problem, fit, search.n_parts)._replace(search=lambda: search)
        return
    if subsets is None:
        return
    state = State(None, fit.objective, known.bound, search.n_parts)
    task = _Task(problem, fit, known, search.left, search.by_candidates, options.memory)
    yield from task.certificates(branch_and_bound(subsets, state, search.parts, budget))


def _subsets_of(problem: Problem, search: SavedSearch, memory: int, late: Deadline) -> Subsets | None:
    """What a saved search is of."""
    fit, left, k, d = search.fit, search.left, problem.cardinality.k, problem.data.n_features
    if isinstance(problem.penalty, GroupCardinality):
        return _group_subsets(problem, _products(problem, d) if problem.loss.quadratic else None, late)
    if search.by_candidates:
        candidates = np.union1d(fit.support, search.parts.places)
        model = LocalQuadratic(problem, np.zeros(d), empty_intercept(problem), candidates)
        return CandidateSubsets(model, k, _most_rows(memory, d), late)
    there = np.union1d(left, problem.always_in)
    near = problem if len(there) == d else cut_to(problem, there, memory)
    if not problem.loss.quadratic:
        return TrueSubsets.of(near, k + len(problem.always_in), fit.objective, problem.data.send, late)
    whole = _products(near, len(there)).among_candidates().among(np.searchsorted(there, left))
    whole = whole.shifted(diagonal_shift(whole.G, late))
    return QuadraticSubsets.of(whole, k, fit.objective, problem.data.send, late)


@dataclass
class _Task:
    """What is searched: some columns of a problem, from the best model known."""

    problem: Problem
    fit: Fitted
    known: _Known
    left: np.ndarray
    by_candidates: bool
    memory: int | None

    def certificates(self, states: Iterator[State]) -> Iterator[Certificate]:
        """What the states of a search prove."""
        for found in states:
            if found.members is not None and found.objective < self.fit.objective:
                support = self._columns(self.left[found.members])
                start = np.zeros(len(support)), empty_intercept(self.problem)
                self.fit = Refits(self.problem, support, self.memory).fit([support], [start])[0]
            self.known.bound = max(self.known.bound, found.bound)
            certificate = self.known.certificate(self.problem, self.fit, found.n_parts, found.finished)
            yield certificate._replace(search=partial(self._search, found))

    def _columns(self, chosen: np.ndarray) -> np.ndarray:
        """The columns of a model of these features, or groups."""
        penalty = self.problem.penalty
        return np.flatnonzero(np.isin(penalty.groups, chosen)) if isinstance(penalty, GroupCardinality) else chosen

    def _search(self, found: State) -> SavedSearch:
        known, parts = self.known, found.parts
        assert parts is not None
        return SavedSearch(
            self.fit, known.bound, known.out, known.inside, self.left, self.by_candidates, found.n_parts, 0, parts()
        )


def _memory(options: Options) -> int:
    return MEMORY_UNTOLD if options.memory is None else options.memory


def _budget(options: Options) -> Budget:
    return Budget(options.certify or 0.0, Deadline(options.certify_seconds), SHARE_OF_MEMORY * _memory(options))


def _most_rows(memory: int, d: int) -> int:
    """Of products of single columns with all, and of as many candidates."""
    return int(SHARE_OF_MEMORY * memory / (16 * d))


def _products(near: Problem, n_columns: int) -> LocalQuadratic:
    """The products of all these columns."""
    return LocalQuadratic(near, np.zeros(n_columns), empty_intercept(near), np.arange(n_columns))


def _quadratic_root(model: LocalQuadratic, fit: Fitted, known: _Known, options: Options) -> Iterator[None]:
    """Planes from the products of candidates, more of them until the relaxation wants no others."""
    k, d = model.problem.cardinality.k, len(model.w)
    there = np.isin(fit.support, model.problem.always_in, invert=True)
    chosen = fit.support[there]
    size = Size(k, chosen, fit.coef[there] * model.unit[chosen])
    if model.hessian.keeps_rows:
        model.hessian.require(chosen)
    room = room_for(k, d, options).candidates - max(len(model.candidates), model.hessian.n_rows)
    more = MORE if model.problem.data.cheap_passes else min(MORE_FROM_DISK, max(MORE, room // 2))
    rounds = ROUNDS if model.problem.data.cheap_passes else min(ROUNDS, room // more)
    for found in relaxed_planes(model, size, 0.0, more, rounds):
        known.learn(found.costs, found.plane, k, fit.objective, slice(None))
        yield


def _true_root(problem: Problem, fit: Fitted, known: _Known, deadline: Deadline) -> Iterator[None]:
    """Planes of another loss, from relaxations among some columns and then those that it wants: a pass each."""
    k, d = problem.cardinality.k, problem.data.n_features
    costs, w, b, price = Costs.of(problem), np.zeros(d), fit.intercept, 0.0
    w[fit.support] = fit.coef
    columns = np.arange(d) if d <= MORE else fit.support
    for _ in range(ROUNDS):
        plane = tangent(problem, first_order(problem, w, b))
        known.learn(costs, plane, k, fit.objective, slice(None))
        yield
        reliefs = costs.reliefs(plane.slopes)
        reliefs[columns] = 0.0
        wanted = np.argsort(-reliefs, kind="stable")[:MORE]
        wanted = wanted[reliefs[wanted] > price]
        if price and len(wanted) == 0:
            return
        columns = np.union1d(columns, wanted)
        start = RelaxedPoint(w[columns], b, price)
        near = cut_to(problem, columns)
        found = relaxed_point(near, k, start, deadline=deadline)
        w[columns], b, price = found.w, found.b, found.price


def _quadratic_left(
    near: Problem, fit: Fitted, known: _Known, left: np.ndarray, deadline: Deadline
) -> tuple[Quadratic, np.ndarray]:
    """The products of the columns that are left, and which are after screening by their own planes."""
    model = _products(near, len(left))
    whole, k = model.among_candidates(), near.cardinality.k
    kept = model.others(np.arange(len(left)))
    start = np.zeros(len(left))
    there = np.isin(fit.support, left)
    places = np.searchsorted(left, fit.support[there])
    start[places] = fit.coef[there] * model.unit[places]
    while True:
        part = whole.among(kept)
        quadratic = part.shifted(diagonal_shift(part.G, deadline))
        if not quadratic.costs.bounding:
            return quadratic, left[kept]
        found = quadratic.relaxed(Node(np.zeros(len(kept)), start[kept]), k)
        known.learn(quadratic.costs, quadratic.plane(found.w, found.r), k, fit.objective, left[kept])
        start[kept] = found.w
        still = ~known.out[left[kept]]
        if known.bound >= fit.objective or np.count_nonzero(still) > SHRINKS * len(kept):
            return quadratic.among(np.flatnonzero(still)), left[kept[still]]
        kept = kept[still]

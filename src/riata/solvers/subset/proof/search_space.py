"""What branch and bound searches: features that bounds at the root leave, by their products, rows or candidates."""

from typing import NamedTuple

import numpy as np

from riata.objective import Problem, empty_intercept
from riata.solvers.iterate import Options
from riata.solvers.subset.local.local_quadratic import LocalQuadratic, products_of
from riata.solvers.subset.local.refit import Fitted, cut_to
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.solvers.subset.proof.branch_and_bound import Subsets
from riata.solvers.subset.proof.candidate_subsets import CandidateSubsets
from riata.solvers.subset.proof.deadline import Deadline
from riata.solvers.subset.proof.group_subsets import QuadraticGroups, TrueGroups
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.proof.proof_so_far import ProofSoFar
from riata.solvers.subset.proof.quadratic_subsets import QuadraticSubsets
from riata.solvers.subset.proof.relaxation import diagonal_shift
from riata.solvers.subset.proof.root_bounds import quadratic_left
from riata.solvers.subset.proof.saved_search import SavedSearch
from riata.solvers.subset.proof.true_subsets import TrueSubsets

PRODUCT_COPIES = 6  # of the products of all columns that are searched, while they are made and used
COLUMN_COPIES = 3  # of the columns that are searched in memory
WIDE = 1000  # columns: as many as rows, and as this, are searched by their products, the others by candidates
SHARE_OF_MEMORY = 0.5  # for what grows with the search: nodes that are left, and models that were tried


class SearchSpace(NamedTuple):
    """Models of some features, or groups."""

    subsets: Subsets
    left: np.ndarray  # the features, or groups
    by_candidates: bool = False  # whether those are all features, relaxed by candidates


def memory_of(options: Options) -> int:
    """The bytes that a search may take."""
    return MEMORY_UNTOLD if options.memory is None else options.memory


def most_products(memory: int) -> int:
    """How many columns there may be for the products of all of them to fit."""
    return int(np.sqrt(memory / (8 * PRODUCT_COPIES)))


def space_of_features(
    problem: Problem,
    fit: Fitted,
    options: Options,
    model: LocalQuadratic | None,
    proof: ProofSoFar,
    deadline: Deadline,
) -> SearchSpace | None:
    """The features that are left; None where they do not fit into the memory, or nothing bounds models of them."""
    k, d, data = problem.cardinality.k, problem.data.n_features, problem.data
    left, memory = proof.left, memory_of(options)
    most, bounded = most_products(memory), Costs.of(problem).bounding
    if model is not None and bounded and data.cheap_passes and len(left) > min(most, max(data.n_rows, WIDE)):
        return SearchSpace(CandidateSubsets(model, k, _most_rows(memory, d), deadline), np.arange(d), True)
    if problem.loss.quadratic:
        if len(left) > most:
            return None
        near = problem if len(left) == d else cut_to(problem, left, memory)
        quadratic, left = quadratic_left(near, fit, proof, left, deadline)
        return SearchSpace(QuadraticSubsets.of(quadratic, k, fit.objective, data.send, deadline), left)
    if not bounded or 8 * COLUMN_COPIES * data.n_rows * len(left) > memory:
        return None
    near = problem if len(left) == d else cut_to(problem, left, memory)
    every = k + len(problem.always_in)
    return SearchSpace(TrueSubsets.of(near, every, fit.objective, data.send, deadline), left)


def space_of_groups(
    problem: Problem, options: Options, model: LocalQuadratic | None, deadline: Deadline
) -> SearchSpace | None:
    """All groups; None where their rows do not fit into the memory, or nothing bounds models of them."""
    rows_fit = 16 * problem.data.n_rows * problem.data.n_features <= memory_of(options)
    if model is None and not (rows_fit and Costs.of(problem).bounding):
        return None
    subsets = _group_subsets(problem, model, deadline)
    every = problem.n_choices + len(problem.cardinality.choices_in)
    return None if subsets is None else SearchSpace(subsets, np.arange(every))


def _group_subsets(problem: Problem, model: LocalQuadratic | None, deadline: Deadline) -> Subsets | None:
    """All groups, by their products (`model`) or by their rows; None where nothing bounds them."""
    k = problem.cardinality.k
    if model is None:
        return TrueGroups(problem, k + len(problem.cardinality.choices_in), deadline)
    whole = model.among_candidates()
    quadratic = whole.shifted(diagonal_shift(whole.G))
    return QuadraticGroups(quadratic, k, deadline) if quadratic.costs.bounding else None


def saved_space(problem: Problem, search: SavedSearch, memory: int, deadline: Deadline) -> SearchSpace | None:
    """The models that a saved search goes on among; None where they do not fit into the memory."""
    subsets = _saved_subsets(problem, search, memory, deadline)
    return None if subsets is None else SearchSpace(subsets, search.left, search.by_candidates)


def _saved_subsets(problem: Problem, search: SavedSearch, memory: int, deadline: Deadline) -> Subsets | None:
    fit, left, k, d = search.fit, search.left, problem.cardinality.k, problem.data.n_features
    if problem.cardinality.groups is not None:
        return _group_subsets(problem, products_of(problem) if problem.loss.quadratic else None, deadline)
    if search.by_candidates:
        candidates = np.union1d(fit.support, search.frontier.places)
        model = LocalQuadratic.at(problem, np.zeros(d), empty_intercept(problem), candidates)
        return CandidateSubsets(model, k, _most_rows(memory, d), deadline)
    there = np.union1d(left, problem.always_in)
    near = problem if len(there) == d else cut_to(problem, there, memory)
    if not problem.loss.quadratic:
        return TrueSubsets.of(near, k + len(problem.always_in), fit.objective, problem.data.send, deadline)
    whole = products_of(near).among_candidates().among(np.searchsorted(there, left))
    whole = whole.shifted(diagonal_shift(whole.G, deadline))
    return QuadraticSubsets.of(whole, k, fit.objective, problem.data.send, deadline)


def _most_rows(memory: int, d: int) -> int:
    """How many rows of products with all columns there is memory for, beside those of as many candidates."""
    return int(SHARE_OF_MEMORY * memory / (16 * d))

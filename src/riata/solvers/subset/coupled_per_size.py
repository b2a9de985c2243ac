"""The best models with 1, 2, ..., k features where a loss has several margins a row, or its rows go together.

One sweep upwards on the local quadratic of the empty model, with swaps at every size; where that is not the loss
itself, one more on the local quadratic of the largest of these models. All supports are refitted, and the better one of
each size is taken.
"""

import numpy as np

from riata.objective import Problem
from riata.outcome.proofs import RefittedSupports, SwapOptimalPath
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.iterate import Options
from riata.solvers.subset.best_coupled import CoupledSearch
from riata.solvers.subset.local.coupled_quadratic import CoupledQuadratic, coefficients_of
from riata.solvers.subset.local.coupled_refit import CoupledRefits
from riata.solvers.subset.local.refit import Fitted, empty_model
from riata.solvers.subset.search.size_sweeps import Made
from riata.threads import one_blas_thread

Proposal = tuple[np.ndarray, Point]  # features, and where to begin
PathProof = SwapOptimalPath | RefittedSupports


def coupled_per_size(problem: Problem, k_max: int, options: Options, made: Made) -> tuple[list[Fitted], PathProof]:
    """A model for every number of features up to k_max, up to the last that helps, and what is proved of them."""
    search = CoupledSearch(problem, options, k_max)
    with one_blas_thread():
        model = search.at_empty()
        everything = len(model.features) == problem.data.n_features
        found = _refitted(search, _swept(model, k_max), [], options, made)
        proof: PathProof = SwapOptimalPath() if search.is_quadratic and everything else RefittedSupports(1)
        if found and not isinstance(proof, SwapOptimalPath) and not search.is_separated(found[-1]):
            top = search.at(found[-1])
            top.search.go_to([])
            again = _refitted(search, _swept(top, len(found)), found, options, made)
            found, proof = _best_so_far(found, again), RefittedSupports(2)
    return found or [empty_model(problem)], proof


def _swept(model: CoupledQuadratic, k_max: int) -> list[Proposal]:
    """The features of every size, and where the quadratic is least with them."""
    swept = []
    for k in range(1, k_max + 1):
        model.search.forward(k)
        if len(model.search.members) < k:
            break
        model.search.swap(k)
        swept.append((model.members, model.minimum()))
    return swept


def _refitted(
    search: CoupledSearch, swept: list[Proposal], known: list[Fitted], options: Options, made: Made
) -> list[Fitted]:
    """Every support fitted to the true loss, from the fit before where that is the better start.

    Those that are known are taken as they are. The fits end with the first that leaves nothing to explain: more
    features leave nothing either, and their coefficients would grow without end.
    """
    if not swept:
        return []
    refits = CoupledRefits(search.problem, np.unique(np.concatenate([features for features, _ in swept])), options)
    by_support = {fit.support.tobytes(): fit for fit in known}
    found: list[Fitted] = []
    for features, start in swept:
        columns = coefficients_of(features, search.problem.loss.n_outputs)
        fit = by_support.get(columns.tobytes())
        if fit is None:
            fit = refits.fit(features, start, search.point(found[-1]) if found else None)
        found.append(fit)
        made(len(found), len(swept))
        if search.is_separated(fit):
            break
    return found


def _best_so_far(first: list[Fitted], second: list[Fitted]) -> list[Fitted]:
    """The best model of at most each size, of two sweeps."""
    best: list[Fitted] = []
    for i in range(max(len(first), len(second))):
        best.append(min(best[-1:] + first[i : i + 1] + second[i : i + 1], key=lambda fit: fit.objective))
    return best

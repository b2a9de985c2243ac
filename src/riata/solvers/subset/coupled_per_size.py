"""The best models of rising numbers of features where a loss has several margins a row, or its rows go together.

One sweep upwards on the local quadratic of the empty model, with swaps at every size; where that is not the loss
itself, one more on the local quadratic of the largest of these models. All supports are refitted, and the better one of
each size is taken. Under a ridge, which keeps margins small, the first sweep is good enough for models to be scored.
"""

from collections.abc import Sequence

import numpy as np

from riata.objective import Problem
from riata.outcome.proofs import RefittedSupports, SwapOptimalPath
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.iterate import Options
from riata.solvers.subset.best_coupled import CoupledSearch
from riata.solvers.subset.local.coupled_quadratic import CoupledQuadratic, coefficients_of
from riata.solvers.subset.local.coupled_refit import PRECISION, CoupledRefits
from riata.solvers.subset.local.refit import Fitted, empty_model
from riata.solvers.subset.search.size_sweeps import Made, untold
from riata.threads import one_blas_thread

Proposal = tuple[np.ndarray, Point]  # features, and where to begin
PathProof = SwapOptimalPath | RefittedSupports


def coupled_per_size(
    problem: Problem,
    sizes: Sequence[int],
    options: Options,
    made: Made = untold,
    precision: float = PRECISION,
    n_sweeps: int = 2,
) -> tuple[list[Fitted], PathProof]:
    """A model of at most so many features for each of these rising sizes, up to the last that helps, and what is
    proved of them."""
    search = CoupledSearch(problem, options, sizes[-1])
    with one_blas_thread():
        model = search.at_empty()
        everything = len(model.features) == problem.data.n_features
        found = _refitted(search, _swept(model, sizes), [], options, made, precision)
        proof: PathProof = SwapOptimalPath() if search.is_quadratic and everything else RefittedSupports(1)
        again = n_sweeps > 1 and not isinstance(proof, SwapOptimalPath)
        if found and again and not search.is_separated(found[-1]):
            top = search.at(found[-1])
            top.search.go_to([])
            others = _refitted(search, _swept(top, sizes[: len(found)]), found, options, made, precision)
            found, proof = _best_so_far(found, others), RefittedSupports(2)
    return found or [empty_model(problem)], proof


def _swept(model: CoupledQuadratic, sizes: Sequence[int]) -> list[Proposal]:
    """The features of every size, and where the quadratic is least with them."""
    swept = []
    for k in sizes:
        before = len(model.search.members)
        model.search.forward(k)
        if len(model.search.members) == before:
            break
        model.search.swap(k)
        swept.append((model.members, model.minimum()))
    return swept


def _refitted(
    search: CoupledSearch,
    swept: list[Proposal],
    known: list[Fitted],
    options: Options,
    made: Made,
    precision: float,
) -> list[Fitted]:
    """Every support fitted to the true loss, from the fit before where that is the better start.

    Those that are known are taken as they are. The fits end with the first that leaves nothing to explain: more
    features leave nothing either, and their coefficients would grow without end.
    """
    if not swept:
        return []
    refits = CoupledRefits(
        search.problem, np.unique(np.concatenate([features for features, _ in swept])), options, precision
    )
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

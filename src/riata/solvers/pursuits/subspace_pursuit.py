"""Subspace pursuit (Dai & Milenkovic, 2009): add the k features of largest slope, find the best weights, keep the k
largest, find the best weights again,
    T <- S + the k largest of |g|,    S <- the k largest of the best weights on T,    v <- the best weights on S,
until that no longer lowers the loss.
"""

from collections.abc import Iterator

import numpy as np

from riata.objective import Problem, empty_intercept
from riata.outcome.proofs import NoBetterRound
from riata.solvers.iterate import Iterate, Options
from riata.solvers.pursuits.pursuit import Pursuit, largest


def subspace_pursuit(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate for every support: three passes each."""
    pursuit = Pursuit(problem, options)
    _, g, _ = pursuit.at(np.zeros(problem.data.n_features), empty_intercept(problem))
    support = largest(g, pursuit.k)
    v, b, F = pursuit.best_on(support)
    t, better = 0, True
    while better:
        t += 1
        yield pursuit.iterate(v, b, t, F)
        _, g, _ = pursuit.at(v, b)
        u, _, _ = pursuit.best_on(np.union1d(support, largest(g, pursuit.k)))
        found = largest(u, pursuit.k)
        v_found, b_found, F_found = pursuit.best_on(found)
        better = F_found < F
        if better:
            support, v, b, F = found, v_found, b_found, F_found
    yield pursuit.iterate(v, b, t, F, proof=NoBetterRound(times_k=1))

"""CoSaMP (Needell & Tropp, 2009): add the 2k features of largest slope, find the best weights, keep the k largest,
    T <- S + the 2k largest of |g|,    u <- the best weights on T,    v <- H_k(u),    S <- the support of v.

It ends when that no longer lowers the loss; the best weights on the last support are the answer.
"""

from collections.abc import Iterator

import numpy as np

from riata.objective import Problem, empty_intercept
from riata.outcome.proofs import NoBetterRound
from riata.penalties import hard_threshold
from riata.solvers.iterate import Iterate, Options
from riata.solvers.pursuits.pursuit import Pursuit, largest


def cosamp(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate for every support: two passes each."""
    pursuit = Pursuit(problem, options)
    v, b, t = np.zeros(problem.data.n_features), empty_intercept(problem), 0
    F, g, _ = pursuit.at(v, b)
    while True:
        t += 1
        merged = np.union1d(largest(g, 2 * pursuit.k), np.flatnonzero(v))
        u, c, _ = pursuit.best_on(merged)
        pruned = hard_threshold(u, pursuit.k)
        F_pruned, g_pruned, _ = pursuit.at(pruned, c)
        if F_pruned >= F:
            break
        v, b, F, g = pruned, c, F_pruned, g_pruned
        yield pursuit.iterate(v, b, t, F)
    v, b, F = pursuit.best_on(np.flatnonzero(v))
    yield pursuit.iterate(v, b, t, F, proof=NoBetterRound(times_k=2))

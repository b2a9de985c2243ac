"""Orthogonal matching pursuit (Pati, Rezaiifar & Krishnaprasad, 1993): one feature at a time, none ever removed.
S <- S + argmax_j |a_j' r|,    v <- the best weights on S,    r the residual (the slopes of the loss).
"""

from collections.abc import Iterator

import numpy as np

from riata.objective import Problem
from riata.outcome.proofs import AllTaken
from riata.solvers.iterate import Iterate, Options
from riata.solvers.pursuits.pursuit import Pursuit


def omp(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate for every feature: two passes each."""
    pursuit = Pursuit(problem, options)
    support = np.empty(0, dtype=np.int64)
    v, b, _ = pursuit.best_on(support)
    for t in range(1, pursuit.k + 1):
        _, g, _ = pursuit.at(v, b)
        g[support] = 0.0
        support = np.union1d(support, [np.argmax(np.abs(g))])
        v, b, F = pursuit.best_on(support)
        yield pursuit.iterate(v, b, t, F, proof=AllTaken(t) if t == pursuit.k else None)

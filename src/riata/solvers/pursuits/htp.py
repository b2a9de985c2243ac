"""Hard thresholding pursuit (Foucart, 2011): the k largest weights after a gradient step, then the best weights on
them, S <- the k largest of |v - g / L|,    v <- the best weights on S,    until S repeats.
"""

from collections.abc import Iterator

import numpy as np

from riata.objective import Problem, empty_intercept
from riata.outcome.proofs import SameSupport
from riata.solvers.iterate import Iterate, Options
from riata.solvers.pursuits.pursuit import Pursuit, largest


def htp(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate for every support: two passes each."""
    pursuit = Pursuit(problem, options)
    L = pursuit.curvature()
    v, b, t = np.zeros(problem.data.n_features), empty_intercept(problem), 0
    support, repeats = np.empty(0, dtype=np.int64), False
    while not repeats:
        t += 1
        _, g, _ = pursuit.at(v, b)
        before, support = support, largest(v - g / L, pursuit.k)
        repeats = np.array_equal(before, support)
        v, b, F = pursuit.best_on(support)
        yield pursuit.iterate(v, b, t, F, proof=SameSupport() if repeats else None)

"""Iterative hard thresholding (Blumensath & Davies, 2009): a gradient step on all rows, then the k largest weights,
v <- H_k(v - g / L),    L the largest curvature, so that no step raises the loss. H_k is the prox of the constraint.
"""

from collections.abc import Iterator

import numpy as np

from riata.objective import Problem, empty_intercept
from riata.solvers.iterate import Iterate, Options
from riata.solvers.pursuits.pursuit import Pursuit


def iht(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate after every pass."""
    pursuit = Pursuit(problem, options)
    L, penalty = pursuit.curvature(), problem.cardinality
    v, b, t = np.zeros(problem.data.n_features), empty_intercept(problem), 0
    F, g, by_b = pursuit.at(v, b)
    while True:
        t += 1
        v = penalty.prox(v - g / L, 1.0 / L)
        if problem.fit_intercept:
            b -= by_b / problem.loss.curvature
        F, g, by_b = pursuit.at(v, b)
        yield pursuit.iterate(v, b, t, F)

"""Regularised dual averaging (Xiao, JMLR 2010, Algorithm 1): weights follow from the average of all slopes so far
and the penalty itself,
    z += a' loss'(y, a . w),    w = -soft(z, l1 t) / (beta_t + l2 t),    beta_t = sqrt(t) / eta.
By default beta_t = L + sqrt(L t) with L the curvature along the largest row, so that the first steps of a loss
without bounded slopes do not overshoot (Xiao's section 4 for smooth losses).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riata.kernels.rda import rda_sweep
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method, MethodMemory, State, Sweep, stochastic


@dataclass(frozen=True)
class Rda(Method):
    l1: float
    l2: float
    schedule = "constant"
    order = "shuffled"
    sign_flips = frozenset({"z"})

    def memory(self, n_features: int) -> MethodMemory:
        return {"z": np.zeros(n_features + 1), "total": np.zeros(1)}

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        z, total = state.memory["z"], state.memory["total"]
        moved: tuple[float, float]
        moved = rda_sweep(sweep.steps, self.l1, self.l2, z, total, state.w, state.b, learn_b, state.largest)
        return moved


def rda(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Dual averaging, a row or a batch at a time."""
    return stochastic(problem, Rda(*problem.standardised_strengths), options)

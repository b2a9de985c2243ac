"""Regularised dual averaging (Xiao, JMLR 2010, Algorithm 1): the average slope so far decides, and the penalty is
never approximated,
    z += a' loss'(y, a . w),    w = -soft(z, l1 t) / (beta_t + l2 t),    beta_t = sqrt(t) / eta.
Left to riata, beta_t = L + sqrt(L t) with L the curvature along the largest row, so that the first steps of a loss
without bounded slopes do not overshoot (Xiao's section 4 for smooth losses).
"""

from dataclasses import dataclass

import numpy as np

from riata.kernels.rda import rda_sweep
from riata.objective import Problem
from riata.solvers.iterate import Options
from riata.solvers.stochastic.method import Method, stochastic


@dataclass(frozen=True)
class Rda(Method):
    l1: float
    l2: float
    schedule = "constant"
    order = "shuffled"
    sign_flips = frozenset({"z"})

    def memory(self, n_features):
        return {"z": np.zeros(n_features + 1), "total": np.zeros(1)}

    def sweep(self, sweep, state, learn_b):
        z, total = state.memory["z"], state.memory["total"]
        return rda_sweep(sweep.steps, self.l1, self.l2, z, total, state.w, state.b, learn_b, state.largest)


def rda(problem: Problem, options: Options):
    """Dual averaging, a row or a batch at a time."""
    return stochastic(problem, Rda(*problem.standardised_strengths), options)

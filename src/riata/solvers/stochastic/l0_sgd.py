"""SGD under a cardinality constraint (the paper's Algorithm 5): a gradient step on one row, then all but the k largest
weights become zero,
    w <- H_k(w - eta_t a' loss'(y, a . w)),    constant steps.
"""

from dataclasses import dataclass

from riata.kernels.l0_sgd import l0_sgd_sweep
from riata.objective import Problem
from riata.solvers.iterate import Options
from riata.solvers.stochastic.method import Method, stochastic


@dataclass(frozen=True)
class L0Sgd(Method):
    k: int
    schedule = "constant"

    def sweep(self, sweep, state, learn_b):
        return l0_sgd_sweep(sweep.steps, self.k, state.w, state.b, learn_b, state.largest)


def l0_sgd(problem: Problem, options: Options):
    """Hard-thresholded SGD, a row or a batch at a time."""
    return stochastic(problem, L0Sgd(problem.cardinality.k), options)

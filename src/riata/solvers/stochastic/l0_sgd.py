"""SGD under a cardinality constraint (the paper's Algorithm 5): a gradient step on one row, then all but the k largest
weights become zero,
    w <- H_k(w - eta_t a' loss'(y, a . w)),    constant steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from riata.kernels.l0_sgd import l0_sgd_sweep
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method, State, Sweep, stochastic


@dataclass(frozen=True)
class L0Sgd(Method):
    k: int
    schedule = "constant"

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        return l0_sgd_sweep(sweep.steps, self.k, state.w, state.b, learn_b, state.largest)


def l0_sgd(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Hard-thresholded SGD, a row or a batch at a time."""
    return stochastic(problem, L0Sgd(problem.cardinality.k), options)

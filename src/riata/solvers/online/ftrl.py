"""FTRL-Proximal (McMahan et al., KDD 2013, Algorithm 1): follow the regularised leader of all past slopes, with
proximity to all past weights, a rate for each feature, and the penalty of all past rows in closed form,
    g = a' loss'(y, a . w),    sigma_j = sqrt(n_j + g_j^2) - sqrt(n_j),    n_j += g_j^2,
    z_j += eta_t g_j - sigma_j w_j,    w_j = -soft(z_j, l1 sum_s eta_s) / (1 + sqrt(n_j) + l2 sum_s eta_s).
The paper's z is this one divided by its constant step (and its beta is 1). Its fixed threshold grows here with the
rows, because F is a mean: every row brings its share of the penalty (McMahan, AISTATS 2011). Where margins are
logarithms of means, they are counted from that of the mean of the targets so far, and g and the penalty are divided by
the curvature there, so that the unit of the target does not matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riata.kernels.ftrl import ftrl_sweep
from riata.kernels.mean_so_far import MeanSoFar
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method, MethodMemory, State, Sweep, stochastic


@dataclass(frozen=True)
class Ftrl(Method):
    l1: float
    l2: float
    schedule = "constant"
    order = "shuffled"

    def memory(self, n_features: int) -> MethodMemory:
        return {
            "z": np.zeros((n_features + 1, 2)),  # columns z and sqrt(n); the intercept last
            "debt": np.zeros(1), "mean_sums": np.zeros(3), "origin": np.zeros(1), "curvature": np.ones(1),
        }  # fmt: skip

    def mirrored(self, memory: MethodMemory) -> MethodMemory:
        return super().mirrored(memory) | {"z": memory["z"] * [-1.0, 1.0]}

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        memory, origin = state.memory, state.memory["origin"]
        b, largest = ftrl_sweep(
            sweep.steps, self.l1, self.l2, memory["z"], memory["debt"],
            MeanSoFar(sweep.loss.logarithms, memory["mean_sums"], origin, memory["curvature"]),
            state.w, state.b - float(origin[0]), learn_b, state.largest,
        )  # fmt: skip
        return float(origin[0] + b), largest


def ftrl(problem: Problem, options: Options) -> Iterator[Iterate]:
    """FTRL-Proximal, a row or a batch at a time."""
    return stochastic(problem, Ftrl(*problem.standardised_strengths), options)

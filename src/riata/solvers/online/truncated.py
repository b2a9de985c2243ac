"""Truncated gradient (Langford, Li & Zhang, JMLR 2009): gradient steps, and after every K of them their K
penalties at once, on weights that are not larger than theta,
    w <- w - eta_t a' loss'(y, a . w);    every K steps, where |w_j| <= theta:  w_j <- soft(w_j, l1 sum_K eta_s).
With K = 1 and theta infinite this is Fobos. One step's penalty is often smaller than the noise of one step; that of K
steps is less so, and more weights end at zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riata.kernels.truncated import truncated_sweep
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method, MethodMemory, State, Sweep, stochastic


@dataclass(frozen=True)
class Truncated(Method):
    l1: float
    ceiling: float = np.inf  # theta
    every: int = 10  # K
    schedule = "1/sqrt(t)"
    order = "shuffled"

    def memory(self, n_features: int) -> MethodMemory:
        return {"pending": np.zeros(1)}

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        moved: tuple[float, float] = truncated_sweep(
            sweep.steps, self.l1, self.ceiling, self.every, state.steps, state.memory["pending"],
            state.w, state.b, learn_b, state.largest,
        )  # fmt: skip
        return moved


def truncated(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Truncated gradient, a row or a batch at a time."""
    l1, _ = problem.standardised_strengths
    return stochastic(problem, Truncated(l1), options)

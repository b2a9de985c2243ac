"""Forward-backward splitting (Duchi & Singer 2009; the paper's Algorithm 4): a gradient step on some rows, then the
prox of the penalty,
    b_t = w - eta_t a' loss'(y, a . w),    w <- soft(b_t, eta_t l1) / (1 + eta_t l2),    eta_t = 1 / sqrt(t).
The variant by rounds uses half the penalty in the first half of all steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riata.kernels.fobos import fobos_sweep
from riata.objective import Problem
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method, State, Sweep, stochastic, total_steps


@dataclass(frozen=True)
class Fobos(Method):
    l1: float
    l2: float
    half_until: int = 0  # steps up to this one take half the penalty
    schedule = "1/sqrt(t)"

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        t = state.steps + 1 + np.arange(len(sweep.etas))
        share = np.where(t <= self.half_until, 0.5, 1.0)
        return fobos_sweep(sweep.steps, self.l1 * share, self.l2, state.w, state.b, learn_b, state.largest)


def fobos(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Stochastic, mini-batch or by rounds, as the options say."""
    l1, l2 = problem.standardised_strengths
    half = total_steps(problem, options) // 2 if options.rounds else 0
    return stochastic(problem, Fobos(l1, l2, half), options)

"""What a worker does with a part of the rows: it learns them from the beginning, as if there were no other part."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from riata.data.dataset import Run
from riata.kernels.online import SHIFT
from riata.kernels.rows import leaves_zeros_out
from riata.objective import Problem
from riata.solvers.iterate import Options
from riata.solvers.online.online import Online
from riata.solvers.online.progressive_validation import ProgressiveValidation, progressive_validation
from riata.solvers.stochastic.method import State, Stepper, first_state, make_stepper


class LearntPart(NamedTuple):
    """The state after the rows of a part, and how well it predicted them before it had learnt them."""

    state: State
    dense: bool  # whether columns are counted from their means
    progressive: ProgressiveValidation


@dataclass(frozen=True)
class PartLearner:
    """Learns the rows of a part, and makes of it what is to be left; it is sent to workers, and has no data."""

    stepper: Stepper
    n_features: int
    mean_weight: float
    means: np.ndarray | None  # of columns, which dense ones are counted from
    y_mean: float
    seed: int
    leave: Callable[[Any, LearntPart], Any]  # by the method: sums, which are added up over parts

    @classmethod
    def of(
        cls, problem: Problem, method: Online, options: Options, centred: bool, leave: Callable[[Any, LearntPart], Any]
    ) -> "PartLearner":
        data = problem.data
        method = replace(method, from_first_row=False)
        return cls(
            make_stepper(method, problem.loss, options.step, 1, problem.fit_intercept, problem.scale),
            data.n_features,
            data.total_weight / data.n_rows,
            data.moments.mean / problem.scale if centred else None,
            data.target_moments.y_mean if problem.fit_intercept else 0.0,
            options.seed or 0,
            leave,
        )

    def first_state(self) -> State:
        """A state in which targets are counted from their mean, where the loss lets them be."""
        state = first_state(self.stepper.method, self.n_features)
        if self.stepper.loss.relative:
            state.memory["origin"][:] = self.y_mean
        return state

    def __call__(self, run: Run) -> Any:
        method: Any = self.stepper.method
        state, first = self.first_state(), next(run)
        dense = self.means is not None and not leaves_zeros_out(method.rows(first[1].X, self.stepper.scale))
        if dense:
            state.memory["block"][:, SHIFT] = self.means
        rng = np.random.default_rng([self.seed, first[0]])
        progressive = ProgressiveValidation()
        for _, chunk in chain([first], run):
            visits, weight = rng.permutation(chunk.n_rows), chunk.weight / self.mean_weight
            z = self.stepper.advance(state, chunk._replace(weight=weight), visits)
            validated = progressive_validation(self.stepper.loss, chunk.y[visits], z, weight[visits])
            progressive = progressive.plus(validated)
        return self.leave(method, LearntPart(state, dense, progressive))

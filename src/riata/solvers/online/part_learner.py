"""What a worker does with a part of the rows: it learns them from the beginning, as if there were no other part.

It may leave the last ones for who puts parts together: rows that no part has learnt tell what the whole is worth.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from riata.data.chunk import Chunk, copied
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
    left: "LeftRows"


@dataclass(frozen=True)
class LeftRows:
    """Rows that parts have not learnt, in the order of the parts: they add up to all of them."""

    chunks: tuple[Chunk, ...] = ()

    def __add__(self, other: "LeftRows") -> "LeftRows":
        return LeftRows(self.chunks + other.chunks)


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
    n_left: int = 0  # rows of a part that are not learnt, at most

    @classmethod
    def of(
        cls,
        problem: Problem,
        method: Online,
        options: Options,
        centred: bool,
        leave: Callable[[Any, LearntPart], Any],
        n_left: int = 0,
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
            n_left,
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
        progressive, left = ProgressiveValidation(), LeftRows()
        chunks = (chunk._replace(weight=chunk.weight / self.mean_weight) for _, chunk in chain([first], run))
        for chunk, is_last in with_last(chunks):
            visits = rng.permutation(chunk.n_rows)
            n_left = min(self.n_left, chunk.n_rows // 2) if is_last else 0
            if n_left:
                left = LeftRows((copied([chunk.rows(visits[-n_left:])]),))
            progressive = progressive.plus(self.learn(state, chunk, visits[: len(visits) - n_left]))
        return self.leave(method, LearntPart(state, dense, progressive, left))

    def learn(self, state: State, chunk: Chunk, visits: np.ndarray) -> ProgressiveValidation:
        """Learn these rows, whose weights are relative; returns how well they were predicted before."""
        z = self.stepper.advance(state, chunk, visits)
        return progressive_validation(self.stepper.loss, chunk.y[visits], z, chunk.weight[visits])


def with_last(chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, bool]]:
    """Each chunk, and whether it is the last."""
    before = next(chunks)
    for chunk in chunks:
        yield before, False
        before = chunk
    yield before, True

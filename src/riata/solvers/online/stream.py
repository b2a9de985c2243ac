"""Learning from rows as they come: the same steps as a pass over a file, whatever the size of the portions."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from riata.data.chunk import Chunk, joined
from riata.solvers.iterate import Features, Leads
from riata.solvers.stochastic.method import State, Stepper


class Learnt(NamedTuple):
    """A model: coefficients, intercept, and the features that the coefficients belong to (None: all of them)."""

    coef: np.ndarray
    intercept: float
    features: Features | None


@dataclass
class Stream:
    """A stepper and its state. Rows that do not fill a batch wait for the next portion.

    A row's weight counts relative to the mean weight of the rows so far, itself included: only ratios of weights
    matter.
    """

    stepper: Stepper
    state: State
    n_features: int
    waiting: list[Chunk] = field(default_factory=list)
    rows: int = 0  # learnt so far
    weight: float = 0.0  # of those, in all

    def learn(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take the rows in order, a batch at a time: (targets, margins before they were learnt, weights) of those."""
        counts = chunk.weight > 0
        chunk = chunk if counts.all() else chunk.rows(counts)
        rows = joined([*self.waiting, chunk])
        complete = rows.n_rows - rows.n_rows % self.stepper.batch
        self.waiting = [rows.rows(slice(complete, None))] if complete < rows.n_rows else []
        if not complete:
            return np.empty(0), np.empty(0), np.empty(0)
        learnt = rows.rows(slice(complete)) if self.waiting else rows
        relative = learnt._replace(weight=self._relative(learnt.weight))
        return learnt.y, self.stepper.advance(self.state, relative, np.arange(complete)), learnt.weight

    def _relative(self, weight: np.ndarray) -> np.ndarray:
        """The weights over their running mean, whatever the portions they come in."""
        sums = np.cumsum(np.append(self.weight, weight))[1:]
        counts = self.rows + np.arange(1, len(weight) + 1)
        self.rows, self.weight = int(counts[-1]), float(sums[-1])
        relative: np.ndarray = weight * counts / sums
        return relative

    @property
    def model(self) -> "Learnt":
        """The current model: computing it takes time proportional to the number of features."""
        method = self.stepper.method
        w, b = method.model(self.state)
        scale = self.stepper.scale
        w = w if np.ndim(scale) == 0 and scale == 1.0 else w / scale
        return Learnt(w, b, method.features(self.state))

    def calibrated(self, log_odds: float | None) -> "Learnt":
        """The current model, with the noise of its intercept taken out where the log odds of all rows are known."""
        model = self.model
        if log_odds is None:
            return model
        return model._replace(intercept=model.intercept + self.stepper.method.shift(self.state, log_odds))

    @property
    def leads(self) -> Leads | None:
        """What it leaves for an exact fit."""
        return self.stepper.method.leads(self.state)

    @property
    def deviations(self) -> np.ndarray | None:
        """Those of all columns so far, where the method keeps them."""
        return self.stepper.method.deviations(self.state)

    @property
    def n_chosen(self) -> int:
        """How many features the current model has."""
        return self.stepper.method.n_chosen(self.state)

    @property
    def features(self) -> Features | None:
        return self.model.features

    @property
    def coef(self) -> np.ndarray:
        return self.model.coef

    @property
    def intercept(self) -> float:
        return self.model.intercept


def mirrored(stream: Stream) -> Stream:
    """The stream that would have learnt the same rows with targets of the other sign."""
    state = stream.state
    memory = stream.stepper.method.mirrored(state.memory)
    waiting = [chunk._replace(y=-chunk.y) for chunk in stream.waiting]
    image = replace(state, w=-state.w, b=-state.b, memory=memory, names=dict(state.names))
    return replace(stream, state=image, waiting=waiting)

"""Learning from rows as they come: the same steps as a pass over a file, whatever the size of the portions."""

from dataclasses import dataclass, field

import numpy as np

from riata.data.chunk import Chunk, joined
from riata.solvers.iterate import Features
from riata.solvers.stochastic import State, Stepper


@dataclass
class Stream:
    """A stepper and its state. Rows that do not fill a batch wait for the next portion."""

    stepper: Stepper
    state: State
    waiting: list[Chunk] = field(default_factory=list)

    def learn(self, chunk: Chunk) -> None:
        """Take the rows in order, a batch at a time."""
        chunk = chunk.rows(chunk.weight > 0)
        rows = joined([*self.waiting, chunk])
        complete = rows.n_rows - rows.n_rows % self.stepper.batch
        if complete:
            self.stepper.advance(self.state, rows, np.arange(complete))
        self.waiting = [rows.rows(slice(complete, None))] if complete < rows.n_rows else []

    @property
    def features(self) -> Features | None:
        """Which features the coefficients are of; None: all of them."""
        return self.stepper.method.features(self.state)

    @property
    def coef(self) -> np.ndarray:
        return self.stepper.method.model(self.state)[0] / self.stepper.scale

    @property
    def intercept(self) -> float:
        return self.stepper.method.model(self.state)[1]

"""Survival curves of single rows."""

from typing import Any

import numpy as np

from riata.errors import OptionError
from riata.estimators.base import SparseLinear
from riata.model.model import Model
from riata.plot.display import Axes, axes_for

MOST_ROWS = 20  # more lines than these are not told from each other


class SurvivalDisplay:
    """For each of a few rows, the probability over time that its event has not happened yet."""

    def __init__(self, times: np.ndarray, survival: np.ndarray, labels: list[str]) -> None:
        self.times, self.survival, self.labels = times, survival, labels

    @classmethod
    def from_estimator(
        cls, fitted: SparseLinear | Model, X: Any, *, labels: Any = None, ax: Axes | None = None
    ) -> "SurvivalDisplay":
        """Draw the curves of the rows of X, at most 20; `labels` are their names."""
        model = fitted if isinstance(fitted, Model) else fitted.to_model()
        if model.hazard is None:
            raise OptionError(f"survival curves are of times to an event, and this is a {model.task}")
        z = np.asarray(model.margins(X) if isinstance(fitted, Model) else fitted.predict(X)).ravel()
        if len(z) > MOST_ROWS:
            raise OptionError(f"{len(z):,} curves cannot be told apart: give at most {MOST_ROWS} rows")
        names = [f"row {i + 1}" for i in range(len(z))] if labels is None else [str(name) for name in labels]
        if len(names) != len(z):
            raise OptionError(f"there are {len(names)} labels for {len(z)} rows")
        return cls(model.hazard.times, model.hazard.survival(z), names).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "SurvivalDisplay":
        """Draw a step line for each row, from 1 at time 0."""
        ax = axes_for(self, ax)
        times = np.concatenate([[0.0], self.times])
        self.lines_ = [
            ax.step(times, np.concatenate([[1.0], curve]), where="post", label=label)[0]
            for curve, label in zip(self.survival, self.labels, strict=True)
        ]
        ax.set(xlabel="time", ylabel="probability of no event yet", ylim=(0.0, 1.02))
        ax.legend()
        return self

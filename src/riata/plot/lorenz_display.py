"""The Lorenz curve of counts and amounts: which share of the total the rows of lowest prediction have."""

from typing import Any

import numpy as np

from riata.errors import OptionError
from riata.estimators.base import SparseLinear
from riata.model.model import Model
from riata.model.quality import NumberQuality
from riata.plot.display import Axes, axes_for
from riata.plot.tested import tested, with_target


class LorenzDisplay:
    """The share of the total against the share of the rows (of their exposure), the lowest prediction first."""

    def __init__(self, rows: np.ndarray, whole: np.ndarray, gini: float) -> None:
        self.rows, self.whole, self.gini = rows, whole, gini

    @classmethod
    def from_estimator(
        cls, fitted: SparseLinear | Model, test: Any, y: Any = None, *, ax: Axes | None = None
    ) -> "LorenzDisplay":
        """Draw the curve of test rows: a dataset, a path, a table or X and y."""
        found = tested(fitted, with_target(test, y))
        if not isinstance(found, NumberQuality) or found.means is None:
            raise OptionError(
                "a Lorenz curve is of counts and amounts: of losses whose margins are logarithms of means"
            )
        return cls(*found.means.lorenz(), found.means.gini).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "LorenzDisplay":
        """Draw the curve and the diagonal, on which predictions say nothing."""
        ax = axes_for(self, ax)
        (self.line_,) = ax.plot(self.rows, self.whole, label=f"Gini {self.gini:.4f}")
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linestyle=":")
        ax.set(xlabel="share of the rows, the lowest prediction first", ylabel="their share of the whole")
        ax.legend()
        return self

"""How often features are chosen on random halves of the rows."""

from collections.abc import Sequence

import numpy as np

from riata.errors import OptionError
from riata.plot.display import Axes, axes_for
from riata.training.selection.stability import Stability

TOP = 20


class StabilityDisplay:
    """The share of halves that chose each feature, as bars, with a dashed line at the threshold.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    bars_ : the bars, the most stable first.
    """

    def __init__(self, *, stability: Stability, names: Sequence[str] | None = None) -> None:
        self.stability, self.names = stability, names

    @classmethod
    def from_stability(
        cls, stability: Stability, names: Sequence[str] | None = None, *, top: int = TOP, ax: Axes | None = None
    ) -> "StabilityDisplay":
        """Draw the result of `riata.stability_selection`; `names` replace its own, `top` is the number of bars."""
        if not isinstance(stability, Stability):
            raise OptionError(
                "stability is drawn of what riata.stability_selection(estimator, X, y) found, "
                f"not of {type(stability).__name__}"
            )
        return cls(stability=stability, names=stability.names if names is None else names).plot(ax=ax, top=top)

    def plot(self, ax: Axes | None = None, *, top: int = TOP) -> "StabilityDisplay":
        """Draw the `top` most stable features that were chosen at all."""
        ax = axes_for(self, ax)
        shares = self.stability.frequencies
        order = np.argsort(-shares, kind="stable")[: min(top, int((shares > 0).sum()))]
        names = [f"x{j}" if self.names is None else str(self.names[j]) for j in order]
        colours = np.where(shares[order] >= self.stability.threshold, "tab:blue", "0.7")
        self.bars_ = ax.barh(names, shares[order], color=colours)
        ax.invert_yaxis()
        ax.set_xlim(0.0, 1.0)
        ax.axvline(self.stability.threshold, color="0.3", linestyle="--", linewidth=1.0)
        ax.set_xlabel(f"share of {self.stability.n_halves} halves")
        return self

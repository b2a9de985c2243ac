"""How a model of a path was chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np

from riata.outcome.score_names import score_name
from riata.plot.display import Axes, along, axes_for, path_of
from riata.training.selection.path_choice import PathChoice

if TYPE_CHECKING:
    from riata.estimators.base import SparseLinear


class SelectionDisplay:
    """The score of every model of a path with its standard error, with a dashed line at the chosen model.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    line_ : the scores, or the objectives if models were chosen by size.
    """

    def __init__(self, *, searched: PathChoice) -> None:
        self.searched = searched

    @classmethod
    def from_estimator(
        cls, estimator: "SparseLinear", *, label: Any = None, ax: Axes | None = None
    ) -> "SelectionDisplay":
        """Draw how k="auto" or alpha="auto" chose; `label` is the class, if each class has a path of its own."""
        return cls(searched=path_of(estimator, label)).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "SelectionDisplay":
        """Draw the scores and the chosen model."""
        ax = axes_for(self, ax)
        path, selection = self.searched.path, self.searched.selection
        scores = path.objectives if selection.scores is None else selection.scores
        shown = np.isfinite(scores)
        (self.line_,) = ax.plot(path.values[shown], scores[shown], color="tab:blue")
        if selection.errors is not None:
            low, high = scores - selection.errors, scores + selection.errors
            ax.fill_between(path.values, low, high, color="tab:blue", alpha=0.2, linewidth=0)
        along(ax, self.searched)
        ax.set_ylabel("objective" if selection.scores is None else score_name(selection.score))
        return self

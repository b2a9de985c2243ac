"""Coefficients along a path."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riata.plot.display import Axes, along, axes_for, path_of
from riata.training.selection.path_choice import PathChoice

if TYPE_CHECKING:
    from riata.estimators.base import SparseLinear

NAMED = 8  # features that get a name


class PathDisplay:
    """The effect of one standard deviation of every feature against alpha or k, with a dashed line at the chosen model.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    lines_ : one line per feature that any model has, the named ones last.
    """

    def __init__(self, *, searched: PathChoice, names: Sequence[str], scale: np.ndarray) -> None:
        self.searched, self.names, self.scale = searched, names, scale

    @classmethod
    def from_estimator(
        cls, estimator: "SparseLinear", *, label: Any = None, ax: Axes | None = None, named: int = NAMED
    ) -> "PathDisplay":
        """Draw the path of an estimator that was fitted with k="auto" or alpha="auto".

        `label` is the class, if each class has a path of its own. `named` features get a colour and a name.
        """
        one = path_of(estimator, label)
        return cls(searched=one, names=estimator.trained_.all_names, scale=estimator.scale_).plot(ax=ax, named=named)

    def plot(self, ax: Axes | None = None, *, named: int = NAMED) -> "PathDisplay":
        """Draw; the `named` features of largest effect in the chosen model get a colour and a name."""
        ax = axes_for(self, ax)
        path, i = self.searched.path, self.searched.selection.index
        effects = path.coefs * np.asarray(self.scale)[self.searched.feature_of(np.arange(path.coefs.shape[1]))]
        largest = [j for j in np.argsort(-np.abs(effects[i]), kind="stable")[:named] if effects[i, j] != 0]
        others = np.setdiff1d(np.flatnonzero(np.any(effects != 0, axis=0)), largest)
        self.lines_ = ax.plot(path.values, effects[:, others], color="0.8", linewidth=0.8)
        for j, name in zip(largest, self.searched.coefficient_names(self.names, np.array(largest)), strict=True):
            self.lines_ += ax.plot(path.values, effects[:, j], label=name)
        along(ax, self.searched)
        ax.set_ylabel("effect of one standard deviation")
        of = f", {self.searched.label_is} {self.searched.label}" if self.searched.label else ""
        ax.set_title(f"{int(path.n_selected[i])} features at the dashed line{of}")
        if largest:
            ax.legend(fontsize="small", loc="best")
        return self

"""What a model is made of."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riata.errors import OptionError
from riata.model.model import Model
from riata.plot.display import Axes, axes_for
from riata.training.selection.stability import Stability

if TYPE_CHECKING:
    from riata.estimators.base import SparseLinear

TOP = 20


class CoefficientsDisplay:
    """The features of largest effect (coefficient times standard deviation), as bars.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    bars_ : the bars, the largest first.
    """

    def __init__(self, *, names: Sequence[str], effects: np.ndarray, errors: np.ndarray | None = None) -> None:
        self.names, self.effects, self.errors = names, effects, errors

    @classmethod
    def from_estimator(
        cls,
        estimator: "SparseLinear | Model",
        *,
        stability: Stability | None = None,
        label: Any = None,
        top: int = TOP,
        ax: Axes | None = None,
    ) -> "CoefficientsDisplay":
        """Draw the coefficients of a fitted estimator or a `Model`.

        `stability`, the result of `riata.stability_selection`, adds whiskers of one standard error. `label` is the
        class or target to draw, if there are several. `top` is the number of bars.
        """
        model = estimator if isinstance(estimator, Model) else estimator.to_model()
        row = _row_of(model, label)
        scale = np.asarray(model.deviations)
        errors = None if stability is None else stability.spread[row, model.indices] * scale
        return cls(names=model.names, effects=model.coef[row] * scale, errors=errors).plot(ax=ax, top=top)

    def plot(self, ax: Axes | None = None, *, top: int = TOP) -> "CoefficientsDisplay":
        """Draw the `top` largest effects."""
        ax = axes_for(self, ax)
        order = np.argsort(-np.abs(self.effects), kind="stable")[:top]
        colours = np.where(self.effects[order] > 0, "tab:blue", "tab:red")
        errors = None if self.errors is None else self.errors[order]
        self.bars_ = ax.barh([self.names[j] for j in order], self.effects[order], xerr=errors, color=colours, capsize=2)
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        ax.set_xlabel("effect of one standard deviation")
        return self


def _row_of(model: Model, label: Any) -> int:
    """Which margin of a model is that of a class or target; the only one where there is one."""
    if len(model.intercept) == 1:
        return 0
    labels = model.outputs
    if str(label) not in labels:
        what = "class" if model.targets is None else "target"
        raise OptionError(f"every {what} has coefficients of its own: give label one of {', '.join(labels)}")
    return labels.index(str(label))

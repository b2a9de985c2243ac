"""How a solver converged."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from riata.errors import OptionError
from riata.plot.display import Axes, axes_for, keep_above_rounding
from riata.training.driver import Record

if TYPE_CHECKING:
    from riata.estimators.base import SparseLinear

TITLES = {
    "gap": "relative duality gap", "objective": "objective", "progressive_loss": "loss of rows before they were learnt",
    "accuracy": "accuracy before rows were learnt", "r2": "R2 before rows were learnt", "n_selected": "features",
}  # fmt: skip
MEASURES = tuple(TITLES)


class ConvergenceDisplay:
    """The duality gap, or another measure, against passes over the data, or against rows for streams.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    lines_ : one line per class, or a single one.
    """

    def __init__(self, *, histories: Sequence[Sequence[Record]], labels: Sequence[str], measure: str = "gap") -> None:
        self.histories, self.labels, self.measure = histories, labels, measure

    @classmethod
    def from_estimator(
        cls, estimator: "SparseLinear", *, measure: str | None = None, ax: Axes | None = None
    ) -> "ConvergenceDisplay":
        """Draw how the fit of an estimator went.

        `measure` is "gap", "objective", "progressive_loss", "accuracy", "r2" (of rows predicted before they were
        learnt) or "n_selected", the number of features. By default it is the first of them that the solver has.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "history_"):
            raise OptionError("a model that learnt from a stream has no history")
        one = isinstance(estimator.history_[0], Record)
        histories = [estimator.history_] if one else estimator.history_
        labels = [""] if one else [str(label) for label in estimator.classes_]
        if measure is None:
            measure = next(m for m in MEASURES if any(getattr(r, m) is not None for h in histories for r in h))
        if measure not in MEASURES:
            raise OptionError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}")
        return cls(histories=histories, labels=labels, measure=measure).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "ConvergenceDisplay":
        """Draw one line per class, or a single one."""
        ax = axes_for(self, ax)
        self.lines_ = []
        for label, history in zip(self.labels, self.histories, strict=True):
            known = [(r.along, getattr(r, self.measure)) for r in history if getattr(r, self.measure) is not None]
            self.lines_ += ax.plot([x for x, _ in known], [y for _, y in known], marker=".", label=label or None)
        if self.measure == "gap" and any((line.get_ydata() > 0).any() for line in self.lines_):
            ax.set_yscale("log")
        else:
            keep_above_rounding(ax)
        by_rows = any(record.rows is not None for history in self.histories for record in history)
        ax.set_xlabel("rows" if by_rows else "passes over the data")
        ax.set_ylabel(TITLES[self.measure])
        if len(self.labels) > 1:
            ax.legend(fontsize="small")
        return self

"""What all displays share: axes to draw on, and an error in one sentence where there can be none."""

from typing import TYPE_CHECKING, Any

import numpy as np

from riata.errors import MissingPackageError, OptionError
from riata.plot.limits import RESOLUTION, limits
from riata.training.selection.path_choice import PathChoice

if TYPE_CHECKING:
    from riata.estimators.base import SparseLinear

Axes = Any  # those of Matplotlib, which is imported when something is drawn


def axes_for(display: Any, ax: Axes | None) -> Axes:
    """The axes to draw on, new ones where none are given; kept as scikit-learn's displays keep them."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingPackageError("pictures need matplotlib: pip install 'riata[report]'") from None
        _, ax = pyplot.subplots(layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def keep_above_rounding(ax: Axes) -> None:
    """Do not let Matplotlib zoom into numbers that differ by rounding alone."""
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    values = values[np.isfinite(values)]
    if len(values) and np.ptp(values) <= RESOLUTION * np.abs(values).max():
        ax.set_ylim(*limits(values, 0.05))


def path_of(estimator: "SparseLinear", label: Any) -> PathChoice:
    """The path of a fitted estimator; of several classes, that of the one with this label."""
    if not hasattr(estimator, "path_"):
        raise OptionError("the model has no path: fit it with k='auto' or alpha='auto'")
    course = estimator.trained_.course
    assert course is not None
    paths = course.searched
    if len(paths) == 1:
        return paths[0]
    for one in paths:
        if one.label == str(label):
            return one
    raise OptionError(
        f"every {paths[0].label_is} has a path of its own: give label one of {', '.join(str(p.label) for p in paths)}"
    )


def along(ax: Axes, one: PathChoice) -> None:
    """The axis of a path, from sparse to dense, with a dashed line at the chosen model."""
    if one.path.by == "alpha":
        ax.set_xscale("log")
        ax.set_xlim(one.path.values[0], one.path.values[-1])
    ax.axvline(one.path.values[one.selection.index], color="0.3", linestyle="--", linewidth=1.0)
    ax.set_xlabel(one.path.by)

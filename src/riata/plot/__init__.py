"""Plots of a fitted model with Matplotlib.

Each function draws and returns a display, as in scikit-learn: its `ax_` and `figure_` can be changed, and
`plot(ax=...)` draws it again. If scikit-learn has a display for a plot, the function returns that one.

- Of a fit: `coefficients`, `convergence`, `path` and `selection` (with k="auto" or alpha="auto"), `stability`.
- Of a model on test rows: `roc`, `precision_recall`, `calibration` and `confusion` for classes, `residuals` for
  numbers, `lorenz` for counts and amounts.
- Of single rows: `survival`, for times to an event.
"""

from riata.plot.coefficients_display import CoefficientsDisplay
from riata.plot.convergence_display import ConvergenceDisplay
from riata.plot.lorenz_display import LorenzDisplay
from riata.plot.path_display import PathDisplay
from riata.plot.selection_display import SelectionDisplay
from riata.plot.stability_display import StabilityDisplay
from riata.plot.survival_display import SurvivalDisplay
from riata.plot.tested import calibration, confusion, precision_recall, residuals, roc

__all__ = [
    "CoefficientsDisplay",
    "ConvergenceDisplay",
    "LorenzDisplay",
    "PathDisplay",
    "SelectionDisplay",
    "StabilityDisplay",
    "SurvivalDisplay",
    "calibration",
    "coefficients",
    "confusion",
    "convergence",
    "lorenz",
    "path",
    "precision_recall",
    "residuals",
    "roc",
    "selection",
    "stability",
    "survival",
]

path = PathDisplay.from_estimator
selection = SelectionDisplay.from_estimator
convergence = ConvergenceDisplay.from_estimator
coefficients = CoefficientsDisplay.from_estimator
stability = StabilityDisplay.from_stability
survival = SurvivalDisplay.from_estimator
lorenz = LorenzDisplay.from_estimator

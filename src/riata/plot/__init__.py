"""Pictures of a fitted model, as Matplotlib axes, by scikit-learn's convention for displays.

Each function draws and gives a display back, whose `ax_` and `figure_` can be changed further and which can be drawn
again, with `plot(ax=...)`. Where scikit-learn has a display it is used; those here are of what it does not have.
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

"""The curvatures of rows in a quadratic of their margins: enough that a step throws none of them far off."""

import numpy as np

from riata.losses import Loss

FURTHEST = 10.0  # times as far as to where a row has no loss, were that a parabola: its step by itself


def row_curvature(loss: Loss, y: np.ndarray, z: np.ndarray, damping: float) -> np.ndarray:
    """That of each row, no less than keeps its step within reason, nor than so much of the largest."""
    curvature: np.ndarray = np.maximum(loss.second_derivative(y, z), loss.least_curvature)
    if loss.quadratic:
        return curvature
    slope, value = loss.derivative(y, z), loss.value(y, z)
    of_parabola = np.divide(slope * slope, 2.0 * value, out=np.zeros(len(z)), where=value > 0.0)
    least = np.maximum(of_parabola / FURTHEST, damping * curvature.max(initial=0.0))
    result: np.ndarray = np.maximum(curvature, least)
    return result

"""The curvatures of rows in a quadratic of their margins: enough that a step throws none of them far off."""

from riata.arrays import Array, at_least, namespace
from riata.losses import Loss

FURTHEST = 10.0  # times as far as to where a row has no loss, were that a parabola: its step by itself
NO_LOSS = 1e-300  # a loss of less has no slope


def row_curvature(loss: Loss, y: Array, z: Array, damping: float = 0.0) -> Array:
    """That of each row, no less than keeps its step within reason, nor than so much of the largest."""
    curvature = at_least(loss.second_derivative(y, z), loss.least_curvature)
    if loss.quadratic or loss.stiff:  # a stiff one is made for steps by its own curvature
        return curvature
    xp, slope = namespace(z), loss.derivative(y, z)
    of_parabola = slope * slope / (2.0 * at_least(loss.value(y, z), NO_LOSS))
    curvature = xp.maximum(curvature, of_parabola / FURTHEST)
    return at_least(curvature, damping * float(xp.max(curvature))) if damping else curvature

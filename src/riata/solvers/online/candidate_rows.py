"""What rows tell of the candidates of solver 'online' for k features: the quadratic of `top_k.py`, at their margins."""

import numpy as np

from riata.kernels.mean_so_far import LOG_OF_NOTHING
from riata.kernels.online import CURVED, EMPTY, MOVED, SLOPE
from riata.losses import Loss
from riata.solvers.online import top_k
from riata.solvers.online.feature_block import of_features
from riata.solvers.stochastic.method import MethodMemory, Sweep

NEAR_ZERO = 1e-3  # margins at which the curvature of a loss is that of the parabola above it
LEAST_CURVATURE = 0.25  # of the largest, in the statistics: rows that are fitted well already keep their influence


def gather(sweep: Sweep, visits: np.ndarray, margins: np.ndarray, memory: MethodMemory) -> None:
    """Add these rows to the second-order statistics of the candidates, about the margins of the best lane."""
    loss, weight, y = sweep.loss, sweep.weight[visits], sweep.y[visits]
    z = margins[:, memory["lane"][0]] + margins[:, MOVED]
    if loss.labels:
        u = margins[:, SLOPE]
        taken, times = top_k.sampled(memory, weight * u)
        visits, y, z, u, weight = visits[taken], y[taken], z[taken], u[taken], weight[taken] * times
    else:
        u = loss.derivative(y, z)
    h = margins[:, CURVED] if loss.kinked else curvatures_of(loss, y, z, u)
    if loss.logarithms:  # where a model overshoots, slope and curvature are large alike: such a row counts less
        most, size = caps(loss, y, margins, memory), np.abs(u)
        part = np.divide(most, size, out=np.ones_like(size), where=size > most)
        u, h = part * u, part * h
        weight = np.where(z > LOG_OF_NOTHING, weight, 0.0)
    if loss.relative:  # an origin that is a mean moves
        memory["centre"][:] = memory["origin"]
    h = h if loss.kinked else np.maximum(h, LEAST_CURVATURE * memory["curvature"][0])
    responses = h * (z - memory["centre"][0]) - u
    top_k.gather(memory, sweep.rows, sweep.plain, visits, of_features(memory, "shift"), weight, h, responses)


def caps(loss: Loss, y: np.ndarray, margins: np.ndarray, memory: MethodMemory) -> np.ndarray:
    """The largest slopes that rows may have: in its first steps a model may overshoot, see `kernels.online`."""
    of_empty = np.abs(loss.derivative(y, margins[:, EMPTY] + margins[:, MOVED]))
    found: np.ndarray = of_empty + np.sqrt(memory["slope_squares"][EMPTY] / max(memory["total"][0], 1e-300))
    return found


def curvatures_of(loss: Loss, y: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Those of the loss at margins z, where its slopes are u; of labels, those of parabolas above it."""
    if not loss.labels:
        h: np.ndarray = loss.second_derivative(y, z)
        return h
    h = curvature_above(loss, y, z, u)
    low = np.flatnonzero(h == 0.0) if loss.symmetric else np.arange(len(z))  # where it is above, it is no less
    h[low] = np.maximum(h[low], loss.second_derivative(y[low], z[low]))
    return h


def curvature_above(loss: Loss, y: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The curvature of a parabola that has slope u at z and lies nowhere below a loss of labels; 0 near z = 0.

    For the logistic loss it is tanh(z / 2) / (2 z), of the parabola through z and -z (Jaakkola & Jordan, 2000). That of
    the loss itself is small far from 0, and a level that only clicks have would go many times too far.
    """
    far = np.abs(z) > NEAR_ZERO
    found: np.ndarray = np.divide(u - loss.derivative(y, -z), 2.0 * z, out=np.zeros_like(z), where=far)
    return found

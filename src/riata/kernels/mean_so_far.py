"""The mean of the targets so far, or their spread, which give the units of a loss in sweeps that learn row by row.

Slopes and curvatures of losses whose margins are logarithms of means are in units of the target, or a power of them.
Counted from the logarithm of the mean, and divided by the curvature there, they have none: a fit takes the same course
for targets of any unit. Slopes of a loss with a kink have none, and no row tells its curvature: that of the mean loss
is a density, one over the spread of the targets but for a factor.
"""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import Coded, curvature_of, with_offset

SUM, EXPOSURE, WEIGHT = 0, 1, 2  # the sums over rows: of targets, of exponentials of offsets, of weights
LOG_OF_NOTHING = math.log(1e-300)  # the logarithm of a mean of zero, as far as numbers go
FURTHEST = 20.0  # margins count as no further than this from that of the mean: their exponentials would overflow


class MeanSoFar(NamedTuple):
    """What is known of the mean, all of which changes but the first."""

    logarithms: bool  # whether margins are logarithms: otherwise none of this is used
    sums: np.ndarray
    origin: np.ndarray
    curvature: np.ndarray


@compiled(nogil=True)
def follow_mean(
    loss: Coded,
    y: float,
    weight: float,
    learn_b: bool,
    sums: np.ndarray,
    origin: np.ndarray,
    curvature: np.ndarray,
) -> float:
    """Count a row into the mean, whose logarithm is the origin; returns how far that moved an origin that was known.

    The row itself counts: a second target of a million times the first would otherwise have a slope like no other.
    Without an intercept the origin stays 0.
    """
    target, offset = with_offset(y, 0.0)
    before, known = origin[0], sums[SUM] > 0.0
    sums[SUM] += weight * target
    sums[EXPOSURE] += weight * math.exp(min(offset, 700.0))
    sums[WEIGHT] += weight
    if sums[SUM] > 0.0:
        mean = sums[SUM] / sums[WEIGHT]
        curvature[0] = curvature_of(loss, mean, math.log(mean))
    if learn_b:
        origin[0] = math.log(sums[SUM] / sums[EXPOSURE]) if sums[SUM] > 0.0 else LOG_OF_NOTHING
    return origin[0] - before if known else 0.0


@compiled(nogil=True)
def follow_spread(
    distance: float, weight: float, curvature_by_spread: float, sums: np.ndarray, curvature: np.ndarray
) -> None:
    """Count a row, so far from the margin of the empty model, into the spread of the targets."""
    sums[SUM] += weight * abs(distance)
    sums[WEIGHT] += weight
    if sums[SUM] > 0.0:
        curvature[0] = curvature_by_spread * sums[WEIGHT] / sums[SUM]


@compiled(nogil=True, inline="always")
def near(beyond: float) -> float:
    """A margin counted from the origin, as far as it may be from it."""
    return min(max(beyond, -FURTHEST), FURTHEST)

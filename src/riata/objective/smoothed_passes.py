"""Passes of a loss with a kink, by slopes that it has smoothed.

They are slopes of the loss itself, too: a bound made of them and of its own conjugate holds for it, however far it was
smoothed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import Array, namespace
from riata.data.chunk import Chunk
from riata.losses import Loss
from riata.objective.passes import first_order_part, summarise
from riata.objective.problem import FirstOrder, Problem


class SmoothedAndOwn(NamedTuple):
    """The first-order means of a loss with a kink by the slopes that it has smoothed: as the two losses see them."""

    smoothed: FirstOrder
    own: FirstOrder


def smoothed_part(loss: Loss, width: float, w: np.ndarray, b: float) -> Callable[[Chunk], tuple[Any, ...]]:
    """What a chunk adds to the first-order pass of a loss with a kink that is smoothed by a width."""
    smooth = loss.smoothed(width)
    slopes = first_order_part(smooth, w, b)

    def part(chunk: Chunk) -> tuple[Any, ...]:
        z = chunk.X.margins(w, b)
        own = _conjugates(loss, chunk, smooth.derivative(chunk.y, z))
        return slopes(chunk), float(chunk.weight @ loss.value(chunk.y, z)), own

    return part


def summarise_smoothed(sums: tuple[Any, ...], weight: float, w: np.ndarray, b: float) -> SmoothedAndOwn:
    """Means from the sums of `smoothed_part` over all chunks."""
    of_smoothed, value, (up, down) = sums
    at = summarise(of_smoothed, w, b)
    sides = at.positive._replace(conjugate=up / weight), at.negative._replace(conjugate=down / weight)
    return SmoothedAndOwn(at, FirstOrder(value / weight, *sides))


def by_widths(problem: Problem, widths: Sequence[float], w: np.ndarray, b: float) -> list[FirstOrder]:
    """The first-order means of a loss with a kink by the slopes of each width: one pass."""
    parts = [smoothed_part(problem.loss, width, w, b) for width in widths]
    sums = problem.data.sum(lambda chunk: tuple(part(chunk) for part in parts))
    return [summarise_smoothed(one, problem.data.total_weight, w, b).own for one in sums]


def _conjugates(loss: Loss, chunk: Chunk, u: Array) -> np.ndarray:
    """The sums of the conjugates at these slopes, over those above 0 and the others."""
    xp = namespace(u)
    conjugates, nothing = chunk.weight * loss.conjugate(chunk.y, u), xp.zeros_like(u)
    return np.array([float(xp.sum(xp.where(side, conjugates, nothing))) for side in (u > 0.0, u <= 0.0)])

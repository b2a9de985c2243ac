"""The loss, its slopes and what a certificate needs, at a point: one pass over the rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from riata.arrays import namespace
from riata.coupled_passes import Slopes, by_output, by_rows, coupled_losses, in_pieces, margins_at, outputs_part
from riata.data.chunk import Chunk
from riata.losses import CoupledLoss, Loss
from riata.objective.problem import FirstOrder, Problem, Side


def mean_loss(problem: Problem, w: np.ndarray | None, b: Any) -> float:
    """The mean loss: one pass. w = None stands for w = 0."""
    value = problem.loss.value  # `part` may be sent to workers: it must not refer to the problem, which has the data
    if isinstance(problem.loss, CoupledLoss):
        return float(coupled_losses(problem.data, problem.loss, [(w, b)])[0])
    W = None if w is None else by_output(problem.loss, w)

    def part(chunk: Chunk) -> tuple[float, float]:
        z = margins_at(chunk, W, b)
        return float(chunk.weight @ value(chunk.y, z)), float(namespace(z).sum(chunk.weight))

    loss, weight = problem.data.sum(in_pieces(problem.loss.n_outputs, part))
    return float(loss / weight)


def objective(problem: Problem, w: np.ndarray, b: Any) -> float:
    """F(w, b): one pass."""
    return mean_loss(problem, w, b) + problem.penalty.value(w)


def first_order(problem: Problem, w: np.ndarray, b: Any) -> FirstOrder:
    """Loss, gradient and what the certificate needs at (w, b): one pass."""
    data, loss = problem.data, problem.loss
    [of_rows] = by_rows(data, loss, [(w, b)])
    return summarise(data.sum(first_order_part(of_rows, w, b)), w, b)


FirstOrderSums = tuple[np.ndarray, np.ndarray] | Slopes  # totals and slopes, as `Matrix.first_order` returns them


def first_order_part(loss: Loss, w: np.ndarray, b: Any) -> Callable[[Chunk], FirstOrderSums]:
    """What one chunk adds to the first-order pass at (w, b)."""
    if loss.n_outputs > 1:
        return outputs_part(loss, w, b)
    w, b = np.asarray(w, dtype=np.float64), float(b)
    return lambda chunk: chunk.X.first_order(loss, chunk.y, chunk.weight, w, b)


def summarise(sums: FirstOrderSums, w: np.ndarray, b: Any) -> FirstOrder:
    """Means from the sums of `first_order_part` at (w, b) over all chunks."""
    if isinstance(sums, Slopes):
        return _on_one_side(sums, w, b)
    (weight, loss, *sides), slopes = sums
    by_b, conjugates = sides[0::2], sides[1::2]
    return FirstOrder(
        loss / weight, *(Side(slopes[i] / weight, by_b[i] / weight, conjugates[i] / weight) for i in (0, 1))
    )


def _on_one_side(sums: Slopes, w: np.ndarray, b: Any) -> FirstOrder:
    """Means from sums that do not separate the two signs of slopes; the conjugate is u . z - loss (Fenchel, Young)."""
    weight, loss, by_w, by_b = sums
    conjugate = float(np.sum(by_w * w) + np.sum(by_b * b)) - loss
    everything = Side(by_w / weight, by_b / weight, conjugate / weight)
    return FirstOrder(loss / weight, everything, Side(np.zeros_like(by_w), np.zeros_like(by_b), 0.0))

"""Passes for losses that are not a number for each row's one margin: several margins per row, or rows that go together.

They are made of array functions, and give sums over the rows. W is features x outputs, or the same as one long vector
(`riata.losses.several_margins`), and slopes come in its shape; b is a number for each output.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk, joined
from riata.data.dataset import Dataset
from riata.losses import CoupledLoss, Loss, SeveralMargins


class Slopes(NamedTuple):
    """Sums over rows of their weight, of the weighted loss, and of its slopes in the coefficients and intercepts."""

    weight: float
    loss: float
    by_w: np.ndarray
    by_b: np.ndarray


def outputs_part(loss: Loss, W: np.ndarray, b: np.ndarray) -> Callable[[Chunk], Slopes]:
    """What one chunk adds, where rows have several margins."""

    shape, W = np.shape(W), by_output(loss, W)

    def part(chunk: Chunk) -> Slopes:
        z = chunk.X.margins(W, b)
        xp = namespace(z)
        u = chunk.weight[:, None] * loss.derivative(chunk.y, z)
        value = float(chunk.weight @ loss.value(chunk.y, z))
        by_w = chunk.X.slopes(u).reshape(shape)
        return Slopes(float(xp.sum(chunk.weight)), value, by_w, to_host(xp.sum(u, axis=0)))

    return part


def by_output(loss: Loss, w: np.ndarray) -> np.ndarray:
    """Coefficients as features x outputs; of a loss of one margin as they are."""
    return w if loss.n_outputs == 1 else np.ascontiguousarray(np.reshape(w, (-1, loss.n_outputs)))


def mean_targets(data: Dataset, loss: SeveralMargins) -> np.ndarray:
    """The weighted mean of the targets of each output: a pass, or none over data in memory."""

    def sums(y: Any, weight: Any) -> tuple[float, np.ndarray]:
        xp = namespace(weight)
        each = loss.indicators(y, xp.zeros((weight.shape[0], loss.n_outputs), dtype=weight.dtype))
        return float(xp.sum(weight)), to_host(weight @ each)

    total, of_each = sums(*data.targets()) if data.cheap_passes else data.sum(lambda part: sums(part.y, part.weight))
    means: np.ndarray = of_each / total
    return means


def ordered_slopes(data: Dataset, loss: CoupledLoss, w: np.ndarray, b: float) -> Slopes:
    """The sums of a loss whose rows count together with those before them: one pass, in order."""
    total = Slopes(0.0, 0.0, np.zeros(data.n_features), np.zeros(()))
    carry = np.zeros(loss.n_carried)
    carry_by_w, carry_by_b = np.zeros((data.n_features, loss.n_carried)), np.zeros(loss.n_carried)
    for X, y, weight, _ in whole_groups(data.visit(), loss.group):
        found = loss.chunk_value(y, X.margins(w, b), weight, carry)
        total = Slopes(
            total.weight + float(namespace(weight).sum(weight)),
            total.loss + float(found.value),
            total.by_w + X.slopes(found.by_z) + carry_by_w @ found.by_carry,
            total.by_b + to_host(found.by_z).sum() + carry_by_b @ found.by_carry,
        )
        carry = carry + found.added
        carry_by_w, carry_by_b = (
            carry_by_w + X.slopes(found.added_by_z),
            carry_by_b + to_host(found.added_by_z).sum(axis=0),
        )
    return total


def whole_groups(chunks: Iterable[Chunk], group: Callable[[Any], Any]) -> Iterator[Chunk]:
    """The rows of chunks, cut where a group ends: the last group of a chunk waits for the next one."""
    waiting: list[Chunk] = []
    for chunk in chunks:
        rows = joined([*waiting, chunk])
        keys = to_host(group(rows.y))
        earlier = np.flatnonzero(keys != keys[-1:])  # rows of groups before the last
        end = int(earlier[-1]) + 1 if len(earlier) else 0
        waiting = [rows.rows(slice(end, None))]
        if end:
            yield rows.rows(slice(0, end))
    yield from waiting

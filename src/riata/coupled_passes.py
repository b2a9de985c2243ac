"""Passes for losses that are not a number for each row's one margin: several margins per row, or rows that go together.

They are made of array functions, and give sums over the rows. W is features x outputs, or the same as one long vector
(`riata.losses.several_margins`), and slopes come in its shape; b is a number for each output.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk, added
from riata.data.dataset import Dataset, Run
from riata.losses import CoupledLoss, Loss, SeveralMargins
from riata.matrices.moments import Moments

Point = tuple[np.ndarray | None, Any]  # (w, b); None stands for w = 0
NUMBERS_AT_ONCE = 1 << 23  # of the sums of several points that are added up in one pass
MARGINS_AT_ONCE = 1 << 17  # of rows on the host: a loss makes some copies of them
T = TypeVar("T")


def in_pieces(n_outputs: int, part: Callable[[Chunk], T]) -> Callable[[Chunk], T]:
    """A part of a pass that looks at few rows at a time: a narrow chunk has many, and several margins for each."""
    step = max(1, MARGINS_AT_ONCE // n_outputs)

    def whole(chunk: Chunk) -> T:
        n = chunk.n_rows
        if n <= step or namespace(chunk.weight) is not np:
            return part(chunk)
        return added(part(chunk.rows(slice(i, i + step))) for i in range(0, n, step))

    return part if n_outputs == 1 else whole


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

    return in_pieces(loss.n_outputs, part)


def by_output(loss: Loss, w: np.ndarray) -> np.ndarray:
    """Coefficients as features x outputs; of a loss of one margin as they are."""
    return w if loss.n_outputs == 1 else np.ascontiguousarray(np.reshape(w, (-1, loss.n_outputs)))


def margins_at(chunk: Chunk, W: np.ndarray | None, b: Any) -> Any:
    """The margins of the rows of a chunk, with a row of them where there are several outputs; None stands for W = 0."""
    if W is not None:
        return chunk.X.margins(W, b)
    weight = chunk.weight
    return 0.0 * weight + float(b) if np.ndim(b) == 0 else 0.0 * weight[:, None] + namespace(weight).asarray(b)


def mean_targets(data: Dataset, loss: SeveralMargins) -> np.ndarray:
    """The weighted mean of the targets of each output: a pass, or none over data in memory."""

    def sums(y: Any, weight: Any) -> tuple[float, np.ndarray]:
        xp = namespace(weight)
        each = loss.indicators(y, xp.zeros((weight.shape[0], loss.n_outputs), dtype=weight.dtype))
        return float(xp.sum(weight)), to_host(weight @ each)

    part = in_pieces(loss.n_outputs, lambda chunk: sums(chunk.y, chunk.weight))
    total, of_each = sums(*data.targets()) if data.cheap_passes else data.sum(part)
    return of_each / total


def targets_one_by_one(data: Dataset, n_targets: int) -> tuple[Moments, ...]:
    """The moments of each of several targets, without those of the columns: a pass, or none over data in memory."""
    nothing = np.empty(0, dtype=np.int64)

    def part(chunk: Chunk) -> tuple[Moments, ...]:
        X = chunk.X.narrowed(nothing)
        return tuple(X.moments(chunk.y[:, k], chunk.weight) for k in range(n_targets))

    if data.cheap_passes:
        with data.ledger.monitoring():
            return data.sum(part)
    return data.sum(part)


def rows_sums(data: Dataset, loss: CoupledLoss, points: Sequence[Point]) -> Iterator[Any]:
    """The sums that tie rows together, at each of these points (w, b): one pass, or more where sums are large."""
    at_once = max(1, NUMBERS_AT_ONCE // max(1, loss.n_sums))
    for i in range(0, len(points), at_once):
        yield from data.sum_runs(_sums_part(loss, points[i : i + at_once]))


def _sums_part(loss: CoupledLoss, points: Sequence[Point]) -> Callable[[Run], tuple[Any, ...]]:
    """What a run of chunks adds to the sums at each point."""

    def of(chunk: Chunk) -> tuple[Any, ...]:
        return tuple(loss.sums(chunk.y, margins_at(chunk, w, b), chunk.weight) for w, b in points)

    return lambda run: added(of(chunk) for _, chunk in run)


def by_rows(data: Dataset, loss: Loss, points: Sequence[Point]) -> Sequence[Loss]:
    """The loss as a sum over rows at each of these points: itself, unless it couples rows, which takes a pass."""
    if not isinstance(loss, CoupledLoss):
        return [loss] * len(points)
    return [loss.settled(sums) for sums in rows_sums(data, loss, points)]


def coupled_losses(data: Dataset, loss: CoupledLoss, points: Sequence[Point]) -> np.ndarray:
    """The mean loss at each of these points."""
    return np.array([loss.total(sums) for sums in rows_sums(data, loss, points)]) / data.total_weight

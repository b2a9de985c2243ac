"""What rows add to the quadratic of a loss about a point (`local_quadratic`): all that a pass needs, on any machine."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riata.arrays import Array, at_least, namespace
from riata.data.chunk import Chunk
from riata.losses import Loss

DROPPED_CURVATURE = 1e-6  # of the largest: rows of less are left out, where the quadratic is an approximation anyway


class SecondOrderSums(NamedTuple):
    """Sums over rows at a point."""

    loss: float
    curvature: float  # of D
    slope: float  # of u = s loss'(y, z)
    by_u: np.ndarray  # of u (x - shift),
    by_d: np.ndarray  # D (x - shift)
    squares: np.ndarray  # and D (x - shift)^2, of every column


@dataclass(frozen=True)
class LocalRows:
    """Rows at (w, b), of columns x - shift and of curvature D = s loss''(y, z)."""

    loss: Loss
    w: np.ndarray
    b: float
    shift: np.ndarray

    def sums(self, chunk: Chunk, columns: np.ndarray) -> tuple[SecondOrderSums, np.ndarray]:
        """The sums of a chunk, and its products of some columns with all."""
        y, weight, loss = chunk.y, chunk.weight, self.loss
        z, u, D = self.at(chunk)
        total = namespace(D).sum
        sums = SecondOrderSums(
            float(total(weight * loss.value(y, z))),
            float(total(D)),
            float(total(u)),
            *chunk.X.sums(self.shift, u, D),
        )
        return sums, chunk.X.column_products(D, self.shift, columns)

    def at(self, chunk: Chunk) -> tuple[Array, Array, Array]:
        """Margins, u and D of rows."""
        z = chunk.X.margins(self.w, self.b)
        return z, chunk.weight * self.loss.derivative(chunk.y, z), self._curvature_at(chunk, z)

    def products(self, chunk: Chunk, left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
        """Products of columns `left` with columns `right` (None: all), weighted by D."""
        return chunk.X.column_products(self._curvature(chunk), self.shift, left, right)

    def along(self, chunk: Chunk, w: np.ndarray) -> Array:
        """D times what coefficients, or columns of them, add to margins."""
        D, margins = self._curvature(chunk), chunk.X.margins(w, -self.shift @ w)
        return D * margins if w.ndim == 1 else D[:, None] * margins

    def _curvature(self, chunk: Chunk) -> Array:
        """The weighted curvature of the loss in each row; if it is quadratic no margins are needed."""
        return self._curvature_at(chunk, chunk.y if self.loss.quadratic else chunk.X.margins(self.w, self.b))

    def _curvature_at(self, chunk: Chunk, z: Array) -> Array:
        D = chunk.weight * at_least(self.loss.second_derivative(chunk.y, z), self.loss.least_curvature)
        if not self.loss.quadratic and namespace(D) is np:
            D[D <= DROPPED_CURVATURE * D.max(initial=0.0)] = 0.0
        return D

"""The smooth part of a penalised quadratic, as `semismooth` asks for it: by a matrix, or along dense columns."""

import numpy as np

from riata.kernels.coordinate import add_columns
from riata.kernels.rows import DenseRows
from riata.positive import solve_positive, upper_squares
from riata.solvers.convex.quadratics.known_products import KnownProducts
from riata.solvers.convex.quadratics.semismooth import Step


class ByMatrix:
    """q(v) = slope . (v - w) + (v - w)'H(v - w) / 2; a point stands for itself."""

    def __init__(self, H: np.ndarray, slope: np.ndarray, w: np.ndarray) -> None:
        self.H, self.slope, self.w = H, slope, w

    def place(self, v: np.ndarray) -> np.ndarray:
        return v

    def value(self, z: np.ndarray) -> float:
        return float(0.5 * (z - self.w) @ (self.slope + self.slopes(z)))

    def slopes(self, z: np.ndarray) -> np.ndarray:
        slopes: np.ndarray = self.slope + self.H @ (z - self.w)
        return slopes

    def size(self, difference: np.ndarray) -> float:
        return float(difference @ (self.H @ difference))

    def newton_step(self, free: np.ndarray, ridge: np.ndarray, short: np.ndarray) -> Step | None:
        off = self.H @ short
        H_free = self.H.take(free, 0).take(free, 1)
        H_free.ravel()[:: len(free) + 1] += ridge
        x = solve_positive(H_free, off[free])
        if x is None:
            return None
        move, rise = -short, x @ self.H[free] - off
        move[free] += x
        return Step(move, rise, lambda z: float(z @ rise), float(move @ rise))


class AlongColumns:
    """q(v) = sum_i u_i m_i + D_i m_i^2 / 2 with margins m = A'(v - v0) + c, which stand for v without the constant c.

    Where columns are centred c follows the others: slopes t = u + D m of rows then add up to zero. `A` has a row for
    every column, `means` are those of its rows by the weights D.
    """

    def __init__(
        self, A: np.ndarray, u: np.ndarray, D: np.ndarray, v0: np.ndarray, means: np.ndarray, centred: bool
    ) -> None:
        self.A, self.u, self.D, self.v0, self.means, self.centred = A, u, D, v0, means, centred
        self._rows = DenseRows(A, np.empty(0))
        self._root, self._weight = np.sqrt(D), float(D.sum())
        self._known = KnownProducts(lambda new: (A[new] - means[new, None]) * self._root, len(A))

    def place(self, v: np.ndarray) -> np.ndarray:
        place = np.zeros(len(self.u))
        add_columns(self._rows, v - self.v0, place)
        return place

    def constant(self, z: np.ndarray) -> float:
        """The c that follows these margins."""
        return -float(self.u.sum() + self.D @ z) / self._weight if self.centred and self._weight > 0.0 else 0.0

    def rows(self, z: np.ndarray) -> np.ndarray:
        """The slopes of rows."""
        slopes: np.ndarray = self.u + self.D * (z + self.constant(z))
        return slopes

    def value(self, z: np.ndarray) -> float:
        return float(0.5 * (z + self.constant(z)) @ (self.u + self.rows(z)))

    def slopes(self, z: np.ndarray) -> np.ndarray:
        slopes: np.ndarray = self.A @ self.rows(z)
        return slopes

    def _bent(self, difference: np.ndarray) -> np.ndarray:
        """How the slopes of rows change by a difference of margins."""
        follows = self.D @ difference / self._weight if self.centred and self._weight > 0.0 else 0.0
        bent: np.ndarray = self.D * (difference - follows)
        return bent

    def size(self, difference: np.ndarray) -> float:
        return float(difference @ self._bent(difference))

    def newton_step(self, free: np.ndarray, ridge: np.ndarray, short: np.ndarray) -> Step | None:
        A = self.A[free]
        x = self._solved(free, ridge, A @ self._bent(short))
        if x is None:
            return None
        move = x @ A - short
        bent = self._bent(move)
        rise = self.A @ bent
        shift = float(self.v0 @ rise)
        return Step(move, rise, lambda z: float(z @ bent) + shift, float(move @ bent))

    def _solved(self, free: np.ndarray, ridge: np.ndarray, right: np.ndarray) -> np.ndarray | None:
        """(H + ridge)^-1 right over the free columns: by their products, or by those of the rows, which are fewer."""
        k, n = len(free), len(self.D)
        if k**3 <= 3 * k * n**2 + n**3:  # of products of columns, most are known
            self._known.learn(free)
            H = self._known.between(free, free)
            H.ravel()[:: k + 1] += ridge
            return solve_positive(H, right)
        half = np.sqrt(ridge)
        C = (self.A[free] - self.means[free, None]) * self._root / half[:, None]
        inner = upper_squares(C)
        inner[np.diag_indices(n)] += 1.0
        y = solve_positive(inner, (right / half) @ C)
        return None if y is None else (right / half - C @ y) / half

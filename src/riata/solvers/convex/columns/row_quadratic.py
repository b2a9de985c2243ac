"""A quadratic of the margins of rows, as steps along the columns of a working set see it.

    sum_i u_i m_i + D_i m_i^2 / 2,   m = A (v - v0) + c

with the best constant c for every v where there is an intercept, and 0 elsewhere.
"""

import numpy as np

from riata.kernels.coordinate import add_columns, column_slopes, column_sums
from riata.solvers.convex.columns.columns import Columns


class RowQuadratic:
    """Rows have slopes u and curvatures D at v0. `means` are those of columns, by D, which the constant takes up."""

    def __init__(self, columns: Columns, u: np.ndarray, D: np.ndarray, v0: np.ndarray, fit_intercept: bool) -> None:
        self.columns, self.u, self.D, self.v0 = columns, u, D, v0
        self.sums, self.squares = np.empty(len(v0)), np.empty(len(v0))
        column_sums(columns.rows, D, self.sums, self.squares)
        self._weight = float(D.sum())
        self.centred = fit_intercept and self._weight > 0.0
        self.means = self.sums / self._weight if self.centred else np.zeros(len(v0))

    def at(self, v: np.ndarray) -> tuple[float, np.ndarray, float]:
        """Its value at v, the slopes of the rows there, and the constant."""
        m, c = np.zeros(len(self.u)), 0.0
        add_columns(self.columns.rows, v - self.v0, m)
        if self.centred:
            c = -float(self.u.sum() + self.D @ m) / self._weight
            m += c
        t = self.u + self.D * m
        return float(0.5 * m @ (self.u + t)), t, c

    def slopes(self, t: np.ndarray) -> np.ndarray:
        """Those of the columns, from those of the rows."""
        g = np.empty(len(self.v0))
        column_slopes(self.columns.rows, t, g)
        return g

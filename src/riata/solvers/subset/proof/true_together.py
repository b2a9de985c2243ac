"""The relaxations of many nodes at once for losses that are not quadratic, by products of matrices: `relaxed_together`.

Margins and slopes of all nodes are products of their coefficients with the columns. Between two of them steps are those
of a quadratic about the points where nodes are: its slopes are those of each node, and its curvature is one for all,
the mean of what they have at the start, somewhat larger.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riata.arrays import Array, at_least, namespace, to_host
from riata.losses import Loss
from riata.solvers.subset.proof.planes import ROUNDING, SLOPE_ROUNDING
from riata.solvers.subset.proof.relaxed_together import Evaluated, Patience, SplitPoints, SplitQuadratic

PATIENCE = Patience(steps=200, slow=0.005)  # more than with quadratics, as these change on the way
LARGER = 1.5  # times the mean curvature of nodes
LEAST = 0.02  # of the usual curvature: rows have at least that
INTERCEPT_STEPS = 3  # of Newton, from the intercept of the points before
LEAST_OF_INTERCEPT = 0.1  # of the usual curvature, in such a step: none goes too far where a loss is nearly flat


@dataclass(frozen=True)
class Rows:
    """Columns in units of unit curvature, targets and weights, which sum to 1: in arrays of one library."""

    loss: Loss
    X: Array
    y: Array
    weight: Array
    ridge: Array
    fit_intercept: bool
    b: float  # without features
    curvature: float  # the usual one: the largest, or that of the mean row without features where there is no largest
    slope_rounding: Array  # of every column, times the norm of slopes over the rows
    unit: np.ndarray  # what coefficients are multiplied by
    send: Any

    @classmethod
    def of(
        cls, loss: Loss, X: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: np.ndarray, b: float | None, send: Any
    ) -> "Rows":
        """From columns of unit deviation, centred where there is an intercept, which is b without features."""
        curvature = loss.curvature
        if not np.isfinite(curvature):
            curvature = float(weight @ loss.second_derivative(y, np.full(len(y), b or 0.0)))
        unit = np.sqrt(curvature * (weight @ X**2) + ridge)
        rounding = send(SLOPE_ROUNDING * np.sqrt(len(X)) / unit)
        columns, paid = send(X / unit), send(ridge / unit**2)
        return cls(loss, columns, send(y), send(weight), paid, b is not None, b or 0.0, curvature, rounding, unit, send)

    def started(self, w: np.ndarray) -> np.ndarray:
        """Coefficients, a row for each node, or none where they are worse than none.

        They made up for each other, and some are out by now: far from there exp overflows, and curvatures tell nothing.
        """
        z = self.send(w * self.unit) @ self.X.T
        empty = namespace(z).zeros_like(z[:1, :])
        losses, least = (self._losses(margins + self._centred(margins)) for margins in (z, empty))
        return np.where((to_host(losses) <= to_host(least))[:, None], w, 0.0)

    def _losses(self, z: Array) -> Array:
        return namespace(z).sum(self.weight * self.loss.value(self.y, z), axis=1)

    def about(self, w: np.ndarray) -> "SplitTrue":
        """The loss, by quadratics about these coefficients: a row for each node."""
        z = self.send(w * self.unit) @ self.X.T
        xp, X, b = namespace(z), self.X, self._centred(z)
        D = xp.mean(self.loss.second_derivative(self.y, z + b), axis=0)
        D = self.weight * xp.clip(LARGER * D, LEAST * self.curvature, self.loss.curvature)
        G = X.T @ (D[:, None] * X)
        if self.fit_intercept:
            by_d = X.T @ D
            G = G - by_d[:, None] * by_d[None, :] / xp.sum(D)
        quadratic = SplitQuadratic.of(G, 0.0 * self.ridge, self.ridge, 0.0, self.send)
        return SplitTrue(self, quadratic, b)

    def _centred(self, z: Array) -> Array:
        """Intercepts at which slopes sum to zero, or nearly, from that without features."""
        return self.centring(z, namespace(z).full_like(z[:, :1], self.b))

    def centring(self, z: Array, b: Array) -> Array:
        """Intercepts at which slopes sum to zero, or nearly, from others."""
        xp, loss, y, weight = namespace(z), self.loss, self.y, self.weight
        for _ in range(INTERCEPT_STEPS if self.fit_intercept else 0):
            slope = xp.sum(weight * loss.derivative(y, z + b), axis=1, keepdims=True)
            curvature = xp.sum(weight * loss.second_derivative(y, z + b), axis=1, keepdims=True)
            b = b - slope / at_least(curvature, LEAST_OF_INTERCEPT * self.curvature)
        return b


@dataclass(frozen=True)
class SplitTrue:
    """The loss, and the quadratics about the points where nodes are."""

    rows: Rows
    quadratic: SplitQuadratic
    b: Array  # a column

    def at(self, points: SplitPoints) -> Evaluated:
        rows, xp, z = self.rows, namespace(points.z), points.z @ self.rows.X.T
        b = rows.centring(z, self.b)
        z = z + b
        u = rows.weight * rows.loss.derivative(rows.y, z)
        conjugate = u * z - rows.weight * rows.loss.value(rows.y, z)
        share = _balancing(u) if rows.fit_intercept else xp.ones_like(u)
        level = -xp.sum(share * conjugate, axis=1) - ROUNDING * xp.sum(xp.abs(conjugate), axis=1)
        slopes = (share * u) @ rows.X
        norm = xp.sqrt(xp.sum(u * u, axis=1, keepdims=True))
        r = -slopes - xp.sign(slopes) * (rows.slope_rounding * norm)
        bounds = level - points.spent(rows.ridge, r) * (1.0 + ROUNDING)
        bounds = xp.where(xp.isfinite(bounds), bounds, xp.full_like(bounds, -np.inf))
        about = replace(self.quadratic, c=points.z @ self.quadratic.G - slopes)
        return Evaluated(r, bounds, replace(self, quadratic=about, b=b))

    def taken(self, rows: np.ndarray) -> "SplitTrue":
        xp = namespace(self.b)
        places = xp.asarray(rows)
        about = replace(self.quadratic, c=xp.take(self.quadratic.c, places, axis=0))
        return replace(self, quadratic=about, b=xp.take(self.b, places, axis=0))


def _balancing(u: Array) -> Array:
    """Shares of the positive and of the negative slopes that make those of each node sum to zero."""
    xp, nothing = namespace(u), 0.0 * u
    up = xp.sum(xp.where(u > 0.0, u, nothing), axis=1, keepdims=True)
    down = xp.sum(xp.where(u < 0.0, -u, nothing), axis=1, keepdims=True)
    positive = xp.where(down < up, down / at_least(up, 1e-300), xp.ones_like(up))
    negative = xp.where(up < down, up / at_least(down, 1e-300), xp.ones_like(up))
    return xp.where(u > 0.0, positive + nothing, negative + nothing)

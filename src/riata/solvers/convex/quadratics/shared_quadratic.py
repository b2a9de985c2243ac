"""The minimum of a quadratic of several targets at once, whose features enter for all of them or for none.

    Q(V) = slope . (V - W) + trace((V - W)'G(V - W)) / 2 + penalty(V)

V is features x targets. The matrix G is that of one target, for all have the same, so that the best row of V for given
others has a closed form. Sweeps over the rows find the minimum, with extrapolations in between.
"""

import numpy as np

from riata.penalties import GroupLasso
from riata.solvers.convex.quadratics.extrapolation import extrapolated

SWEEPS = 6  # between two extrapolations
MAX_ROUNDS = 500
ROUNDING = 1e-15  # of Q: a smaller gain is none


class SharedQuadratic:
    """Q from a start `V`, where the smooth part has this slope; `penalty` is of the entries of V, row by row."""

    def __init__(self, G: np.ndarray, slope: np.ndarray, penalty: GroupLasso, V: np.ndarray) -> None:
        self.G, self.slope, self.penalty, self.start = G, slope, penalty, V
        n_targets = V.shape[1]
        scale = np.broadcast_to(np.asarray(penalty.scale, dtype=np.float64), V.size)[::n_targets]
        self._outer = penalty.by_group[penalty.groups][::n_targets] * scale
        self._inner = penalty.by_feature[::n_targets] * scale

    def minimum(self, precision: float, enough: float, squares: float) -> np.ndarray:
        """The best V. `precision` is that of the optimality conditions, relative to the largest slope."""
        V, now = self.start.copy(), self.slope.copy()
        unit = max(float(np.max(np.linalg.norm(now, axis=1))), float(np.max(self._outer)), 1e-300)
        least = np.inf
        for _ in range(MAX_ROUNDS):
            moving = np.flatnonzero((V != 0.0).any(axis=1) | (self._left(V, now) > 0.0))
            history = [V[moving].ravel()]
            for _ in range(SWEEPS):
                self._sweep(moving, V, now)
                history.append(V[moving].ravel())
            V, now = self._extrapolated(moving, V, np.array(history))
            if float(np.max(self._left(V, now), initial=0.0)) <= precision * unit:
                break
            if enough > 0.0 and self._gap(V, now, squares) <= enough:
                break
            Q = self._Q(V, now)
            if Q >= least - ROUNDING * abs(least):
                break
            least = Q
        return V

    def _sweep(self, moving: np.ndarray, V: np.ndarray, now: np.ndarray) -> None:
        """The best row after the other, in place."""
        for j in moving:
            curvature = self.G[j, j]
            if curvature <= 0.0:
                continue
            x = V[j] - now[j] / curvature
            x = np.copysign(np.maximum(np.abs(x) - self._inner[j] / curvature, 0.0), x)
            length = float(np.sqrt(x @ x))
            kept = max(1.0 - self._outer[j] / (curvature * length), 0.0) if length > 0.0 else 0.0
            change = kept * x - V[j]
            if change.any():
                V[j] += change
                now += self.G[j][:, None] * change

    def _extrapolated(self, moving: np.ndarray, V: np.ndarray, history: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the last sweeps lead to, if Q is lower there, and the slope; without the rounding of many updates."""
        now = self._slope_at(V)
        far = extrapolated(history)
        if far is None:
            return V, now
        new = V.copy()
        new[moving] = far.reshape(len(moving), -1)
        new[~V.any(axis=1)] = 0.0
        if self._inner.any():
            new[V == 0.0] = 0.0
        slope = self._slope_at(new)
        return (new, slope) if self._Q(new, slope) < self._Q(V, now) else (V, now)

    def _slope_at(self, V: np.ndarray) -> np.ndarray:
        slopes: np.ndarray = self.slope + self.G @ (V - self.start)
        return slopes

    def _Q(self, V: np.ndarray, now: np.ndarray) -> float:
        return float(0.5 * np.sum((V - self.start) * (self.slope + now)) + self.penalty.value(V.ravel()))

    def _left(self, V: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Of every row, the length of what is left of the slopes after the penalty's own."""
        lengths = np.linalg.norm(V, axis=1)
        inside = np.maximum(np.abs(now) - self._inner[:, None], 0.0)
        outward = (self._outer / np.where(lengths > 0.0, lengths, 1.0))[:, None] * V
        outward = now + outward + np.copysign(self._inner[:, None], V)
        left = np.linalg.norm(np.where(V != 0.0, outward, inside), axis=1)
        left = np.where(lengths > 0.0, left, np.maximum(left - self._outer, 0.0))
        return np.where(self.G.diagonal() > 0.0, left, 0.0)

    def _gap(self, V: np.ndarray, now: np.ndarray, squares: float) -> float:
        """The duality gap of Q, see `quadratic._gap`: slopes are shrunk until no row is pulled in."""
        v, slope = V.ravel(), now.ravel()
        pull, threshold = self.penalty.pull(slope), self.penalty.threshold(len(v))
        free, curvature = threshold == 0.0, np.repeat(self.G.diagonal(), V.shape[1])
        share = 1.0 / max(1.0, float(np.max(pull[~free] / threshold[~free], initial=0.0)))
        loose = 0.5 * (1.0 - share) ** 2 * squares if share < 1.0 else 0.0
        gains = slope[free] ** 2 / np.where(curvature[free] > 0.0, curvature[free], np.inf)
        return float(loose + self.penalty.value(v) + share * (v @ slope) + gains.sum())

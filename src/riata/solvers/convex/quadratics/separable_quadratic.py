"""The minimum of a quadratic and any penalty that is a sum over the features, in array functions alone.

    Q(v) = slope . (v - w) + (v - w)'H(v - w) / 2 + penalty(v)

The method of `kernels.quadratic`, which is for the elastic net, in steps that suit array functions: a sweep of
coordinate descent, proximal gradient steps with momentum on all coordinates at once, and a Newton step on those that
are not zero, until the optimality conditions hold. No step raises Q, so that with a penalty that is not convex the
result is a stationary point that is no worse than the start.
"""

import numpy as np

from riata.penalties import SeparablePenalty
from riata.solvers.convex.quadratics.group_quadratic import NEGATIVE

MAX_ROUNDS = 25
STEPS = 100  # with momentum, in each round
POWERS, SLACK = 20, 1.1  # steps of the power method, and a factor on its result, which may be too small
STEEPEST = 1e9  # times the steepness of H: what shorter steps would gain is less than rounding
DIFFERENCE = 1e-6  # of a coefficient: distance of the finite differences that give the penalty's curvature


def minimise_separable(
    H: np.ndarray, slope: np.ndarray, penalty: SeparablePenalty, w: np.ndarray, precision: float
) -> np.ndarray:
    """The best v from the start w, where the smooth part has this slope. H is m x m, symmetric, not negative.

    `precision` is that of the optimality conditions, relative to the largest slope, each in units of its coordinate.
    """
    H = H + NEGATIVE * np.trace(H) * np.eye(
        len(w)
    )  # of a singular H rounding makes one along which Q falls without end
    quadratic = _Quadratic(H, slope, penalty, w)
    v, now = w.copy(), slope.copy()
    tol = precision * quadratic.largest_slope()
    for _ in range(MAX_ROUNDS):
        quadratic.descend(v, now)
        now = quadratic.slope_at(v)
        if quadratic.violation(v, now) <= tol:
            break
        v, now = quadratic.newton(*quadratic.accelerate(v, now))
        if quadratic.violation(v, now) <= tol:
            break
    return v


class _Quadratic:
    """Q, and the steps on it."""

    def __init__(self, H: np.ndarray, slope: np.ndarray, penalty: SeparablePenalty, w: np.ndarray):
        self.H, self.slope, self.penalty, self.w = H, slope, penalty, w
        self.curvature = np.diag(H).copy()
        self.curved = self.curvature > 0.0  # the other columns do not vary
        self.unit = np.sqrt(np.where(self.curved, self.curvature, 1.0))  # of slopes, as for columns of unit size
        self.single = [penalty.of(np.array([j])) for j in range(len(w))]
        self.steepness = self._largest_eigenvalue()

    def largest_slope(self) -> float:
        """The unit of violations."""
        low, high = self.penalty.subdifferential(self.w)
        penalty_slope = np.where(self.w != 0.0, np.maximum(np.abs(low), np.abs(high)), 0.0)
        return float(np.max(np.maximum(np.abs(self.slope), penalty_slope) / self.unit, initial=0.0, where=self.curved))

    def slope_at(self, v: np.ndarray) -> np.ndarray:
        slopes: np.ndarray = self.slope + self.H @ (v - self.w)
        return slopes

    def value(self, v: np.ndarray, now: np.ndarray) -> float:
        """Q at v, where its smooth part has the slope `now`."""
        return float(0.5 * (v - self.w) @ (self.slope + now) + self.penalty.value(v))

    def violation(self, v: np.ndarray, now: np.ndarray) -> float:
        """The largest violation of an optimality condition, each in units of its coordinate."""
        return float(np.max(self.penalty.violation(v, now) / self.unit, initial=0.0, where=self.curved))

    def _largest_eigenvalue(self) -> float:
        """Of H in the units of the coordinates, by the power method."""
        x = np.random.default_rng(0).normal(size=len(self.w)) * self.curved
        for _ in range(POWERS):
            x = (self.H @ (x / self.unit)) / self.unit * self.curved
            x /= max(float(np.linalg.norm(x)), 1e-300)
        return max(1.0, SLACK * float(x @ ((self.H @ (x / self.unit)) / self.unit)))

    def descend(self, v: np.ndarray, now: np.ndarray) -> None:
        """Each coordinate in turn at its best with the others fixed; v and now in place."""
        for j in np.flatnonzero(self.curved):
            h = self.curvature[j : j + 1]
            new = self.single[j].best_value(h * v[j] - now[j], h)[0]
            if new != v[j]:
                now += (new - v[j]) * self.H[j]
                v[j] = new

    def accelerate(self, v: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Proximal gradient steps with momentum (Beck & Teboulle, 2009), restarted without it where a step raises Q."""
        Q, from_v, from_now, t, steepest = self.value(v, now), v, now, 1.0, STEEPEST * self.steepness
        for _ in range(STEPS):
            h = self.steepness * np.where(self.curved, self.curvature, 1.0)
            new = np.where(self.curved, self.penalty.best_value(h * from_v - from_now, h), v)
            new_now = self.slope_at(new)
            new_Q = self.value(new, new_now)
            if new_Q > Q:
                if from_v is v:
                    self.steepness *= 2.0
                    if self.steepness > steepest:
                        break
                from_v, from_now, t = v, now, 1.0
                continue
            t_next = 0.5 + np.sqrt(0.25 + t * t)
            momentum = (t - 1.0) / t_next
            from_v, from_now = new + momentum * (new - v), new_now + momentum * (new_now - now)
            v, now, Q, t = new, new_now, new_Q, t_next
        return v, now

    def newton(self, v: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A step to zero slopes of the coordinates that are not zero, of which those that would change sign become
        zero; (v, now) unchanged where that does not lower Q."""
        S = np.flatnonzero((v != 0.0) & self.curved)
        penalty = self.penalty.of(S)
        near = DIFFERENCE * v[S]
        p, ahead, behind = (penalty.subdifferential(x)[0] for x in (v[S], v[S] + near, v[S] - near))
        curvature = (ahead - behind) / (2.0 * near)
        try:
            step = np.linalg.solve(self.H[np.ix_(S, S)] + np.diag(curvature), -(now[S] + p))
        except np.linalg.LinAlgError:
            return v, now
        moved = v[S] + step
        new = v.copy()
        new[S] = np.where(moved * v[S] > 0.0, moved, 0.0)
        slopes = self.slope_at(new)
        before, after = self.value(v, now), self.value(new, slopes)
        rounding = 1e-14 * abs(before)
        better = after < before - rounding
        finer = after <= before + rounding and self.violation(new, slopes) < self.violation(v, now)
        return (new, slopes) if better or finer else (v, now)

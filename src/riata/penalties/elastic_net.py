"""The elastic net: absolute values and squares, with the Lasso as its special case."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from riata.penalties.penalty import Numbers, SeparablePenalty, Strengths


@dataclass(frozen=True)
class ElasticNet(SeparablePenalty):
    """``sum_j l1_j |w_j| + l2_j / 2 w_j^2``, each strength one number or one per feature, over lower <= w <= upper."""

    l1: Numbers = 1.0
    l2: Numbers = 0.0
    lower: Numbers = -np.inf
    upper: Numbers = np.inf

    convex = True

    @cached_property
    def has(self) -> frozenset[str]:  # asked for in every pass
        names = {
            "separable step": True,
            "strengths": True,
            "no groups": True,
            "uniform": np.ndim(self.l1) == np.ndim(self.l2) == 0,
            "no l2 part": not self._has_l2,
            "no bounds": self.unbounded,
        }
        return frozenset(name for name, there in names.items() if there)

    @cached_property
    def _has_l2(self) -> bool:
        return self.l2 != 0.0 if isinstance(self.l2, float) else bool(np.any(self.l2))

    def value(self, w: np.ndarray) -> float:
        if not self.unbounded and np.any((w < self.lower) | (w > self.upper)):
            return np.inf
        return _weighted_sum(self.l1, np.abs(w)) + (0.5 * _weighted_sum(self.l2, w * w) if self._has_l2 else 0.0)

    def values(self, w: np.ndarray) -> np.ndarray:
        values = self.l1 * np.abs(w) + 0.5 * self.l2 * w * w
        return np.where((w < self.lower) | (w > self.upper), np.inf, values)

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        moved: np.ndarray = soft_threshold(v, step * self.l1) / (1.0 + step * self.l2)
        return moved if self.unbounded else np.clip(moved, self.lower, self.upper)

    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """The compiled version is `kernels.quadratic.best_value`."""
        return np.clip(soft_threshold(centre, self.l1) / (curvature + self.l2), self.lower, self.upper)

    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The compiled version is `kernels.quadratic.violation`."""
        sign, ridge = np.sign(w), self.l2 * w
        low = np.where(w == 0.0, -self.l1, self.l1 * sign + ridge)
        high = np.where(w == 0.0, self.l1, self.l1 * sign + ridge)
        low, high = np.where(w <= self.lower, -np.inf, low), np.where(w >= self.upper, np.inf, high)
        return np.where(w > self.upper, np.inf, low), np.where(w < self.lower, -np.inf, high)  # outside there is none

    def threshold(self, n_features: int) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.l1, dtype=np.float64), n_features)

    def pull(self, slope: np.ndarray) -> np.ndarray:
        pulls: np.ndarray = np.abs(slope)
        return pulls if self.unbounded else np.where(np.where(slope < 0.0, self.upper, self.lower) == 0.0, 0.0, pulls)

    def strengths(self, n_features: int) -> Strengths:
        """The strengths and bounds of all features, one number each, as read-only arrays."""
        every = (self.l1, self.l2, self.lower, self.upper)
        return Strengths(*(_of_each(strength, n_features) for strength in every))

    def of(self, features: np.ndarray) -> "ElasticNet":
        every = (self.l1, self.l2, self.lower, self.upper)
        return ElasticNet(*(s[features] if isinstance(s, np.ndarray) else s for s in every))

    def at(self, alpha: float) -> "ElasticNet":
        """alpha times this penalty, within the same bounds."""
        return ElasticNet(alpha * self.l1, alpha * self.l2, self.lower, self.upper)

    def within(self, lower: Numbers, upper: Numbers) -> "ElasticNet":
        return ElasticNet(self.l1, self.l2, lower, upper)

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "ElasticNet":
        bounds = self.lower / scale, self.upper / scale
        return ElasticNet(self.l1 * scale * factors, self.l2 * scale**2 * factors, *bounds)

    def formula(self, alpha: float | None, unit: str = "") -> str:
        """alpha times this penalty, which must have one strength for all features."""
        if not self.l2 and self.l1 == 1.0:
            text = f" + {alpha:.6g} * |w|_1{unit}"
        else:
            text = f" + {alpha:.6g} * ({self.l1:g} |w|_1 + {self.l2:g} / 2 |w|_2^2){unit}"
        return text


def _of_each(strength: Numbers, n_features: int) -> np.ndarray:
    """One number for each feature, read-only."""
    if np.ndim(strength) == 0:
        return _same_for_all(float(strength), n_features)
    return np.broadcast_to(np.asarray(strength, dtype=np.float64), n_features)


@lru_cache(maxsize=8)  # the models of a path share all but the first of their strengths
def _same_for_all(strength: float, n_features: int) -> np.ndarray:
    return np.broadcast_to(np.float64(strength), n_features)


def _weighted_sum(strength: Numbers, v: np.ndarray) -> float:
    """The sum of strength * v; the strength is one number or one per feature."""
    return float(strength @ v if isinstance(strength, np.ndarray) and strength.ndim else strength * v.sum())


def soft_threshold(v: np.ndarray, threshold: Numbers) -> np.ndarray:
    """Each v_j moved towards zero by `threshold`, and no further than zero."""
    return v - np.clip(v, -threshold, threshold)

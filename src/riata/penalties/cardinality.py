"""At most k coefficients that are not zero, perhaps with a ridge."""

from dataclasses import dataclass

import numpy as np

from riata.penalties.penalty import Numbers, Penalty


@dataclass(frozen=True)
class Cardinality(Penalty):
    """sum_j l2_j / 2 w_j^2 (a ridge, zero by default) where at most k coefficients are not zero, infinite elsewhere."""

    k: int
    l2: Numbers = 0.0

    @property
    def has(self) -> frozenset[str]:
        return beside_ridge(self.l2) | {"no groups"}

    def value(self, w: np.ndarray) -> float:
        return float(0.5 * np.sum(self.l2 * w * w)) if np.count_nonzero(w) <= self.k else np.inf

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        if not np.any(self.l2):
            return hard_threshold(v, self.k)
        curvature = 1.0 + step * self.l2
        return np.where(hard_threshold(v * v / curvature, self.k) > 0.0, v / curvature, 0.0)

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "Cardinality":
        return Cardinality(self.k, self.l2 * np.square(scale) * factors)

    def formula(self, alpha: float | None = None, unit: str = "") -> str:
        features = "feature" if self.k == 1 else "features"
        return f"{ridge_formula(self.l2, unit)} over models of at most {self.k} {features}"


def beside_ridge(l2: Numbers) -> frozenset[str]:
    """The properties (`Penalty.has`) of a limit on the number of features, or of groups, with this ridge."""
    names = {"cardinality": True, "no bounds": True, "uniform": np.ndim(l2) == 0, "no l2 part": not np.any(l2)}
    return frozenset(name for name, there in names.items() if there)


def ridge_formula(l2: Numbers, unit: str) -> str:
    """What one ridge for all features adds to the mean loss."""
    return f" + {l2:g} / 2 |w|_2^2{unit}" if np.any(l2) else ""


def hard_threshold(v: np.ndarray, k: int) -> np.ndarray:
    """The k entries of largest magnitude, zero elsewhere; of equal magnitudes the first are kept."""
    if k >= len(v):
        return v.copy()
    kept = np.argsort(-np.abs(v), kind="stable")[:k]
    out = np.zeros_like(v)
    out[kept] = v[kept]
    return out

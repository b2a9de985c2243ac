"""At most k coefficients that are not zero, perhaps with a ridge."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from riata.penalties.penalty import Numbers, Penalty


@dataclass(frozen=True)
class Cardinality(Penalty):
    """sum_j l2_j / 2 w_j^2 (a ridge, zero by default) where at most k coefficients are not zero, infinite elsewhere.

    Features that are always in do not count.
    """

    k: int
    l2: Numbers = 0.0
    always_in: np.ndarray | None = None  # features, in order

    groups: ClassVar[None] = None  # features count one by one
    n_groups: ClassVar[None] = None

    @property
    def has(self) -> frozenset[str]:
        return beside_ridge(self.l2, self.always_in) | {"no groups"}

    @property
    def counted(self) -> str:
        """What k counts."""
        return further(self.always_in, "features")

    @property
    def choices_in(self) -> np.ndarray:
        """The features that are always in, of those that k would count."""
        return np.empty(0, dtype=np.int64) if self.always_in is None else self.always_in

    def n_choices(self, n_features: int) -> int:
        """How many there are of what k counts."""
        return n_features - len(self.choices_in)

    def columns_of(self, choices: np.ndarray) -> np.ndarray:
        """The features of some of what k counts."""
        return choices

    def value(self, w: np.ndarray) -> float:
        counted = w if self.always_in is None else np.delete(w, self.always_in)
        return float(0.5 * np.sum(self.l2 * w * w)) if np.count_nonzero(counted) <= self.k else np.inf

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        curvature = 1.0 + step * self.l2
        gains = v * v / curvature
        if self.always_in is not None:
            gains[self.always_in] = 0.0
        kept = hard_threshold(gains, self.k) > 0.0
        if self.always_in is not None:
            kept[self.always_in] = True
        return np.where(kept, v / curvature, 0.0)

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "Cardinality":
        return replace(self, l2=self.l2 * np.square(scale) * factors)

    def formula(self, alpha: float | None = None, unit: str = "") -> str:
        features = self.counted.removesuffix("s") if self.k == 1 else self.counted
        return f"{ridge_formula(self.l2, unit)} over models of at most {self.k} {features}"


def beside_ridge(l2: Numbers, always_in: np.ndarray | None) -> frozenset[str]:
    """The properties (`Penalty.has`) of a limit on the number of features, or of groups, with this ridge."""
    names = {
        "cardinality": True, "no bounds": True, "uniform": np.ndim(l2) == 0 and always_in is None,
        "no l2 part": not np.any(l2),
    }  # fmt: skip
    return frozenset(name for name, there in names.items() if there)


def further(always_in: np.ndarray | None, counted: str) -> str:
    """What the features, or groups, that k counts are called: further ones, where some are always in."""
    return counted if always_in is None else f"further {counted}"


def ridge_formula(l2: Numbers, unit: str) -> str:
    """What one ridge for all features adds to the mean loss."""
    return f" + {l2:g} / 2 |w|_2^2{unit}" if np.any(l2) else ""


def hard_threshold(v: np.ndarray, k: int) -> np.ndarray:
    """The k entries of largest magnitude, zero elsewhere; of equal magnitudes the first are kept."""
    if k >= len(v):
        return v.copy()
    size = np.abs(v)
    least = np.partition(size, len(v) - k)[len(v) - k] if k else np.inf
    larger = np.flatnonzero(size > least)
    kept = np.concatenate([larger, np.flatnonzero(size == least)[: k - len(larger)]])
    out = np.zeros_like(v)
    out[kept] = v[kept]
    return out

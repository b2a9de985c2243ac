"""At most k groups of coefficients that are not zero, perhaps with a ridge."""

from dataclasses import dataclass, replace

import numpy as np

from riata.penalties.cardinality import beside_ridge, further, hard_threshold, ridge_formula
from riata.penalties.penalty import Numbers, Penalty


@dataclass(frozen=True)
class GroupCardinality(Penalty):
    """sum_j l2_j / 2 w_j^2 where at most k groups have a coefficient that is not zero, infinite elsewhere.

    Groups that are always in do not count.
    """

    k: int
    groups: np.ndarray  # the group of every feature, numbered from 0
    l2: Numbers = 0.0
    always_in: np.ndarray | None = None  # their features, in order
    of_features: bool = False  # whether a group is the coefficients of one feature, of which a model has several

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    @property
    def counted(self) -> str:
        """What k counts."""
        return further(self.always_in, "features" if self.of_features else "groups")

    @property
    def has(self) -> frozenset[str]:
        return beside_ridge(self.l2, self.always_in) | ({"no groups"} if self.of_features else set())

    @property
    def choices_in(self) -> np.ndarray:
        """The groups that are always in."""
        return np.unique(self.groups[self.always_in]) if self.always_in is not None else self.groups[:0]

    def n_choices(self, n_features: int) -> int:
        """How many other groups there are."""
        return self.n_groups - len(self.choices_in)

    def columns_of(self, choices: np.ndarray) -> np.ndarray:
        """The features of these groups."""
        return np.flatnonzero(np.isin(self.groups, choices))

    def value(self, w: np.ndarray) -> float:
        used = np.setdiff1d(self.groups[np.flatnonzero(w)], self.choices_in)
        return float(0.5 * np.sum(self.l2 * w * w)) if len(used) <= self.k else np.inf

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        curvature = 1.0 + step * self.l2
        gains = np.bincount(self.groups, v * v / curvature)
        gains[self.choices_in] = 0.0
        kept = hard_threshold(gains, self.k) > 0.0
        kept[self.choices_in] = True
        return np.where(kept[self.groups], v / curvature, 0.0)

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "GroupCardinality":
        return replace(self, l2=self.l2 * np.square(scale) * factors)

    def formula(self, alpha: float | None = None, unit: str = "") -> str:
        counted = self.counted.removesuffix("s") if self.k == 1 else self.counted
        features = "" if self.of_features else " of features"
        return f"{ridge_formula(self.l2, unit)} over models of at most {self.k} {counted}{features}"

"""The group Lasso and the sparse-group Lasso: whole groups of coefficients are zero, in the latter single ones, too.

    alpha sum_g f_g (ratio sqrt(p_g) |s w|_g + (1 - ratio) sum_(j in g) |s_j w_j|)

for groups of p_g features, with factors f and scales s (Yuan & Lin, 2006; Simon et al., 2013).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riata.errors import OptionError
from riata.penalties.elastic_net import soft_threshold
from riata.penalties.penalty import FEASIBLE, Numbers, Penalty, largest_ratio

NEWTON_STEPS = 100  # of which a few are taken: they converge from one side, and quadratically


@dataclass(frozen=True)
class GroupLasso(Penalty):
    """The sum above; `weights` are the sqrt(p_g), which some of a group's features keep when they are alone."""

    groups: np.ndarray  # the group of every feature, numbered from 0
    ratio: float = 1.0  # the share of the group part
    alpha: float = 1.0
    scale: Numbers = 1.0
    factors: Numbers = 1.0  # the same within a group
    weights: np.ndarray | None = None  # of every group, by default the root of its size
    words: str = "sum over groups sqrt(size) |w_g|_2"  # the group part, in a formula

    convex = True

    @property
    def has(self) -> frozenset[str]:
        alike = {"uniform"} if np.ndim(self.factors) == 0 else set()
        return frozenset({"block step", "dual bound", "no bounds", "no l2 part"} | alike)

    @cached_property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    @cached_property
    def roots(self) -> np.ndarray:
        """sqrt(p_g) of every group."""
        return np.sqrt(np.bincount(self.groups)) if self.weights is None else self.weights

    @cached_property
    def strength(self) -> np.ndarray:
        """alpha times the factor of every group."""
        factors = np.ones(self.n_groups)
        factors[self.groups] = self.factors
        return self.alpha * factors

    @property
    def by_group(self) -> np.ndarray:
        """What the length of every group's coefficients is multiplied by."""
        return self.strength * self.ratio * self.roots

    @property
    def by_feature(self) -> np.ndarray:
        """What the size of every scaled coefficient is multiplied by."""
        return self.strength[self.groups] * (1.0 - self.ratio)

    def lengths(self, x: np.ndarray) -> np.ndarray:
        """The length of x over every group."""
        return np.sqrt(np.bincount(self.groups, x * x, minlength=self.n_groups))

    def value(self, w: np.ndarray) -> float:
        scaled = self.scale * w
        return float(self.by_group @ self.lengths(scaled) + self.by_feature @ np.abs(scaled))

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        if np.ndim(self.scale):
            raise OptionError("the prox of a group Lasso of scaled columns has no closed form")
        inner = soft_threshold(v, step * self.by_feature * self.scale)
        lengths = self.lengths(inner)
        kept = np.maximum(lengths - step * self.by_group * self.scale, 0.0) / np.where(lengths > 0.0, lengths, 1.0)
        return kept[self.groups] * inner

    def threshold(self, n_features: int) -> np.ndarray:
        """The largest pull at which the group of each feature stays 0."""
        return self.strength[self.groups]

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """The least strength that keeps the group of each feature at 0 where the loss has this slope.

        It is the root a of |max(|slope / s| - (1 - ratio) a, 0)|_g - ratio sqrt(p_g) a, which is convex and falls.
        """
        x, outer, inner = np.abs(slope) / self.scale, self.ratio * self.roots, 1.0 - self.ratio
        if inner == 0.0:
            return (self.lengths(x) / outer)[self.groups]
        a = np.zeros(self.n_groups)
        for _ in range(NEWTON_STEPS):
            over = np.maximum(x - inner * a[self.groups], 0.0)
            lengths = self.lengths(over)
            sums = np.bincount(self.groups, over, minlength=self.n_groups)
            fall = inner * sums / np.where(lengths > 0.0, lengths, 1.0) + outer
            move = (lengths - outer * a) / np.where(fall > 0.0, fall, 1.0)
            a = np.maximum(a + move, 0.0)
            if np.all(np.abs(move) <= 1e-15 * a):
                break
        pulls = a[self.groups]
        return pulls

    def dual_bound(self, w: np.ndarray, slope: np.ndarray, moving: np.ndarray, rise: float) -> tuple[float, float]:
        """Slopes are shrunk until no group is pulled in."""
        pull, threshold = self.pull(slope), self.threshold(len(slope))
        unpenalised = threshold == 0.0
        largest = largest_ratio(np.where(unpenalised, 0.0, pull), threshold)
        enters = np.any(unpenalised & (w == 0.0) & moving)
        free = np.inf if enters else float(np.sum(np.abs(slope * w), where=unpenalised))
        return -FEASIBLE / max(1.0, largest) * rise, free

    def whole(self, features: np.ndarray) -> np.ndarray:
        """These features, and behind them the others of their groups."""
        chosen = np.zeros(self.n_groups, dtype=bool)
        chosen[self.groups[features]] = True
        others = chosen[self.groups]
        others[features] = False
        return np.concatenate([features, np.flatnonzero(others)])

    def of(self, features: np.ndarray) -> "GroupLasso":
        """The penalty of some features, where the others are 0."""
        found, groups = np.unique(self.groups[features], return_inverse=True)
        scale, factors = (x[features] if isinstance(x, np.ndarray) else x for x in (self.scale, self.factors))
        return GroupLasso(groups, self.ratio, self.alpha, scale, factors, self.roots[found], self.words)

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "GroupLasso":
        return replace(self, scale=self.scale * scale, factors=self.factors * factors)

    def formula(self, alpha: float | None, unit: str = "") -> str:
        if self.ratio == 1.0:
            return f" + {alpha:.6g} * {self.words}{unit}"
        return f" + {alpha:.6g} * ({self.ratio:g} {self.words} + {1.0 - self.ratio:g} |w|_1){unit}"

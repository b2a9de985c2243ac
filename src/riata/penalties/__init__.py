"""Penalties on the coefficients: a value and a prox. A constraint is a penalty that is 0 or infinite."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ElasticNet:
    """sum_j l1_j |w_j| + l2_j / 2 w_j^2, each strength one number or one per feature; perhaps over w >= 0 only."""

    l1: float | np.ndarray
    l2: float | np.ndarray = 0.0
    nonnegative: bool = False

    def value(self, w):
        if self.nonnegative and np.any(w < 0):
            return np.inf
        return _weighted_sum(self.l1, np.abs(w)) + (0.5 * _weighted_sum(self.l2, w * w) if np.any(self.l2) else 0.0)

    def prox(self, v, step):
        v = np.maximum(v, 0.0) if self.nonnegative else v
        return soft_threshold(v, step * self.l1) / (1.0 + step * self.l2)

    @property
    def lower(self) -> float:
        """The least that a weight may be."""
        return 0.0 if self.nonnegative else -np.inf

    def pull(self, slope):
        """How strongly the slopes of the loss pull weights away from zero, to be held against l1."""
        return np.maximum(-slope, 0.0) if self.nonnegative else np.abs(slope)


@dataclass(frozen=True)
class Cardinality:
    """sum_j l2_j / 2 w_j^2 (a ridge, zero by default) where at most k coefficients are not zero, infinite elsewhere."""

    k: int
    l2: float | np.ndarray = 0.0

    def value(self, w):
        return float(0.5 * np.sum(self.l2 * w * w)) if np.count_nonzero(w) <= self.k else np.inf

    def prox(self, v, step):
        return hard_threshold(v / (1.0 + step * self.l2), self.k)


@dataclass(frozen=True)
class GroupCardinality:
    """sum_j l2_j / 2 w_j^2 where at most k groups have a coefficient that is not zero, infinite elsewhere."""

    k: int
    groups: np.ndarray  # the group of every feature, numbered from 0
    l2: float | np.ndarray = 0.0

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    def value(self, w):
        used = np.unique(self.groups[np.flatnonzero(w)])
        return float(0.5 * np.sum(self.l2 * w * w)) if len(used) <= self.k else np.inf

    def prox(self, v, step):
        bend = 1.0 + step * self.l2
        worth = np.bincount(self.groups, v * v / bend)
        return np.where(hard_threshold(worth, self.k)[self.groups] > 0, v / bend, 0.0)


def _weighted_sum(strength, v) -> float:
    """The sum of strength * v; the strength is one number or one per feature."""
    return float(strength * v.sum() if np.ndim(strength) == 0 else strength @ v)


def soft_threshold(v, threshold):
    """Each v_j moved towards zero by `threshold`, and no further than zero."""
    return v - np.clip(v, -threshold, threshold)


def hard_threshold(v, k):
    """The k entries of largest magnitude, zero elsewhere; of equals the first ones stay."""
    if k >= len(v):
        return v.copy()
    kept = np.argsort(-np.abs(v), kind="stable")[:k]
    out = np.zeros_like(v)
    out[kept] = v[kept]
    return out

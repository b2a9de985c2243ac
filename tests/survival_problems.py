"""Times to events of several shapes: tied or not, weighted, of columns that differ in scale and are far from 0."""

from typing import NamedTuple

import numpy as np


class Times(NamedTuple):
    X: np.ndarray
    time: np.ndarray
    event: np.ndarray
    weight: np.ndarray
    entry: np.ndarray
    stratum: np.ndarray

    @property
    def y(self):
        """As scikit-survival has it."""
        return np.rec.fromarrays([self.event, self.time], names="event, time")

    @property
    def signed(self):
        return np.where(self.event, self.time, -self.time)


def make(n=120, d=15, seed=0, ties=True, censored=2.0, correlation=0.3) -> Times:
    """Hazards that depend on five of d columns, `censored` times as long followed as they take."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + correlation * rng.normal(size=(n, 1))
    X = X * rng.uniform(0.3, 3.0, d) + 5.0 * rng.normal(size=d)
    w = np.zeros(d)
    w[:5] = rng.normal(size=5)[:d] / X[:, :5].std(axis=0) / 2
    happens = rng.exponential(np.exp(-(X - X.mean(axis=0)) @ w))
    end = rng.exponential(censored, n)
    time = np.minimum(happens, end)
    time = np.ceil(8 * time) if ties else time
    return Times(
        X, time, happens <= end, rng.uniform(0.5, 2.0, n), time * rng.uniform(0.0, 0.6, n), rng.integers(0, 3, n)
    )

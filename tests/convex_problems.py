"""Problems for solvers of convex objectives."""

import numpy as np

from chunked import Chunked
from problems import targets
from riata.losses import LOSSES


def Chunks(X, y, weight=None, chunk_rows=17):
    """Rows shown a few at a time, as if they came from a disk; called like `InMemory`."""
    return Chunked(X, y, chunk_rows, weight)


def make(loss, n=120, d=40, seed=0, dtype=np.float64):
    """Correlated columns of different scales and means, few of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    X = (X * np.exp(rng.normal(size=d)) + rng.normal(size=d)).astype(dtype)
    z = X[:, :5] @ (rng.normal(size=5) / X[:, :5].std(axis=0)) + 0.3
    z = z - z.mean()
    y = targets(LOSSES[loss], z, rng)
    return X, y + 3.0 if LOSSES[loss].relative else y

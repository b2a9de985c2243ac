"""Problems for solvers of convex objectives."""

import numpy as np
from hypothesis import strategies as st

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


def targets_for(loss, X, rng):
    """Labels by the first column, or counts as the loss takes them: none of them 0, or shares, if it must be."""
    if loss.labels:
        return np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    y = rng.poisson(1.0, size=len(X)) + (0.0 if loss.takes(np.zeros(1))[0] else 0.1)
    return y if loss.takes(np.full(1, 2.0))[0] else np.minimum(y, 1.0)


@st.composite
def degenerate(draw):
    """Few rows; columns may be constant, zero, twins, huge or tiny; labels may be separable or all alike but one."""
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    for j in range(d):
        kind = draw(st.sampled_from(["plain", "zero", "constant", "twin", "nearly twin", "huge", "tiny", "binary"]))
        X[:, j] = {
            "plain": X[:, j], "zero": 0.0, "constant": 7.0, "twin": X[:, 0], "nearly twin": X[:, 0] + 1e-7 * X[:, j],
            "huge": 1e6 * X[:, j], "tiny": 1e-6 * X[:, j], "binary": X[:, j] > 0,
        }[kind]  # fmt: skip
    return X, rng

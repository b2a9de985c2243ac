"""The catalogue that property tests run over: a new entry is covered the day it is listed."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from own_penalties import MCP, Tilted
from riata import penalties
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.penalties import Cardinality, ElasticNet, GroupCardinality, GroupLasso, SeparablePenalty

PENALTIES = [
    ElasticNet(0.3),
    ElasticNet(0.2, 0.5),
    ElasticNet(0.2, 0.5, lower=0.0),
    ElasticNet(
        0.1, 0.2, np.array([-np.inf, 0.0, -0.4, -0.2, -np.inf, 0.0]), np.array([0.0, 0.5, np.inf, 0.3, 0.2, 0.0])
    ),
    ElasticNet(np.array([0.0, 0.1, 0.2, 0.3, 0.4, 2.0])),
    Cardinality(2),
    Cardinality(2, np.array([0.0, 9.0, 0.1, 3.0, 0.0, 0.5])),
    Cardinality(1, 0.5, np.array([0, 3])),
    GroupCardinality(2, np.array([0, 1, 1, 2, 0, 3])),
    GroupCardinality(1, np.array([0, 1, 1, 2, 0, 3]), 0.5, np.array([1, 2])),
    GroupLasso(np.array([0, 1, 1, 2, 0, 3]), 1.0, 0.2),
    GroupLasso(np.array([0, 1, 1, 2, 0, 3]), 0.4, 0.3),
    MCP(3.0, 0.4),
    MCP(1.5, 0.2),
    penalties.MCP(3.0, 0.4),
    penalties.MCP(1.1, 0.3),
    penalties.SCAD(3.7, 0.3),
    penalties.SCAD(2.1, 0.2),
    penalties.LQ(0.5, 0.3),
    Tilted(2.0, 0.3),
    Tilted(np.inf, 0.3),
]
SMOOTH = [name for name, loss in LOSSES.items() if "second derivative" in loss.has]  # without a kink
SCALES, FACTORS = np.array([0.5, 1.0, 2.0, 1.0, 3.0, 0.1]), np.array([1.0, 0.0, 0.5, 2.0, 1.0, 1.0])
SEPARABLE = [penalty for penalty in PENALTIES if isinstance(penalty, SeparablePenalty)]
SEPARABLE += [penalty.scaled(SCALES, FACTORS) for penalty in SEPARABLE]
LAYOUTS = {
    "dense": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr64": lambda X: _wide_indices(sp.csr_array(X)),
}


def targets(loss, z, rng):
    """Random targets that this loss takes, of which the margins z tell something."""
    if loss.labels:
        return np.where(z + 0.5 * rng.normal(size=len(z)) > 0, 1.0, -1.0)
    if loss.takes(np.array([-1.0]))[0]:
        return z + rng.standard_t(3, size=len(z))
    if not loss.takes(np.array([2.0]))[0]:  # shares
        return rng.binomial(4, 1.0 / (1.0 + np.exp(-z))) / 4.0
    mean = np.exp(np.clip(0.5 * z, -3.0, 3.0))
    if loss.takes(np.array([0.0]))[0]:
        return rng.poisson(mean).astype(float)
    return mean * rng.gamma(2.0, 0.5, size=len(z))


@dataclass(frozen=True)
class Small:
    """A small random problem: some features matter, some columns are rare, rows have weights."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    def data(self, layout="dense") -> InMemory:
        return InMemory(LAYOUTS[layout](self.X), self.y, self.weight)


def small(loss="squared", n=60, d=12, seed=0) -> Small:
    """Values that float32 holds exactly, so that layouts differ by rounding of sums only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    X[rng.random(X.shape) < 0.5] = 0.0
    margin = X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=n) + 0.3
    y = np.where(margin > 0, 1.0, -1.0) if LOSSES[loss].labels else margin
    return Small(X, y, np.where(rng.random(n) < 0.1, 0.0, rng.integers(1, 4, size=n).astype(float)))


def _wide_indices(X):
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)

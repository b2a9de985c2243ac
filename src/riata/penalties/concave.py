"""MCP, SCAD and Lq: like the Lasso near 0, flat or flatter far from it: large coefficients are not or hardly shrunk.

None is convex. A fit ends at a stationary point, which no small change improves.
"""

from dataclasses import dataclass

import numpy as np

from riata.errors import OptionError
from riata.penalties.elastic_net import ElasticNet
from riata.penalties.penalty import SeparablePenalty

NEWTON_STEPS = 100  # of which a few are taken: they converge from one side, and quadratically


class ConcavePenalty(SeparablePenalty):
    """A concave function of the size of each coefficient."""

    def tangent(self, w: np.ndarray) -> ElasticNet:
        """Its tangents in |w|, nowhere below it: an L1 penalty with a strength for each feature (Zou & Li, 2008)."""
        return ElasticNet(np.abs(self.subdifferential(w)[1]))


@dataclass(frozen=True)
class MCP(ConcavePenalty):
    """The minimax concave penalty (Zhang, 2010): its slope falls from alpha at 0 to 0 at gamma alpha."""

    gamma: float = 3.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.gamma < np.inf:
            raise OptionError(f"the gamma of MCP must be positive, not {self.gamma}")

    def values(self, w: np.ndarray) -> np.ndarray:
        size = np.minimum(np.abs(w), self.gamma * self.alpha)
        return self.alpha * size - size * size / (2.0 * self.gamma)

    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """Where the curvature is less than that of the penalty, there are two low points: 0 and beyond the bend."""
        bend = curvature - 1.0 / self.gamma
        soft = np.sign(centre) * np.maximum(np.abs(centre) - self.alpha, 0.0)
        near = np.abs(centre) <= self.gamma * self.alpha * curvature
        bowl = np.where(near, soft / np.where(bend > 0.0, bend, 1.0), centre / curvature)
        jump = np.abs(centre) > self.alpha * np.sqrt(self.gamma * curvature)
        return np.where(bend > 0.0, bowl, np.where(jump, centre / curvature, 0.0))

    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _with_kink(w, np.maximum(self.alpha - np.abs(w) / self.gamma, 0.0), self.alpha)


@dataclass(frozen=True)
class SCAD(ConcavePenalty):
    """Smoothly clipped absolute deviation (Fan & Li, 2001): its slope is alpha up to alpha, and 0 from gamma alpha."""

    gamma: float = 3.7
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not 2.0 < self.gamma < np.inf:
            raise OptionError(f"the gamma of SCAD must be above 2, not {self.gamma}")

    def values(self, w: np.ndarray) -> np.ndarray:
        size = np.minimum(np.abs(w), self.gamma * self.alpha)
        over = np.maximum(size - self.alpha, 0.0)
        return self.alpha * size - over * over / (2.0 * (self.gamma - 1.0))

    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """Where the curvature is less than that of the penalty, there are two low points: before and after its bend."""
        c, h, a = np.abs(centre), curvature, self.alpha
        bend = h - 1.0 / (self.gamma - 1.0)
        soft, far = np.maximum(c - a, 0.0) / h, c / h
        middle = (c - self.gamma * a / (self.gamma - 1.0)) / np.where(bend > 0.0, bend, 1.0)
        bowl = np.where(c <= a * (1.0 + h), soft, np.where(c <= self.gamma * a * h, middle, far))
        before = np.minimum(soft, a)
        costs = [0.5 * h * v * v - c * v + self.values(v) for v in (before, far)]
        after = (far >= self.gamma * a) & (costs[1] < costs[0])
        return np.copysign(np.where(bend > 0.0, bowl, np.where(after, far, before)), centre)

    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope = np.clip((self.gamma * self.alpha - np.abs(w)) / (self.gamma - 1.0), 0.0, self.alpha)
        return _with_kink(w, slope, self.alpha)


@dataclass(frozen=True)
class LQ(ConcavePenalty):
    """alpha^2 / q ((1 + |w| / alpha)^q - 1): like alpha |w| near 0, and like |w|^q with q < 1 far from it.

    Its slope is alpha (1 + |w| / alpha)^(q - 1). The tangents of this are the weights of reweighted L1 (Candes, Wakin &
    Boyd, 2008); that of |w|^q itself is infinite at 0, where every fit would stay.
    """

    q: float = 0.5
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.q < 1.0:
            raise OptionError(f"the q of Lq must lie between 0 and 1, not be {self.q}")

    def values(self, w: np.ndarray) -> np.ndarray:
        if self.alpha == 0.0:
            return np.zeros(len(w))
        return self.alpha**2 / self.q * np.expm1(self.q * np.log1p(np.abs(w) / self.alpha))

    def _slope(self, size: np.ndarray) -> np.ndarray:
        return self.alpha * (1.0 + size / self.alpha) ** (self.q - 1.0) if self.alpha else 0.0 * size

    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """0, or the larger point where slopes cancel; Newton steps come down to it, as the sum of slopes is convex."""
        if self.alpha == 0.0:
            return np.asarray(centre / curvature)
        a, q, c, h = self.alpha, self.q, np.abs(centre), curvature
        lowest = a * np.maximum(((1.0 - q) / h) ** (1.0 / (2.0 - q)) - 1.0, 0.0)  # where h v - c + slope(v) is least
        there = h * lowest - c + self._slope(lowest) < 0.0
        v = np.where(there, c / h, 0.0)
        for _ in range(NEWTON_STEPS):
            fall = np.maximum(h - (1.0 - q) * (1.0 + v / a) ** (q - 2.0), 1e-300)
            move = np.where(there, (h * v - c + self._slope(v)) / fall, 0.0)
            v = np.maximum(v - move, lowest * there)
            if np.all(np.abs(move) <= 1e-15 * v):
                break
        lower = 0.5 * h * v * v - c * v + self.values(v) < 0.0
        return np.copysign(np.where(there & lower, v, 0.0), centre)

    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _with_kink(w, self._slope(np.abs(w)), self.alpha)


CONCAVE: dict[str, type[MCP | SCAD | LQ]] = {"mcp": MCP, "scad": SCAD, "lq": LQ}
EXAMPLES = {"mcp": "mcp:3", "scad": "scad:3.7", "lq": "lq:0.5"}


def concave_penalty(name: str) -> MCP | SCAD | LQ | None:
    """The penalty of this name, perhaps with its gamma or q behind a colon, as in mcp:2.5; None if there is none."""
    family, colon, gamma = name.partition(":")
    if family not in CONCAVE:
        return None
    if not colon:
        return CONCAVE[family]()
    try:
        number = float(gamma)
    except ValueError:
        raise OptionError(f"penalty {name!r} has no number behind its colon: write it as {EXAMPLES[family]}") from None
    return CONCAVE[family](number)


def _with_kink(w: np.ndarray, slope: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the slopes of a penalty whose slope is this for w > 0, its opposite for w < 0."""
    slope = np.sign(w) * slope
    return np.where(w == 0.0, -alpha, slope), np.where(w == 0.0, alpha, slope)

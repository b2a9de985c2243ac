"""Penalties that riata does not have, in array functions alone."""

from dataclasses import dataclass

import numpy as np

from riata.penalties import Penalty, SeparablePenalty


@dataclass(frozen=True)
class MCP(SeparablePenalty):
    """The minimax concave penalty (Zhang, 2010): like L1 near 0, and ever flatter up to |w| = gamma alpha."""

    gamma: float = 3.0
    alpha: float = 1.0

    def values(self, w):
        size = np.abs(w)
        near = size <= self.gamma * self.alpha
        return np.where(near, self.alpha * size - size**2 / (2 * self.gamma), 0.5 * self.gamma * self.alpha**2)

    def best_value(self, centre, curvature):
        inner = np.sign(centre) * np.maximum(np.abs(centre) - self.alpha, 0.0)
        bend = curvature - 1.0 / self.gamma
        near = np.abs(centre) <= self.gamma * self.alpha * curvature
        bowl = np.where(near, inner / np.where(bend > 0, bend, 1.0), centre / curvature)
        jump = np.abs(centre) > self.alpha * np.sqrt(self.gamma * curvature)
        return np.where(bend > 0, bowl, np.where(jump, centre / curvature, 0.0))

    def subdifferential(self, w):
        slope = np.sign(w) * np.maximum(self.alpha - np.abs(w) / self.gamma, 0.0)
        return np.where(w == 0.0, -self.alpha, slope), np.where(w == 0.0, self.alpha, slope)


@dataclass(frozen=True)
class Tilted(SeparablePenalty):
    """alpha w above 0 and alpha down |w| below: another price for each sign; an infinite one allows w >= 0 only."""

    down: float = 2.0
    alpha: float = 1.0

    convex = True

    def values(self, w):
        below = np.where(w < 0.0, -w, 1.0)
        return self.alpha * np.where(w < 0.0, self.down * below, w)

    def best_value(self, centre, curvature):
        up = np.maximum(centre - self.alpha, 0.0)
        return (up - np.maximum(-centre - self.alpha * self.down, 0.0)) / curvature

    def conjugates(self, u):
        return np.where((u <= self.alpha) & (u >= -self.alpha * self.down), 0.0, np.inf)

    def subdifferential(self, w):
        low = np.where(w > 0.0, self.alpha, -self.alpha * self.down)
        return low, np.where(w < 0.0, -self.alpha * self.down, self.alpha)


@dataclass(frozen=True)
class Length(Penalty):
    """The length of all coefficients: one block, which is no sum over features."""

    alpha: float = 1.0

    has = frozenset({"block step", "dual bound", "no bounds", "no l2 part", "uniform"})

    def value(self, w):
        return self.alpha * np.linalg.norm(w)

    def prox(self, v, step):
        return v * max(0.0, 1.0 - step * self.alpha / np.linalg.norm(v))

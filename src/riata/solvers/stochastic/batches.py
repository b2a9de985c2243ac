"""Slopes of a batch of rows in the space of scaled columns, and hard-thresholded steps along them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riata.data.chunk import Chunk
from riata.objective import Problem
from riata.penalties import hard_threshold


@dataclass(frozen=True)
class Batches:
    """The rows of a problem, some at a time, as methods under a cardinality constraint need them."""

    problem: Problem
    k: int
    eta: float | None = None  # a constant step; by default the best one along each slope

    def slope(self, chunk: Chunk, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        """The slopes in w and in b, summed over the rows with their weights."""
        scale = self.problem.scale
        u = chunk.weight * self.problem.loss.derivative(chunk.y, chunk.X.margins(w / scale, b))
        return chunk.X.slopes(u) / scale, float(u.sum()) * self.problem.fit_intercept

    def step(self, chunk: Chunk, by_w: np.ndarray, by_b: float, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        """Move against the mean slope and keep the k largest weights.

        The step minimises a quadratic with the loss's largest curvature over these rows, along the slope of the
        features in the model and of the k steepest others (normalised IHT; Blumensath & Davies 2010).
        """
        in_play = (w != 0) | (hard_threshold(by_w, self.k) != 0)
        direction = np.where(in_play, by_w, 0.0)
        z = chunk.X.margins(direction / self.problem.scale, by_b)
        curvature = self.problem.loss.curvature * float(chunk.weight @ z**2) / chunk.weight.sum()
        eta = self.eta if self.eta is not None else (float(direction @ direction) + by_b**2) / max(curvature, 1e-300)
        return self.problem.cardinality.prox(w - eta * direction, eta), b - eta * by_b


def pieces(chunk: Chunk, visits: np.ndarray, size: int) -> Iterator[Chunk]:
    """The visited rows of a chunk in batches of about `size`, all of nearly equal length: no last one of a few rows."""
    for rows in np.array_split(visits, max(1, len(visits) // size)):
        yield chunk.rows(rows)

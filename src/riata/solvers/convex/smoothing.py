"""Losses with a kink: Newton steps on a smoothed loss, whose width falls until the gap of the loss itself is small.

The finite smoothing of Madsen & Nielsen (1993) and Chen (2007): the minimum for one width is where the search for that
of a smaller one begins. A slope of the smoothed loss is one of the loss itself, so that one pass certifies a gap of
the loss itself: that of the smoothed problem, and what the few rows within the width lose by the smoothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from riata.arrays import namespace
from riata.data.chunk import Chunk
from riata.losses import Loss
from riata.objective import FirstOrder, Problem, duality_gap
from riata.solvers.convex.judge import Judge
from riata.solvers.convex.working_set import WorkingSetState
from riata.solvers.iterate import Iterate, Options

FALL = 0.2  # of the width, from one stage to the next
SOLVED = 0.5  # of what smoothing is thought to lose: a smoothed problem is solved up to such a gap
MOST_STEPS = 40  # of one stage
GAP = Judge(None)


def certified(problem: Problem, smooth: Loss, at: FirstOrder, w: np.ndarray, b: float) -> FirstOrder:
    loss = problem.loss

    def part(chunk: Chunk) -> np.ndarray:
        z = chunk.X.margins(w, b)
        xp, u = namespace(z), smooth.derivative(chunk.y, z)
        conjugate = chunk.weight * loss.conjugate(chunk.y, u)
        nothing = xp.zeros_like(u)
        sides = [xp.sum(xp.where(u > 0.0, conjugate, nothing)), xp.sum(xp.where(u <= 0.0, conjugate, nothing))]
        return np.array([float(chunk.weight @ loss.value(chunk.y, z)), *map(float, sides)])

    value, up, down = problem.data.sum(part) / problem.data.total_weight
    return FirstOrder(float(value), at.positive._replace(conjugate=up), at.negative._replace(conjugate=down))

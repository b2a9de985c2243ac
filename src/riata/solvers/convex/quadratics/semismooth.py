"""The minimum of a penalised quadratic by Newton steps on its dual, where coordinate descent does not find the signs.

    Q(v) = q(v) + sum_j l1_j |v_j| + l2_j v_j^2 / 2,   lower_j <= v_j <= upper_j, between which 0 lies

Where nearly as many coordinates are in the model as there are rows, q over them is nearly singular: whoever steps to
the minimum over a guess of the signs goes far, and mends a few signs at a time. Here every outer step minimises

    Q(v) + sum_j (v_j - centre_j)^2 / (2 reach_j),   reach_j = sigma / curvature_j

about the last point, by its dual. q lies above its tangent at any z; the best v for tangent, penalty and proximal term
has a closed form; the best z makes that bound largest. The bound is a smooth function of z, and its slope is piecewise
linear: Newton steps take the coordinates in which v is free, and the proximal term keeps their system regular. Outer
steps end as soon as they are precise enough for the next, and sigma grows from one to the next.

After Li, Sun and Toh, A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso problems, SIAM
Journal on Optimization 28 (2018).
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from riata.penalties import Strengths

FIRST_SIGMA, GROWTH, LARGEST_SIGMA = 100.0, 3.0, 1e9
MAX_OUTER, MAX_STEPS = 30, 100
LOOSE = 0.5  # of what an outer step moves: how precise it has to be
FLAT, TRIES = 0.1, 30  # of the slope at the start of a line: a search along it ends there,
WITHIN = 0.05  # and looks no nearer to the ends of the part that is left


class Smooth(Protocol):
    """q, in whatever stands for the points of its tangents: coefficients, or the margins that they give."""

    def place(self, v: np.ndarray) -> np.ndarray:
        """What stands for v."""

    def value(self, z: np.ndarray) -> float:
        """q there."""

    def slopes(self, z: np.ndarray) -> np.ndarray:
        """Those of q there, by every coordinate."""

    def size(self, difference: np.ndarray) -> float:
        """Twice what q gains by a difference of places, without its slope."""

    def newton_step(self, free: np.ndarray, ridge: np.ndarray, short: np.ndarray) -> "Step | None":
        """From a place that is `short` from that of its v; None where rounding makes a system singular."""


class Step(NamedTuple):
    """A move of the place, how the slopes rise by it, and how the bound does: `at(z) + share * bend` less v . rise."""

    move: np.ndarray
    rise: np.ndarray
    at: Callable[[np.ndarray], float]
    bend: float


def minimise_by_dual(
    q: Smooth,
    curvatures: np.ndarray,
    strengths: Strengths,
    w: np.ndarray,
    good: Callable[[np.ndarray, np.ndarray], bool],
) -> np.ndarray:
    """The best v from the start w. It ends where v and its slopes are `good`, or outer steps stand still.

    Coordinates without curvature stay where they are.
    """
    centre, z, sigma = w, q.place(w), FIRST_SIGMA
    at_z = q.slopes(z)
    best, lowest = w, q.value(z) + _penalty(strengths, w)
    for _ in range(MAX_OUTER):
        reach = np.where(curvatures > 0.0, sigma / np.where(curvatures > 0.0, curvatures, 1.0), 0.0)
        near = Nearby(centre, reach, *strengths)
        for _ in range(MAX_STEPS):
            v = near.minimum(at_z)
            its_place = q.place(v)
            Q = q.value(its_place) + _penalty(strengths, v)
            if not Q < np.inf:  # rounding made the curvature indefinite, and steps lead ever further
                return best
            if Q < lowest:
                best, lowest = v, Q
                if good(v, q.slopes(its_place)):
                    return best
            short = z - its_place
            if q.size(short) <= LOOSE**2 * near.cost(v):
                break
            free = near.free(at_z, v)
            step = q.newton_step(free, near.ridge(free), short)
            if step is None:
                return best
            share = near.share_of(step, z, at_z)
            z, at_z = z + share * step.move, at_z + share * step.rise
        if np.array_equal(v, centre):
            break
        centre, sigma = v, min(GROWTH * sigma, LARGEST_SIGMA)
    return best


def _penalty(strengths: Strengths, v: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(strengths.l1 @ np.abs(v) + 0.5 * strengths.l2 @ (v * v))


class Nearby(NamedTuple):
    """The penalty and a proximal term about a centre."""

    centre: np.ndarray
    reach: np.ndarray
    l1: np.ndarray
    l2: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def minimum(self, slopes: np.ndarray) -> np.ndarray:
        """The best v where a linear function with these slopes is added."""
        v: np.ndarray = self.centre - self.reach * slopes
        v = np.copysign(np.maximum(np.abs(v) - self.reach * self.l1, 0.0) / (1.0 + self.reach * self.l2), v)
        v = np.minimum(np.maximum(v, self.lower), self.upper)
        return v

    def free(self, slopes: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The coordinates of that v which follow the slopes: neither held at zero nor at a bound."""
        off_zero = np.abs(self.centre - self.reach * slopes) > self.reach * self.l1
        return np.flatnonzero(off_zero & (self.reach > 0.0) & (self.lower < v) & (v < self.upper))

    def ridge(self, free: np.ndarray) -> np.ndarray:
        """The curvature of both terms in these coordinates."""
        ridge: np.ndarray = 1.0 / self.reach[free] + self.l2[free]
        return ridge

    def cost(self, v: np.ndarray) -> float:
        """Twice the proximal term."""
        moved = v - self.centre
        moving = self.reach > 0.0
        return float(np.sum(moved[moving] ** 2 / self.reach[moving]))

    def share_of(self, step: Step, z: np.ndarray, at_z: np.ndarray) -> float:
        """How much of a step from z is taken: up to where the bound hardly rises any more."""
        at = step.at(z)

        def downhill(share: float) -> float:
            return float(at + share * step.bend - self.minimum(at_z + share * step.rise) @ step.rise)

        start, end = downhill(0.0), downhill(1.0)
        share, near, far, at_near, at_far = 1.0, 0.0, 1.0, start, end
        if not (start < 0.0 and end > -FLAT * start):
            return share
        for _ in range(TRIES):
            between = near - at_near * (far - near) / (at_far - at_near)
            share = min(max(between, near + WITHIN * (far - near)), far - WITHIN * (far - near))
            here = downhill(share)
            if abs(here) <= -FLAT * start:
                break
            near, at_near, far, at_far = (share, here, far, at_far) if here < 0.0 else (near, at_near, share, here)
        return share

"""A lower bound on the objective of every model of at most k features, from a plane below the loss.

The mean loss at its best intercept is convex in w, so it lies nowhere below its tangent plane at any point v,

    loss(w) >= level + slopes . w,    level = loss(v) - slopes . v.

With a ridge l2_j / 2 w_j^2, a coefficient lowers the plane by at most its relief, slopes_j^2 / (2 l2_j); with a limit
|w_j| <= M_j by at most M_j |slopes_j| - l2_j M_j^2 / 2 where that is less. A model has k coefficients, so that

    F(w) >= level - (the sum of the k largest reliefs).

Features that are always in add theirs to the sum. This holds at every v; the relaxation (`relaxation`) finds the best
one. A share t <= 1 of a plane is one too, since no loss is negative, and t = level / (2 sum) is best where that is less
than 1. The relief of a group is the sum of its features'.

A feature whose relief is far below the k-th largest, or above the one after it, is screened: a model that has it, or
does not have it, would have an objective above that of a model that is known.
"""

from typing import NamedTuple

import numpy as np

from riata.objective import FirstOrder, Problem

ROUNDING = 1e-12  # of the numbers that a bound is made of: by how much it is lowered
SLOPE_ROUNDING = 1e-13  # of the largest that a slope may be
LEAST_RIDGE = 1e-12  # of columns of unit deviation: a smaller one is rounding, as where all features are taken
# Of the objective: the gap of the plane at a fit, with the ridge that is named where there is none. At its best the
# plane has a gap of about a tenth of that.
USEFUL = 1.0


class Plane(NamedTuple):
    """loss(w) >= level + slopes . w for every w, with the intercept that is best for it."""

    level: float
    slopes: np.ndarray
    has_shares: bool = True  # whether a share of it is a plane, too: not where part of the loss was taken for a ridge


class Costs(NamedTuple):
    """What coefficients pay, or may not be: a ridge and a limit for each, and which of them count as one."""

    ridge: np.ndarray
    limit: np.ndarray
    groups: np.ndarray | None = None  # the group of every feature
    always: np.ndarray | None = None  # whether each feature, or group, is in every model

    @classmethod
    def of(cls, problem: Problem) -> "Costs":
        """The costs of a problem, in the units of the data."""
        penalty, d = problem.cardinality, problem.data.n_features
        limits = np.broadcast_to(np.inf if problem.limit is None else problem.limit / problem.scale, d)
        ridge, always = np.broadcast_to(np.asarray(penalty.l2, dtype=np.float64), d), None
        if len(penalty.choices_in):
            always = np.zeros(penalty.n_choices(d) + len(penalty.choices_in), dtype=bool)
            always[penalty.choices_in] = True
        return cls(ridge, limits, penalty.groups, always)

    def among(self, columns: np.ndarray) -> "Costs":
        """The costs of some columns."""
        groups = None if self.groups is None else self.groups[columns]
        always = self.always if self.always is None or groups is not None else self.always[columns]
        return Costs(self.ridge[columns], self.limit[columns], groups, always)

    def split(self, reliefs: np.ndarray) -> tuple[np.ndarray, float]:
        """The reliefs that models have some of, and the sum of those that all of them have."""
        if self.always is None:
            return reliefs, 0.0
        return reliefs[~self.always], float(reliefs[self.always].sum())

    @property
    def bounding(self) -> bool:
        """Whether every coefficient has a ridge or a limit, without which there is no bound."""
        return bool(np.all((self.ridge > 0.0) | np.isfinite(self.limit)))

    def reliefs(self, slopes: np.ndarray) -> np.ndarray:
        """The most that each feature, or group of them, can lower a plane by."""
        size = np.abs(slopes)
        with np.errstate(divide="ignore", invalid="ignore"):
            farthest = np.minimum(size / self.ridge, self.limit)
            relief = np.where(size > 0.0, farthest * (size - 0.5 * self.ridge * farthest), 0.0)
        return relief if self.groups is None else np.bincount(self.groups, relief)

    def bounds(self, plane: Plane, k_max: int) -> np.ndarray:
        """What no model of at most 1, 2, ..., k_max features has an objective below."""
        reliefs, spent = self.split(self.reliefs(plane.slopes))
        k_max = min(k_max, len(reliefs))
        largest = np.partition(reliefs, len(reliefs) - k_max)[len(reliefs) - k_max :]
        sums = spent + np.cumsum(np.sort(largest)[::-1])
        if not plane.level > 0.0:  # or no number, where a step was too long
            return np.zeros(k_max)
        bounds = plane.level - sums
        if plane.has_shares and np.all(np.isinf(self.limit)):  # within limits reliefs fall more slowly
            share = np.minimum(0.5 * plane.level / np.maximum(sums, 1e-300), 1.0)
            bounds = share * (plane.level - share * sums)
        return np.maximum(bounds - ROUNDING * (plane.level + np.minimum(sums, plane.level)), 0.0)


def tangent(problem: Problem, at: FirstOrder) -> Plane:
    """The plane at the point of a first-order pass; slopes are made to sum to zero, as in `objective.duality_gap`."""
    positive, negative = 1.0, 1.0
    if problem.fit_intercept:
        positive, negative = balancing_shares(at.positive.by_b, abs(at.negative.by_b))
    level = -positive * at.positive.conjugate - negative * at.negative.conjugate
    rounded = ROUNDING * (abs(at.positive.conjugate) + abs(at.negative.conjugate))
    slopes = positive * at.positive.by_w + negative * at.negative.by_w
    slopes += np.sign(slopes) * SLOPE_ROUNDING * (np.abs(at.positive.by_w) + np.abs(at.negative.by_w))
    return Plane(level - rounded, slopes)


def balancing_shares(up: float, down: float) -> tuple[float, float]:
    """The shares of the positive and of the negative slopes, of which one is 1, that make them sum to zero."""
    return (down / up if down < up else 1.0), (up / down if up < down else 1.0)


def useful_ridge(problem: Problem, slopes: np.ndarray, k: int, objective: float) -> float | None:
    """The ridge, in units of scaled columns, that would get the gap of this plane to USEFUL; None if it is zero."""
    groups, always = problem.cardinality.groups, Costs.of(problem).always
    costs = Costs(np.ones_like(slopes), np.full_like(slopes, np.inf), groups, always)
    reliefs = np.sort(costs.split(costs.reliefs(slopes / problem.scale))[0])[::-1][:k].sum()
    ridge = float(reliefs / (USEFUL * objective)) if objective > 0.0 else 0.0
    return ridge if LEAST_RIDGE < ridge < np.inf else None


class Screened(NamedTuple):
    """Features (or groups) that no better model than a known one has, and those that all of them have."""

    out: np.ndarray  # masks
    inside: np.ndarray


def screened(costs: Costs, plane: Plane, k: int, objective: float) -> Screened:
    """What a plane says of models of at most k features whose objective is below the given one."""
    every = costs.reliefs(plane.slopes)
    reliefs, spent = costs.split(every)
    out, inside = np.zeros((2, len(every)), dtype=bool)
    if k >= len(reliefs):
        return Screened(out, inside)
    order = np.partition(reliefs, [len(reliefs) - k - 1, len(reliefs) - k])
    following, last = order[len(reliefs) - k - 1], order[len(reliefs) - k]
    spent += order[len(reliefs) - k :].sum()
    bound = plane.level - spent
    bound -= ROUNDING * (abs(plane.level) + abs(bound) + spent)
    free = slice(None) if costs.always is None else ~costs.always
    out[free], inside[free] = bound + last - reliefs > objective, bound + reliefs - following > objective
    return Screened(out, inside)

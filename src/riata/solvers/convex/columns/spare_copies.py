"""Features that another can stand for: their columns are multiples of its column, and its penalty is no larger.

Of words that one text alone has, all have the same column, but for its units. A minimum needs one of each such group;
with more of them its working set and its model are larger, and their curvature is singular.
"""

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import Problem

MANY = 0.4  # of the rows: with fewer features in a model copies do little harm, and to look for them costs a few passes
ROUNDING = 1e-12  # of a penalty by the length of its column


def spare_copies(problem: Problem, in_model: int) -> np.ndarray | None:
    """Whether each feature is one that another can stand for, once the model is large; None where none are known."""
    data, penalty = problem.data, problem.penalty
    if not isinstance(data, InMemory) or in_model <= MANY * data.n_rows or problem.loss.n_outputs > 1:
        return None
    if not penalty.convex or "strengths" not in penalty.has or data.multiples is None:
        return None
    first, length = data.multiples
    l1, l2, lower, upper = problem.strengths
    every = np.arange(len(first))
    price = l1 / np.where(length > 0.0, length, 1.0)
    least = np.full(len(first), np.inf)
    np.minimum.at(least, first, price)
    cheapest = np.full(len(first), len(first))
    best = price <= least[first] * (1.0 + ROUNDING)
    np.minimum.at(cheapest, first[best], every[best])
    stand_in = cheapest[first]
    free_above, free_below = np.isinf(upper[stand_in]), np.isinf(lower[stand_in])
    serves = (free_above | (upper == 0.0)) & (free_below | (lower == 0.0))  # a share of both signs, or of one
    spare: np.ndarray = (stand_in != every) & (l2 == 0.0) & (l2[stand_in] == 0.0) & (l1 > 0.0) & serves
    return spare

"""Columns that a step along sparse columns watches, beside those of its working set.

Once all features that are pulled beyond their thresholds have joined, a step brings others there, and these the next,
many times over where a model has about as many features as there are rows. To look at a column costs far less than to
sweep along it: so those that are pulled most are at hand, and join as soon as they are pulled enough.
"""

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem, at_best_intercept, pulls
from riata.solvers.convex.columns.spare_copies import spare_copies

LOOKED_AT = 1.0  # times the entries of a working set: a look at all costs twice as much, beside many sweeps over some
MOST = 0.5  # of the features


def watched(problem: Problem, at: FirstOrder, features: np.ndarray, in_model: int, share: float = 1.0) -> np.ndarray:
    """The features to watch beside these, or this share of them, from the slopes at a model of so many."""
    data = problem.data
    assert isinstance(data, InMemory)  # as all columns are that are gathered
    pull, threshold = pulls(problem.penalty, at_best_intercept(problem, at))
    outside = threshold > 0.0
    outside[features] = False
    spare = spare_copies(problem, in_model)
    if spare is not None:
        outside[spare] = False
    others = np.flatnonzero(outside)
    others = others[np.argsort(-pull[others] / threshold[others], kind="stable")]
    entries = np.cumsum(data.stored_in_columns[others])
    return others[: np.searchsorted(entries, share * LOOKED_AT * data.stored(features), side="right")]


def most_are_pulled(problem: Problem, at: FirstOrder) -> bool:
    """Whether so many of no more sparse columns than rows are pulled that sweeps along all of them cost less than to
    let some join at a time, with a pass for each, until about as many have."""
    data = problem.data
    if not isinstance(data, InMemory) or not data.chunk.X.sparse or data.n_features > data.n_rows:
        return False
    pull, threshold = pulls(problem.penalty, at_best_intercept(problem, at))
    return bool(np.count_nonzero(pull > threshold) > MOST * len(pull))

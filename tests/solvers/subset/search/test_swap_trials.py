"""Swaps tried along a line: where the lines lead, and what is seen there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, objective
from riata.penalties import Cardinality
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.search.subset import Subset
from riata.solvers.subset.search.swap_trials import tried


@pytest.mark.parametrize("inside", [[0, 3, 5], [2]])
def test_a_line_ends_at_least_squares_with_the_new_column_for_the_old(rng, inside):
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    X /= np.sqrt((X**2).sum(axis=0))
    search = Subset(X.T @ X, X.T @ y, 5, 0.0)
    search.restart(np.array(inside))
    for partner in range(len(inside)):
        lines = search.lines(np.array([1, 7]), np.array([partner, partner]))
        for line, j in enumerate([1, 7]):
            left = np.delete(inside, partner)
            for weights, chosen in ((lines.start, left), (lines.start + lines.step, np.append(left, j))):
                w = np.zeros(8)
                w[lines.columns] = weights[:, line]
                best = np.zeros(8)
                best[chosen] = np.linalg.lstsq(X[:, chosen], y)[0]
                assert_allclose(w, best, atol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "huber", "poisson"])
@pytest.mark.parametrize("chunk_rows", [None, 7])
def test_a_trial_is_a_model_of_its_support_and_knows_its_objective(rng, loss, chunk_rows):
    X, y = rng.normal(size=(50, 6)) * 10.0 ** rng.uniform(-1, 1, 6) + 3.0, rng.integers(0, 2, 50) * 2.0 - 1.0
    y = y if LOSSES[loss].labels else np.abs(y + rng.normal(size=50))
    data = InMemory(X, y) if chunk_rows is None else Chunked(X, y, chunk_rows)
    problem = Problem(data, LOSSES[loss], Cardinality(2, 0.01))
    w = np.array([0.0, 0.02, 0.0, -0.01, 0.0, 0.0])
    model = LocalQuadratic.at(problem, w, 0.1, np.arange(6))
    search = model.search(np.array([1, 3]), 2, 0.0)
    trials = tried(model, search, np.array([0, 5, 4]), np.array([0, 1, 0]))
    assert [trial.support.tolist() for trial in trials] == [[0, 3], [1, 5], [3, 4]]
    for trial in trials:
        w = np.zeros(6)
        w[trial.support] = trial.coef
        assert_allclose(trial.objective, objective(problem, w, trial.intercept), rtol=1e-5)


def test_an_addition_is_tried_with_all_members_staying(rng):
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 2, 50) * 2.0 - 1.0
    problem = Problem(InMemory(X, y), LOSSES["logistic"], Cardinality(3))
    model = LocalQuadratic.at(problem, np.zeros(4), 0.0, np.arange(4))
    (trial,) = tried(model, model.search(np.array([2]), 3, 0.0), np.array([0]), np.array([-1]))
    assert trial.support.tolist() == [0, 2]
    assert trial.objective < np.log(2)


def test_steps_too_long_by_far_are_tried_at_a_small_part_of_their_length(rng):
    """In a level that few rows have, a rare class is common: to second order its coefficient is ten times too large."""
    n = 20_000
    level, noise = rng.random(n) < 0.01, rng.random(n) < 0.01
    y = np.where(rng.random(n) < np.where(level, 0.4, 0.002), 1.0, -1.0)
    problem = Problem(InMemory(np.column_stack([level, noise]).astype(float), y), LOSSES["logistic"], Cardinality(1))
    b = np.log(np.mean(y > 0) / np.mean(y < 0))
    model = LocalQuadratic.at(problem, np.zeros(2), b, np.arange(2))
    (trial,) = tried(model, model.search(np.array([], dtype=int), 1, 0.0), np.array([0]), np.array([-1]))
    assert trial.objective < objective(problem, np.zeros(2), b)

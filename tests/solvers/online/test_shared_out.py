"""What parts have learnt side by side, put together."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
import scipy.sparse as sp

import riata
from riata.data.chunk import Chunk, add
from riata.solvers.online import shared_out
from riata.solvers.online.online import Online
from riata.solvers.online.part_learner import PartLearner
from riata.solvers.stochastic.method import make_stepper


def click_rows(rng, n, d, per_row):
    """Rows of some of d features by Zipf's law, few of which tell something."""
    shares = np.arange(1, d + 1) ** -1.1
    features = rng.choice(d, size=(n, per_row), p=shares / shares.sum())
    X = sp.csr_array((np.ones(features.size), features.ravel(), np.arange(0, features.size + 1, per_row)), shape=(n, d))
    X.sum_duplicates()
    true = np.zeros(d)
    true[rng.choice(400, 30, replace=False)] = rng.normal(0.0, 0.5, 30)
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(2.5 - X @ true)), 1.0, -1.0)


def fitted(X, y, n_parts, n_left=0):
    """(weights, intercept) of parts that leave `n_left` of all rows."""
    method = replace(Online(), from_first_row=False)
    loss = riata.Spec(solver="online", loss="logistic").loss_function
    stepper = make_stepper(method, loss, None, 1, True, 1.0)
    learner = PartLearner(stepper, X.shape[1], 1.0, None, 0.0, 0, shared_out.pieces, n_left // n_parts)
    rows = np.array_split(np.arange(len(y)), n_parts)
    parts = [learner(iter([(i, Chunk(X[its], y[its], np.ones(len(its))))])) for i, its in enumerate(rows)]
    learnt = reduce(add, parts)
    state = shared_out.together(method, learner, learnt)
    validated = learnt.progressive.plus(shared_out.learn_left(method, learner, state, learnt.left))
    assert validated.rows == state.steps == len(y)  # every row is learnt once
    return method.model(state)


def log_loss(model, X, y):
    w, b = model
    return np.mean(np.logaddexp(0.0, -y * (X @ w + b)))


@pytest.mark.parametrize("n_left", [0, 40_000])
@pytest.mark.parametrize("n_parts", [2, 8])
def test_many_parts_are_nearly_as_good_as_one(n_parts, n_left, rng):
    n, d = 200_000, 30
    X = sp.csr_array((rng.random((n, d)) < np.geomspace(0.5, 0.01, d)).astype(float))
    margin = X @ np.where(np.arange(d) % 3 == 0, 1.0, 0.0) - 3.0
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-margin)), 1.0, -1.0)
    assert log_loss(fitted(X, y, n_parts, n_left), X, y) < log_loss(fitted(X, y, 1), X, y) + 0.001


def test_rows_that_parts_leave_make_the_whole_better(rng):
    n = 100_000
    X, y = click_rows(rng, n + 50_000, 2000, 10)
    new, X, y = (X[n:], y[n:]), X[:n], y[:n]
    one, by_parts, by_left = fitted(X, y, 1), fitted(X, y, 16), fitted(X, y, 16, n // 5)
    assert np.count_nonzero(by_left[0]) <= 2 * np.count_nonzero(one[0])
    assert log_loss(by_left, *new) < log_loss(by_parts, *new)

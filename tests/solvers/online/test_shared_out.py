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


@pytest.mark.parametrize("n_parts", [2, 8])
def test_many_parts_are_nearly_as_good_as_one(n_parts, rng):
    n, d = 200_000, 30
    X = sp.csr_array((rng.random((n, d)) < np.geomspace(0.5, 0.01, d)).astype(float))
    margin = X @ np.where(np.arange(d) % 3 == 0, 1.0, 0.0) - 3.0
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-margin)), 1.0, -1.0)
    method = replace(Online(), from_first_row=False)
    loss = riata.Spec(solver="online", loss="logistic").loss_function
    learner = PartLearner(make_stepper(method, loss, None, 1, True, 1.0), d, 1.0, None, 0.0, 0, shared_out._pieces)

    def log_loss(n_parts):
        rows = np.array_split(np.arange(n), n_parts)
        learnt = [learner(iter([(i, Chunk(X[its], y[its], np.ones(len(its))))])) for i, its in enumerate(rows)]
        w, b = method.model(shared_out.together(method, learner, reduce(add, learnt)))
        return np.mean(np.logaddexp(0.0, -y * (X @ w + b)))

    assert log_loss(n_parts) < log_loss(1) + 0.001

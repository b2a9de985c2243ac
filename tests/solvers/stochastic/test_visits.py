"""Orders of visits."""

import numpy as np
import pytest

from riata.solvers.stochastic.visits import ORDERS, uniform


@pytest.mark.parametrize(("n", "batch"), [(10, 1), (1000, 7), (20, 6), (5, 5)])
def test_uniform_batches_repeat_no_row(n, batch, rng):
    visits = uniform(n, batch, rng)
    assert len(visits) == batch * -(-n // batch)
    assert visits.min() >= 0
    assert visits.max() < n
    assert all(len(set(rows)) == batch for rows in visits.reshape(-1, batch).tolist())


def test_a_batch_ends_with_its_chunk(rng):
    assert sorted(uniform(5, 8, rng)) == list(range(5))


def test_uniform_visits_every_row_alike(rng):
    counts = sum(np.bincount(uniform(20, 3, rng), minlength=20) for _ in range(2000))
    assert counts.min() > 0.9 * counts.mean()


@pytest.mark.parametrize("order", ["shuffled", "sequential"])
def test_every_row_once(order, rng):
    assert sorted(ORDERS[order](9, 2, rng)) == list(range(9))

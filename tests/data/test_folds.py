"""Folds depend on where a row lies, and on nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from chunked import Chunked
from riata.data.folds import by_position, fold_of, some_rows
from riata.data.in_memory import InMemory


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
@pytest.mark.parametrize("seed", [0, 7])
def test_every_run_of_rows_has_a_row_in_every_fold(n_folds, seed):
    folds = fold_of(np.arange(100 * n_folds), n_folds, seed).reshape(100, n_folds)
    assert_array_equal(np.sort(folds, axis=1), np.tile(np.arange(n_folds), (100, 1)))
    assert len(np.unique(folds[:, 0])) == n_folds


def test_folds_are_not_in_step_with_a_period_in_the_data():
    target = np.arange(5000) % 5
    for seed in range(3):
        counts = np.bincount(target * 5 + fold_of(np.arange(5000), 5, seed), minlength=25)
        assert np.all(np.abs(counts - 200) < 75)  # six deviations


def test_another_seed_gives_other_folds():
    assert np.mean(fold_of(np.arange(1000), 5, 1) == fold_of(np.arange(1000), 5, 2)) < 0.3


@pytest.mark.parametrize("chunk_rows", [1, 7, 1000])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_some_rows_of_chunks_are_those_of_the_array(rng, chunk_rows, layout):
    X, y, weight = rng.normal(size=(50, 4)), rng.normal(size=50), rng.random(50)
    chunked = Chunked(layout(X), y, chunk_rows, weight)
    folds = by_position(3, seed=5)
    for keep in (folds.scored(1), folds.learnt(1)):
        mask = keep(np.arange(50))
        view, copy = some_rows(chunked, keep), some_rows(InMemory(layout(X), y, weight), keep)
        for data in (view, copy):
            assert data.n_rows == mask.sum()
            assert_allclose(data.targets()[0], y[mask])
            assert_allclose(data.moments.mean, np.average(X[mask], axis=0, weights=weight[mask]))
            gathered = data.gather([2])
            assert_allclose(gathered.toarray(), X[mask][:, [2]])


def test_the_order_of_chunks_does_not_change_the_folds(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20.0)
    view = some_rows(Chunked(X, y, 3).map(lambda chunk: chunk), by_position(4).scored(0))
    order = [5, 0, 3, 6, 1, 2, 4]
    shuffled = np.concatenate([chunk.y for chunk in view.visit(order)])
    assert_array_equal(np.sort(shuffled), y[fold_of(np.arange(20), 4) == 0])


def test_the_original_counts_what_a_view_reads(rng):
    data = Chunked(rng.normal(size=(30, 2)), np.zeros(30), 4)
    view = some_rows(data, by_position(3).scored(0))
    list(view.visit())
    assert data.passes == view.passes == 1.0

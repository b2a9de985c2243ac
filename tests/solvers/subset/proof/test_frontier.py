"""The nodes of a search that are left: their order, none lost where work is cut short, the memory that they take."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from riata.solvers.subset.proof import frontier as module
from riata.solvers.subset.proof.branch_and_bound import Budget, State, _Search, branch_and_bound
from riata.solvers.subset.proof.deadline import FOREVER
from riata.solvers.subset.proof.frontier import Frontier, OpenNode
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.proof.quadratic_subsets import QuadraticSubsets
from riata.solvers.subset.proof.relaxation import Quadratic

COLUMNS = 40


def node(rng, n_weights=5, branch=0):
    places = np.sort(rng.choice(COLUMNS, n_weights, replace=False))
    return OpenNode(np.zeros(COLUMNS, dtype=np.int8), places, rng.normal(size=n_weights), 0.5, branch)


def bounds_of(frontier):
    return frontier.saved(COLUMNS, np.inf).bounds.tolist()


def subsets(rng, n=60, d=COLUMNS, k=6):
    """Columns that explain each other, and noise: a search that takes many nodes."""
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    y = X[:, :k].sum(axis=1) + 5.0 * rng.normal(size=n)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    costs = Costs(np.full(d, 0.05), np.full(d, np.inf))
    return QuadraticSubsets(Quadratic(X.T @ X / n, X.T @ y / n, float(y @ y) / (2 * n), costs), k)


def test_the_node_of_least_bound_comes_first_and_of_equal_ones_the_oldest(rng):
    frontier = Frontier()
    assert frontier.least_bound == np.inf
    for branch, bound in enumerate([3.0, 1.0, 2.0, 1.0]):
        frontier.push(bound, node(rng, branch=branch))
    assert frontier.least_bound == 1.0
    assert [(bound, one.branch) for bound, one in frontier.take(3, 2.5)] == [(1.0, 1), (1.0, 3), (2.0, 2)]
    assert frontier.take(3, 2.5) == []
    assert bounds_of(frontier) == [3.0]


def test_what_was_taken_last_is_put_back_once(rng):
    frontier = Frontier()
    for bound in (1.0, 2.0, 3.0):
        frontier.push(bound, node(rng))
    n_bytes = frontier.n_bytes
    frontier.take(1, np.inf)
    frontier.take(1, np.inf)
    for _ in range(2):
        frontier.put_back()
        assert bounds_of(frontier) == [2.0, 3.0]
    assert frontier.n_bytes == n_bytes - node(rng).n_bytes


def test_no_node_is_lost_where_taking_is_cut_short(rng, monkeypatch):
    frontier = Frontier()
    for bound in (1.0, 2.0, 3.0):
        frontier.push(bound, node(rng))
    n_bytes, calls = frontier.n_bytes, []

    def interrupted(heap):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return heap.pop(0)

    monkeypatch.setattr(module.heapq, "heappop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        frontier.take(3, np.inf)
    frontier.put_back()
    assert bounds_of(frontier) == [1.0, 2.0, 3.0]
    assert frontier.n_bytes == n_bytes


@pytest.mark.parametrize("n_nodes", [0, 1, 5])
def test_a_saved_frontier_is_restored(n_nodes, rng):
    frontier = Frontier()
    for i in range(n_nodes):
        frontier.push(float(-i % 3), node(rng, n_weights=i, branch=i))
    saved = frontier.saved(COLUMNS, 7.0)
    restored = Frontier.restored(saved)
    for one, other in zip(saved, restored.saved(COLUMNS, 7.0), strict=True):
        assert_array_equal(one, other)
    assert restored.n_bytes == frontier.n_bytes


@pytest.mark.parametrize("n_weights", [0, COLUMNS])
def test_the_bytes_of_nodes_are_those_that_they_take(n_weights, rng):
    frontier, nodes = Frontier(), 3000
    tracemalloc.start()
    try:
        for _ in range(nodes):
            frontier.push(float(rng.normal()), node(rng, n_weights))
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 0.8 * taken < frontier.n_bytes < 1.3 * taken


def test_a_search_counts_all_that_grows_with_it(rng):
    """The nodes, their weights, and the models that were tried."""
    search = _Search(subsets(rng), State(None, np.inf), Budget(0.0, FOREVER, np.inf))
    models = [np.sort(rng.choice(COLUMNS, 6, replace=False)) for _ in range(5000)]
    search._try(models[0], None)  # what is imported then is no part of it
    tracemalloc.start()
    try:
        for members in models:
            search._try(members, None)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 0.9 * taken < search.n_bytes < 1.1 * taken
    before = search.n_bytes
    search._try(models[0], None)
    assert search.n_bytes == before


def test_a_search_ends_once_its_models_and_nodes_take_the_memory(rng):
    """What it has proved until then holds."""
    whole = list(branch_and_bound(subsets(np.random.default_rng(3)), State(None, np.inf), np.zeros(COLUMNS, np.int8),
                                  Budget(0.0, FOREVER, np.inf)))[-1]  # fmt: skip
    assert whole.finished
    assert whole.n_nodes > 200
    sizes = []
    for n_bytes in (2e4, 4e4):
        cut = list(branch_and_bound(subsets(np.random.default_rng(3)), State(None, np.inf), np.zeros(COLUMNS, np.int8),
                                    Budget(0.0, FOREVER, n_bytes)))[-1]  # fmt: skip
        assert not cut.finished
        assert cut.bound <= whole.objective <= cut.objective
        sizes.append(cut.n_nodes)
    assert sizes[0] < sizes[1] < whole.n_nodes

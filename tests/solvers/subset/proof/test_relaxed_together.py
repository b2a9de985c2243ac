"""Relaxations of many parts at once: bounds that hold, as good as those of coordinate descent, in any array library."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from host_place import Host
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.outcome.proofs import SearchedAll
from riata.solvers.subset.proof import quadratic_subsets as module
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.proof.quadratic_subsets import QuadraticSubsets
from riata.solvers.subset.proof.relaxation import Node, Quadratic
from riata.solvers.subset.proof.relaxed_together import SplitQuadratic
from riata.training.fitting import fit
from riata.training.spec import Spec

try:
    import array_api_strict
except ImportError:  # NumPy does, but lets host and device mix
    array_api_strict = np


def some_quadratic(rng, m=9, n=30):
    """Columns of unit norm together with a ridge, large to tiny, equally correlated or some of them collinear."""
    X = rng.normal(size=(n, m)) + rng.choice([0.0, 1.0, 4.0]) * rng.normal(size=(n, 1))
    if rng.random() < 0.3:
        X[:, 1] = X[:, 0] - X[:, 2]
    X -= X.mean(axis=0)
    y = X @ np.where(rng.random(m) < 0.5, rng.normal(size=m), 0.0) + rng.normal(size=n)
    ridge = 10.0 ** rng.uniform(-4, 0)
    unit = np.sqrt((X**2).mean(axis=0) * (1.0 + ridge))
    G, c = (X / unit).T @ (X / unit) / n, (X / unit).T @ y / n
    costs = Costs(np.full(m, ridge / (1.0 + ridge)), np.full(m, np.inf))
    return Quadratic(G, c, 0.5 * float(y @ y) / n, costs)


def split_of(quadratic, send):
    G, c, ridge = map(send, (quadratic.G, quadratic.c, quadratic.costs.ridge))
    return SplitQuadratic.of(G, c, ridge, quadratic.loss, send)


def some_parts(rng, m, count, k=3):
    """Parts of more than one model, and how many columns may still come in."""
    parts = []
    while len(parts) < count:
        state = rng.choice([0, 0, 0, 1, -1], size=m).astype(np.int8)
        left = k - np.count_nonzero(state == 1)
        if 0 < left < np.count_nonzero(state == 0):
            parts.append((state, left))
    return [state for state, _ in parts], [left for _, left in parts]


def least_objective(quadratic, state, left):
    """That of all models of a part."""
    inside, free = np.flatnonzero(state == 1), np.flatnonzero(state == 0)
    subsets = QuadraticSubsets(quadratic, 9)
    models = (np.append(inside, chosen).astype(int) for chosen in combinations(free, left))
    return min(subsets.refitted(members)[0] for members in models)


@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
def test_bounds_hold_and_are_those_of_coordinate_descent(xp):
    short = []
    for seed in range(24 if xp is np else 8):
        rng = np.random.default_rng(seed)
        quadratic = some_quadratic(rng)
        states, left = some_parts(rng, 9, 6)
        split = split_of(quadratic, xp.asarray)
        subsets = QuadraticSubsets(quadratic, 3, split, xp.asarray)
        starts = [quadratic.relaxed(Node(np.zeros(9), np.zeros(9)), 3)] * 6
        nodes = [Node(state, one.w, one.price) for state, one in zip(states, starts, strict=True)]
        objectives = [least_objective(quadratic, state, k) for state, k in zip(states, left, strict=True)]
        target = max(objectives)
        together = subsets.relaxed_together(nodes, left, target)
        for node, k, found, least in zip(nodes, left, together, objectives, strict=True):
            assert found.bound <= least * (1.0 + 1e-12), seed
            assert_allclose(found.r, quadratic.c - quadratic.G @ found.w, atol=1e-12 * np.sqrt(quadratic.loss))
            assert np.all(found.w[node.state < 0] == 0.0)
            assert_allclose(found.bound, quadratic.bound(node.state, k, found.w, found.r), rtol=1e-9, atol=1e-9)
            assert_array_equal(found.shares[node.state != 0], node.state[node.state != 0] == 1)
            alone = quadratic.relaxed(node, k, prices=60, sweeps=5000)
            short.append((min(alone.bound, target) - found.bound) / max(target - alone.bound, 1e-3 * target))
    assert np.max(short) < 0.1  # of the gap
    assert np.median(short) < 1e-3


def test_parts_end_at_the_target_and_a_batch_is_as_its_parts():
    rng = np.random.default_rng(3)
    quadratic = some_quadratic(rng, m=20)
    states, left = some_parts(rng, 20, 7)
    split = split_of(quadratic, np.asarray)
    subsets = QuadraticSubsets(quadratic, 3, split)
    start = quadratic.relaxed(Node(np.zeros(20), np.zeros(20)), 3)
    nodes = [Node(state, start.w, start.price) for state in states]
    for target in (1.1 * start.bound, 0.9 * start.bound):
        together = subsets.relaxed_together(nodes, left, target)
        for node, k, found in zip(nodes, left, together, strict=True):
            [alone] = subsets.relaxed_together([node], [k], target)
            assert_allclose(found.bound, alone.bound, rtol=1e-9)
            assert_allclose(found.w, alone.w, atol=1e-9)


def correlated(seed=1, n=120, d=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(n, 1))
    return InMemory(X, X[:, :4] @ [1.0, -1.0, 0.7, 0.4] + 2.0 * rng.normal(size=n))


def test_a_search_on_a_device_ends_at_the_same_model(monkeypatch):
    """There parts are cut many at a time; on the host, where parts together pay, some."""
    data, spec = correlated(), Spec(k=5, ridge=0.003, certify=True)
    here = fit(data, spec).result
    there = fit(on_device(data, Host(array_api_strict)), spec).result
    monkeypatch.setattr(module, "BETTER", -np.inf)
    together = fit(data, spec).result
    for other in (there, together):
        assert isinstance(other.proof, SearchedAll)
        assert other.bound.is_best
        assert other.proof.n_parts > 20
        assert_allclose(other.coef, here.coef, atol=1e-9)


def test_where_parts_together_pay():
    """Where all columns are alike; not with limits on coefficients, nor where some of them pay nothing."""
    quadratic = some_quadratic(np.random.default_rng(0), m=20)
    limited = replace(quadratic, costs=quadratic.costs._replace(limit=np.full(20, 2.0)))
    free = replace(quadratic, costs=quadratic.costs._replace(ridge=np.zeros(20)))
    for other in (limited, free):
        assert QuadraticSubsets.of(other, 3, quadratic.loss, np.asarray).split is None
    on_a_device = QuadraticSubsets.of(quadratic, 3, quadratic.loss, np.asarray)
    assert on_a_device.split is not None
    assert on_a_device.batch == 2 * on_a_device.at_once > QuadraticSubsets(quadratic, 3).at_once

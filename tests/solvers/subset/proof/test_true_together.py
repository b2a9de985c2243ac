"""Parts of losses that are not quadratic, relaxed at once: bounds that hold, as good as those of parts one by one."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from host_place import Host
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.outcome.proofs import SearchedAll
from riata.solvers.subset.proof.relaxation import Node
from riata.solvers.subset.proof.true_subsets import TrueSubsets
from riata.training.fitting import fit, make_problem
from riata.training.spec import Spec

try:
    import array_api_strict
except ImportError:  # NumPy does, but lets host and device mix
    array_api_strict = np

K = 3


def some_rows(seed, loss, n=60, d=8):
    """Correlated columns of any units, and targets of which classes may be rare."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + rng.choice([0.0, 1.0]) * rng.normal(size=(n, 1))) * 10.0 ** rng.uniform(-2, 2, d)
    z = (X / X.std(axis=0))[:, :3] @ [1.0, -1.0, 0.7] + rng.normal(size=n)
    if loss == "huber":
        y = 3.0 * z + 5.0
    elif loss in ("poisson", "gamma"):
        y = np.exp(z / z.std()) if loss == "gamma" else rng.poisson(np.exp(z / z.std())).astype(float)
    else:
        y = np.where(z > np.quantile(z, rng.choice([0.5, 0.9])), 1.0, -1.0)
    return InMemory(X, y, rng.uniform(0.5, 2.0, n))


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "huber", "poisson", "gamma"])
@pytest.mark.parametrize("send", [None, array_api_strict.asarray], ids=["numpy", "strict"])
def test_bounds_hold_and_are_as_good_as_one_by_one(loss, send):
    short = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        spec = Spec(k=K, loss=loss, ridge=10.0 ** rng.uniform(-2, 0), fit_intercept=bool(seed % 2))
        problem, _ = make_problem(some_rows(seed, loss), spec)
        subsets = TrueSubsets.of(problem, K, fit(problem.data, spec).result.objective, send)
        assert subsets.together is subsets
        states = [rng.choice([0, 0, 0, 1, -1], size=8).astype(np.int8) for _ in range(12)]
        states = [state for state in states if 0 < K - np.sum(state == 1) < np.sum(state == 0)]
        left = [K - int(np.sum(state == 1)) for state in states]
        root = subsets.relaxed(Node(np.zeros(8, dtype=np.int8), np.zeros(8)), K, np.inf)
        nodes = [Node(state, root.w, root.price) for state in states]
        models = [
            [
                np.append(np.flatnonzero(state == 1), more).astype(int)
                for more in combinations(np.flatnonzero(state == 0), k)
            ]
            for state, k in zip(states, left, strict=True)
        ]
        least = [min(subsets.refitted(members)[0] for members in of_part) for of_part in models]
        together = subsets.relaxed_together(nodes, left, max(least))
        for node, k, found, best in zip(nodes, left, together, least, strict=True):
            assert found.bound <= best * (1.0 + 1e-9), seed
            assert np.all(found.w[node.state < 0] == 0.0)
            assert_array_equal(found.shares[node.state != 0], node.state[node.state != 0] == 1)
            own, slopes = subsets._plane_at(node.state, k, found.w)  # with the very best intercept
            assert_allclose(found.bound, own, atol=0.01 * best)
            assert_allclose(found.r, -slopes, atol=0.05 * np.abs(slopes).max())
            alone = subsets.relaxed(node, k, np.inf).bound
            short.append((min(alone, max(least)) - found.bound) / best)
    assert np.max(short) < 0.02
    assert np.median(short) < 1e-3


@pytest.mark.parametrize("loss", ["logistic", "huber", "poisson"])
def test_a_search_on_a_device_ends_at_the_same_model(loss):
    data, spec = some_rows(2, loss, 100, 25), Spec(k=4, loss=loss, ridge=0.003, certify=True)
    here = fit(data, spec).result
    there = fit(on_device(data, Host(array_api_strict)), spec).result
    for result in (here, there):
        assert isinstance(result.proof, SearchedAll)
        assert result.bound.is_best
        assert result.proof.n_parts > 10
    assert_allclose(there.coef, here.coef, rtol=1e-6)


def test_where_parts_are_relaxed_one_by_one():
    """With limits on coefficients, or with hardly more columns than may come in."""
    data, spec = some_rows(0, "logistic"), Spec(k=K, loss="logistic", ridge=0.1)
    for other, k in ((replace(spec, coef_limit=2.0), K), (spec, 7)):
        problem, _ = make_problem(data, other)
        subsets = TrueSubsets.of(problem, k, 1.0, None)
        assert subsets.together is None
        assert subsets.at_once == 4


def test_parts_that_start_too_far_out_start_anew():
    """Coefficients that made up for each other, some of which are out by now, where exp overflows."""
    problem, _ = make_problem(some_rows(1, "poisson"), Spec(k=K, loss="poisson", ridge=0.1))
    subsets = TrueSubsets.of(problem, K, 1.0, None)
    free = Node(np.zeros(8, dtype=np.int8), np.zeros(8), 0.1)
    anew, as_anew = subsets.relaxed_together([free, free], [K, K], np.inf)
    near, far = subsets.relaxed_together([free, free._replace(w=np.full(8, 1e4))], [K, K], np.inf)
    assert 0.0 < anew.bound == as_anew.bound == near.bound == far.bound


def test_the_intercept_is_found_where_margins_are_certain():
    """One row is far from all others, so that none of them has a slope that tells where they are."""
    problem, _ = make_problem(some_rows(0, "logistic"), Spec(k=K, loss="logistic", ridge=0.1))
    subsets = TrueSubsets(problem, K)
    margins = np.where(np.arange(60) == 0, 5000.0, np.linspace(-802.0, -798.0, 60))
    slopes = subsets._loss.derivative(subsets._y, subsets._centred(margins))
    assert abs(subsets._weight @ slopes) < 1e-12

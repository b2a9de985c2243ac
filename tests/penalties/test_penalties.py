"""Every penalty of the catalogue, and one from outside, is what its methods say of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import riata
from problems import FACTORS, PENALTIES, SCALES, SEPARABLE, small
from riata.errors import OptionError
from riata.kernels import quadratic
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, empty_start
from riata.penalties import Cardinality, ElasticNet, hard_threshold, soft_threshold
from riata.solvers.capabilities import SENTENCES, why_not
from riata.solvers.registry import SOLVERS

OF_PENALTIES = {need for need in SENTENCES if any(penalty.has & set(need.split(" or ")) for penalty in PENALTIES)}


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_prox_beats_random_points(penalty, rng):
    v = rng.normal(size=6)

    def cost(u):
        return 0.5 * np.sum((u - v) ** 2) + 0.3 * penalty.value(u)

    best = penalty.prox(v, 0.3)
    near = [best + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=6) * (rng.random(6) < 0.5) for _ in range(500)]
    assert all(cost(best) <= cost(u) + 1e-12 for u in near)
    assert all(cost(best) <= cost(rng.normal(size=6)) + 1e-12 for _ in range(500))


def test_every_family_is_covered():
    assert {type(penalty) for penalty in PENALTIES} >= set(riata.penalties.PENALTIES.values())


@pytest.mark.parametrize("penalty", SEPARABLE, ids=repr)
class TestSeparable:
    def test_values_add_up(self, penalty, rng):
        w = np.abs(rng.normal(size=6))
        assert_allclose(penalty.value(w), penalty.values(w).sum())
        assert penalty.value(np.zeros(6)) == 0.0
        some = np.array([4, 1])
        assert_allclose(penalty.of(some).values(w[some]), penalty.values(w)[some])

    def test_the_best_value_beats_others_in_every_coordinate(self, penalty, rng):
        centre, curvature = 2.0 * rng.normal(size=6), 10.0 ** rng.uniform(-1.5, 1.0, size=6)

        def costs(v):
            return 0.5 * curvature * v**2 - centre * v + penalty.values(v)

        best = penalty.best_value(centre, curvature)
        other = [s * best + t * np.abs(centre / curvature) for s in (0, 0.5, 1, 2) for t in np.linspace(-1.5, 1.5, 301)]
        assert all(np.all(costs(best) <= costs(v) + 1e-12) for v in other)

    def test_the_tangent_is_convex_and_has_the_same_slopes(self, penalty, rng):
        w = rng.normal(size=6) * (rng.random(6) < 0.6)
        w = np.clip(w, 0.5 * np.maximum(penalty.lower, -9.0), 0.5 * np.minimum(penalty.upper, 9.0))
        tangent = penalty.tangent(w)
        assert_allclose(tangent.subdifferential(w), penalty.subdifferential(w))
        for _ in range(100):
            u, v = rng.normal(size=(2, 6))
            assert np.all(tangent.values(0.5 * (u + v)) <= 0.5 * (tangent.values(u) + tangent.values(v)) + 1e-12)
        centre, curvature = 2.0 * rng.normal(size=6), rng.uniform(0.1, 2.0, size=6)
        best = tangent.best_value(centre, curvature)
        assert np.all(tangent.of(np.arange(6)).violation(best, curvature * best - centre) <= 1e-12)

    def test_the_best_value_is_the_prox_of_the_scaled_problem(self, penalty, rng):
        centre = 2.0 * rng.normal(size=6)
        for h in (0.1, 1.0, 7.0):
            assert_allclose(penalty.best_value(centre, np.full(6, h)), penalty.prox(centre / h, 1.0 / h), atol=1e-13)

    def test_nothing_is_violated_at_a_prox_and_something_beside_it(self, penalty, rng):
        v = 2.0 * rng.normal(size=6)
        u = penalty.prox(v, 0.3)
        slope = (u - v) / 0.3  # of |u - v|^2 / 2, which the penalty's own must undo
        assert_allclose(penalty.violation(u, slope), 0.0, atol=1e-12)
        moved = np.where(u != 0.0, u * 1.1, 0.1)
        assert np.all(penalty.violation(moved, (moved - v) / 0.3) > 1e-3)

    def test_zero_is_best_where_the_pull_is_within_the_threshold(self, penalty, rng):
        for slope in rng.normal(size=(50, 6)):
            wants_in = penalty.pull(slope) > penalty.threshold(6)
            assert_array_equal(penalty.violation(np.zeros(6), slope) > 0.0, wants_in)
            assert np.all(penalty.best_value(-slope, np.full(6, 5.0))[wants_in] != 0.0)

    def test_thresholds_are_in_proportion_to_alpha(self, penalty):
        assert_allclose(penalty.at(0.6).threshold(6), 3.0 * penalty.at(0.2).threshold(6))

    def test_the_largest_alpha_leaves_the_empty_model_alone(self, penalty):
        case = small(d=6)
        problem = Problem(case.data(), LOSSES["squared"], penalty.at(1.0))
        start, largest = empty_start(problem), alpha_max(problem)
        free = penalty.threshold(6) == 0.0  # wants in at any alpha
        for alpha, enters in ((largest * (1 + 1e-9), False), (largest * 0.99, True)):
            violation = penalty.at(alpha).violation(start.w, start.at.by_w)
            assert np.any(violation[~free] > 0.0) == enters


@pytest.mark.parametrize("penalty", SEPARABLE, ids=repr)
def test_scaled_is_the_penalty_of_scaled_coefficients(penalty, rng):
    w = np.clip(np.abs(rng.normal(size=6)), penalty.lower / SCALES, penalty.upper / SCALES)
    assert_allclose(penalty.scaled(SCALES, FACTORS).values(w), FACTORS * penalty.values(SCALES * w))


@pytest.mark.parametrize("penalty", [p for p in SEPARABLE if isinstance(p, ElasticNet)], ids=repr)
def test_compiled_loops_know_the_same_elastic_net(penalty, rng):
    l1, l2, lower, upper = penalty.strengths(6)
    for _ in range(20):
        centre, curvature = rng.normal(size=6), rng.uniform(0.1, 3.0, size=6)
        best = [quadratic.best_value(*x) for x in zip(centre, l1, lower, upper, curvature + l2, strict=True)]
        assert_allclose(penalty.best_value(centre, curvature), best, atol=1e-14)
        w, slope = np.where(rng.random(6) < 0.5, 0.0, np.abs(rng.normal(size=6))), rng.normal(size=6)
        w = np.clip(w, lower, upper)
        off = [quadratic.violation(*x) for x in zip(slope + l2 * w, w, l1, lower, upper, strict=True)]
        assert_allclose(penalty.violation(w, slope), off, atol=1e-14)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_and_penalties_agree_or_one_sentence_says_why_not(name):
    solver = SOLVERS[name]
    assert solver.needs <= SENTENCES.keys()
    for penalty in PENALTIES:
        sentence = why_not(name, solver.needs, penalty, LOSSES["squared"])
        there = penalty.has | LOSSES["squared"].has
        assert (sentence is None) == all(there & set(need.split(" or ")) for need in solver.needs & OF_PENALTIES)
        assert sentence is None or (name in sentence and "{" not in sentence)


def test_soft_thresholds_add_up(rng):
    v = rng.normal(size=50)
    assert_allclose(soft_threshold(soft_threshold(v, 0.3), 0.4), soft_threshold(v, 0.7), atol=1e-15)


def test_hard_threshold_keeps_the_first_of_equals():
    assert_array_equal(hard_threshold(np.array([1.0, -2.0, 2.0, 2.0]), 2), [0.0, -2.0, 2.0, 0.0])
    assert_array_equal(hard_threshold(np.array([1.0, 2.0]), 5), [1.0, 2.0])


@pytest.mark.parametrize("k", [0, 1, 4, 7, 8])
def test_hard_threshold_is_that_of_sorted_numbers(k, rng):
    for v in (rng.normal(size=8), rng.integers(-2, 3, 8).astype(float), np.zeros(8)):
        kept = np.argsort(-np.abs(v), kind="stable")[:k]
        assert_array_equal(hard_threshold(v, k), np.where(np.isin(np.arange(8), kept), v, 0.0))


def test_values():
    assert ElasticNet(2.0, 3.0).value(np.array([1.0, -2.0])) == 2 * 3 + 3 / 2 * 5
    assert Cardinality(1).value(np.array([0.0, 5.0])) == 0
    assert Cardinality(1).value(np.array([1.0, 5.0])) == np.inf


def test_one_strength_for_all_features_is_refused_where_they_differ():
    case = small()
    penalty = ElasticNet(1.0).at(0.1).scaled(1.0, np.linspace(1.0, 2.0, 12))
    with pytest.raises(OptionError, match="penalises all features alike"):
        _ = Problem(case.data(), LOSSES["squared"], penalty).standardised_strengths
    scale = np.linspace(1.0, 3.0, 12)
    alike = Problem(case.data(), LOSSES["squared"], ElasticNet(0.3, 0.7).at(0.1).scaled(scale), scale=scale)
    assert_allclose(alike.standardised_strengths, (0.03, 0.07))

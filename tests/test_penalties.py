"""A prox is the minimiser it claims to be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from problems import PENALTIES, small
from riata.errors import OptionError
from riata.losses import LOSSES
from riata.objective import Problem
from riata.penalties import Cardinality, ElasticNet, hard_threshold, soft_threshold


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_prox_beats_random_points(penalty, rng):
    v = rng.normal(size=6)

    def cost(u):
        return 0.5 * np.sum((u - v) ** 2) + 0.3 * penalty.value(u)

    best = penalty.prox(v, 0.3)
    near = [best + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=6) * (rng.random(6) < 0.5) for _ in range(500)]
    assert all(cost(best) <= cost(u) + 1e-12 for u in near)
    assert all(cost(best) <= cost(rng.normal(size=6)) + 1e-12 for _ in range(500))


def test_soft_thresholds_add_up(rng):
    v = rng.normal(size=50)
    assert_allclose(soft_threshold(soft_threshold(v, 0.3), 0.4), soft_threshold(v, 0.7), atol=1e-15)


def test_hard_threshold_keeps_the_first_of_equals():
    assert_array_equal(hard_threshold(np.array([1.0, -2.0, 2.0, 2.0]), 2), [0.0, -2.0, 2.0, 0.0])
    assert_array_equal(hard_threshold(np.array([1.0, 2.0]), 5), [1.0, 2.0])


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

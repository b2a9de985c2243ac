"""Steps by a curvature that is kept: its products are those of one point, and the minimum is that of F all the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from convex_problems import targets_for
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, duality_gap, elastic_net, first_order, gap_unit
from riata.penalties import ElasticNet
from riata.solvers.convex import inner_method
from riata.solvers.convex.columns import anchored_columns, anchored_products
from riata.solvers.convex.columns.anchored_columns import AnchoredColumns
from riata.solvers.convex.columns.anchored_products import AnchoredProducts
from riata.solvers.convex.quadratics.curvature import ROUGH_PRECISION
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

N_ROWS, N_FEATURES = 400, 60


def neighbours(rng, n=N_ROWS, d=N_FEATURES):
    """Columns, each of which is much like the next, about means that are not zero."""
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = 0.95 * X[:, j - 1] + 0.3 * X[:, j]
    return X + rng.normal(size=d)


def problem_of(loss, fit_intercept=True, ratio=0.003, l1_ratio=1.0, **bounds):
    rng = np.random.default_rng(3)
    X = neighbours(rng)
    data = InMemory(X, targets_for(LOSSES[loss], X, rng), rng.uniform(0.5, 2.0, size=N_ROWS))
    largest = alpha_max(Problem(data, LOSSES[loss], elastic_net(1.0), fit_intercept=fit_intercept))
    penalty = (
        ElasticNet(l1_ratio, 1.0 - l1_ratio)
        .at(ratio * largest)
        .within(bounds.get("lower", -np.inf), bounds.get("upper", np.inf))
    )
    return Problem(data, LOSSES[loss], penalty, fit_intercept=fit_intercept)


def found_from(columns, problem, start, precision=0.0, enough=1e-9):
    w, b = columns.minimum(problem, None, start, start, precision, enough * gap_unit(problem))
    at = first_order(problem, w, b)
    return w, b, at.loss + problem.penalty.value(w), duality_gap(problem, w, at) / gap_unit(problem)


OPTIONS = {
    "lasso": {},
    "without intercept": {"fit_intercept": False},
    "elastic net": {"l1_ratio": 0.5},
    "nonnegative": {"lower": 0.0},
    "between bounds": {"lower": -0.05, "upper": 0.1},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("loss", ["logistic", "probit", "squared-hinge", "huber", "poisson"])
def test_the_minimum_is_certified_whatever_the_loss_and_the_bounds(loss, options):
    problem = problem_of(loss, **OPTIONS[options])
    columns = AnchoredColumns(problem.data, problem.fit_intercept).with_features(np.arange(N_FEATURES))
    *_, gap = found_from(columns, problem, (np.zeros(N_FEATURES), 0.0))
    assert gap <= 1.001e-9


def test_few_rows_of_one_class_are_certified_too():
    """Slopes of the two classes nearly cancel: an intercept that is a little off costs many times as much."""
    rng = np.random.default_rng(1)
    X = np.sqrt(0.9) * rng.normal(size=(1500, 5)) @ rng.normal(size=(5, 200)) / np.sqrt(5.0)
    X += np.sqrt(0.1) * rng.normal(size=X.shape)
    y = np.where(rng.random(1500) < 1.0 / (1.0 + np.exp(3.0 - 2.0 * X[:, 0])), 1.0, -1.0)
    data, loss = InMemory(X, y), LOSSES["logistic"]
    largest = alpha_max(Problem(data, loss, elastic_net(1.0)))
    columns, point = AnchoredColumns(data, True).with_features(np.arange(200)), (np.zeros(200), 0.0)
    for ratio in (0.02, 0.015, 0.01, 0.008):
        *point, _, gap = found_from(columns, Problem(data, loss, elastic_net(ratio * largest)), point, enough=1e-7)
        assert gap <= 1.001e-7


def test_an_anchor_that_is_far_off_is_given_up():
    """The curvature of an empty model says little of a minimum at which most rows have hardly any left."""
    problem = problem_of("logistic", ratio=1e-5)
    columns = AnchoredColumns(problem.data, True).with_features(np.arange(N_FEATURES))
    _, _, rough, _ = found_from(columns, problem, (np.zeros(N_FEATURES), 0.0), ROUGH_PRECISION)
    *_, F, gap = found_from(columns, problem, (np.zeros(N_FEATURES), 0.0))
    assert gap <= 1.001e-9
    assert F < rough < first_order(problem, np.zeros(N_FEATURES), 0.0).loss


def test_one_anchor_serves_for_nearby_penalties(monkeypatch):
    made = []
    make = AnchoredProducts.drop_anchor
    monkeypatch.setattr(AnchoredProducts, "drop_anchor", lambda *given: (made.append(1), make(*given))[1])
    problem = problem_of("logistic", ratio=0.01)
    columns = AnchoredColumns(problem.data, True).with_features(np.arange(N_FEATURES))
    w, b, _, _ = found_from(columns, problem, (np.zeros(N_FEATURES), 0.0))
    before = len(made)
    for ratio in (0.0095, 0.009, 0.0085):
        w, b, _, gap = found_from(columns, problem_of("logistic", ratio=ratio), (w, b), enough=1e-7)
        assert gap <= 1.001e-7
    assert len(made) == before


def test_a_curvature_is_kept_where_that_pays():
    """Of few rows it is soon made anew; where rows are few beside columns, sweeps come nearer for less, at first."""
    rng, features = np.random.default_rng(0), np.arange(300)

    def chosen(n, features=features, **step):
        data = InMemory(rng.normal(size=(n, 300)), np.sign(rng.normal(size=n)))
        problem = Problem(data, LOSSES["logistic"], elastic_net(1e-3))
        return isinstance(inner_method.without_curvature(problem, features, inner_method.Step(**step)), AnchoredColumns)

    assert chosen(4000)
    assert not chosen(200)
    assert not chosen(4000, features[:20])
    assert not chosen(4000, memory=8 * 4000 * 300)
    assert chosen(4000, rough=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner_method, "ANCHORED_STEPS", 0)
        assert chosen(200)
        assert not chosen(200, rough=True)


def test_the_factor_of_the_same_coordinates_is_made_once():
    factors, H = anchored_columns._LastFactor(), np.eye(4)
    first = factors.factor(H, np.array([0, 2]))
    assert factors.factor(H, np.array([0, 2])) is first
    assert factors.factor(H, np.array([0, 1])) is not first
    assert factors.factor(2.0 * H, np.array([0, 1])) is not first


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_that_were_extended_are_those_that_are_made_at_once(fit_intercept, monkeypatch):
    monkeypatch.setattr(anchored_products, "MULTIPLIED", 150)  # in parts, the last of which is shorter
    monkeypatch.setattr(anchored_products, "GATHERED", 70)
    rng = np.random.default_rng(0)
    data = InMemory(neighbours(rng), rng.normal(size=N_ROWS), rng.uniform(0.5, 2.0, size=N_ROWS))
    curvatures = rng.uniform(0.1, 1.0, size=N_ROWS)
    products = AnchoredProducts(data, fit_intercept)
    products.keep(np.arange(0, 40))
    products.drop_anchor(curvatures)
    for features in (np.arange(5, 45), np.arange(20, 50), np.arange(20, 30)):
        products.keep(features)
        assert set(features) <= set(products.features)
        assert len(products.features) <= anchored_products.SPARE * len(features)
        assert products.anchor is not None
        H, mean, curvature = products.quadratic()
        D, A = products.weight * curvatures, data.X[:, products.features]
        about = A - D @ A / D.sum() if fit_intercept else A
        assert_allclose(H, about.T @ (D[:, None] * about), rtol=1e-10, atol=1e-12)
        assert_allclose(products.columns.T, A - products.origin, atol=1e-12)
        assert_allclose(mean, (D @ A / D.sum() - products.origin) if fit_intercept else 0.0, atol=1e-12)
        assert_allclose(curvature, D.sum() if fit_intercept else 0.0)


def test_products_are_made_anew_once_as_much_was_spent_on_them():
    rng = np.random.default_rng(0)
    data = InMemory(neighbours(rng), rng.normal(size=N_ROWS))
    products = AnchoredProducts(data, True)
    products.keep(np.arange(10))
    products.drop_anchor(np.ones(N_ROWS))
    assert not products.worn
    products.keep(np.arange(60))  # most of the products are new: to make all of them costs little more
    assert products.anchor is not None
    products.spend(products._cost(0))
    assert products.worn
    products.drop_anchor(np.ones(N_ROWS))
    assert not products.worn


def test_a_path_goes_on_where_its_working_set_becomes_too_large_for_a_curvature(monkeypatch):
    """Few features of many rows have a curvature at every point; once there are more they have columns."""
    monkeypatch.setattr(inner_method, "ANCHORED_STEPS", 0)  # whatever that costs
    rng = np.random.default_rng(0)
    n, d = 6000, 200
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) / 7.0 + rng.logistic(size=n) > 0.0, 1.0, -1.0)
    largest = np.abs(X.T @ y).max() / (2.0 * n)
    found = path_of_margin(InMemory(X, y), Spec(loss="logistic", standardize=False), largest / np.array([2.0, 100.0]))
    assert found.gaps.max() <= 1e-6

"""Minima that are followed along all columns, against corners one by one and optimality from scratch."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.data.in_memory import InMemory
from riata.objective import first_order
from riata.penalties import Strengths
from riata.positive import Factor
from riata.solvers.convex import inner_method
from riata.solvers.convex.columns import all_columns
from riata.solvers.convex.columns.all_columns import AllColumns
from riata.solvers.convex.quadratics import homotopy
from riata.solvers.convex.quadratics.homotopy import Place, follow_minimum
from riata.solvers.convex.working_set import WorkingSetState
from riata.training.fitting import bare_problem, fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

N_ROWS, N_FEATURES = 40, 130
NUMBER = np.arange(N_FEATURES)
PENALTIES = {
    "lasso": {},
    "elastic net": {"l2": 0.3},
    "nonnegative": {"lower": 0.0},
    "one-sided": {"lower": np.where(NUMBER % 3, -np.inf, 0.0), "upper": np.where(NUMBER % 3 == 1, 0.0, np.inf)},
    "factors": {"l1": np.where(NUMBER < 3, 0.0, np.linspace(0.5, 2.0, N_FEATURES))},
    "free on one side": {"l1": np.where(NUMBER < 9, 0.0, 1.0), "lower": 0.0},
}


class ByProducts:
    """q of a matrix that is there."""

    def __init__(self, H, n_rows):
        self.H, self.n_rows, self.curvatures = H, n_rows, H.diagonal()

    def learn(self, coordinates):
        pass

    def without_copies(self, v):
        return v

    def products(self, left, right):
        return self.H[np.ix_(left, right)]

    def factor(self, coordinates):
        return Factor.of(self.products(coordinates, coordinates))

    def rise(self, coordinates, moves):
        return moves @ self.H[coordinates]


def strengths_of(name, alpha):
    every = {"l1": 1.0, "l2": 0.0, "lower": -np.inf, "upper": np.inf, **PENALTIES[name]}
    every = {name: np.broadcast_to(np.asarray(value, dtype=float), N_FEATURES) for name, value in every.items()}
    return Strengths(alpha * every["l1"], every["l2"], every["lower"], every["upper"])


def violations(slopes, v, strengths):
    """How far each coordinate is from its optimality condition, written out."""
    l1, _, lower, upper = strengths
    up = np.where(v >= 0.0, -slopes - l1, -slopes + l1)
    down = np.where(v <= 0.0, slopes - l1, slopes + l1)
    assert np.all((lower <= v) & (v <= upper))
    return np.maximum(np.maximum(np.where(v < upper, up, 0.0), np.where(v > lower, down, 0.0)), 0.0)


@pytest.mark.parametrize("foreseen", [1, 7, 1000])
@pytest.mark.parametrize("alpha", [0.3, 0.02])
@pytest.mark.parametrize("name", PENALTIES)
def test_it_ends_at_the_minimum(name, alpha, foreseen, monkeypatch, rng):
    """Whether it goes from corner to corner, or foresees too many of them, from the empty model or from any other."""
    monkeypatch.setattr(homotopy._Step, "_worth_foreseeing", lambda step: foreseen)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + rng.normal(size=(N_ROWS, 1))
    y = X[:, :12] @ rng.normal(size=12) + rng.normal(size=N_ROWS)
    strengths = strengths_of(name, alpha)
    H, first = X.T @ X / N_ROWS + np.diag(strengths.l2), -X.T @ y / N_ROWS
    some = np.where(np.arange(N_FEATURES) % 13 == 0, rng.normal(size=N_FEATURES), 0.0)
    for start in (np.zeros(N_FEATURES), np.clip(some, strengths.lower, strengths.upper)):
        there, arrived = follow_minimum(
            ByProducts(H, N_ROWS), strengths, Place(start, first + H @ start), lambda place: False
        )
        assert arrived
        assert_allclose(there.slopes, first + H @ there.v, atol=1e-9)
        assert violations(first + H @ there.v, there.v, strengths).max() < 1e-9


def test_it_ends_where_it_is_good_enough(rng):
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, :12] @ rng.normal(size=12)
    H, slopes, seen = X.T @ X / N_ROWS, -X.T @ y / N_ROWS, []

    def good(place):
        seen.append(place)
        return np.count_nonzero(place.v) >= 5

    q = ByProducts(H, N_ROWS)
    there, arrived = follow_minimum(q, strengths_of("lasso", 1e-3), Place(np.zeros(N_FEATURES), slopes), good)
    assert arrived
    assert there is seen[-1]
    assert 5 <= np.count_nonzero(there.v) < N_ROWS


def test_a_singular_model_is_said(rng):
    """Two columns that are free, and the same: no minimum is the only one."""
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, 1] = X[:, 0]
    H, slopes = X.T @ X / N_ROWS, -X.T @ rng.normal(size=N_ROWS) / N_ROWS
    start = Place(np.zeros(N_FEATURES), slopes)
    assert not follow_minimum(ByProducts(H, N_ROWS), strengths_of("factors", 0.1), start, lambda place: False)[1]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_and_intercept(fit_intercept, rng):
    X = 3.0 + rng.normal(size=(N_ROWS, N_FEATURES))
    data = InMemory(X, rng.normal(size=N_ROWS), rng.uniform(0.5, 2.0, size=N_ROWS))
    problem = bare_problem(data, Spec(standardize=False, fit_intercept=fit_intercept))
    problem = replace(problem, penalty=problem.penalty.at(0.01))
    w, b = np.zeros(N_FEATURES), 1.0
    at = first_order(problem, w, b)
    found, intercept = AllColumns.of(problem, data).minimum(problem, at, (w, b), (w, b), 0.0)
    there = first_order(problem, found, intercept)
    assert violations(there.by_w, found, problem.strengths).max() < 1e-10
    assert abs(there.by_b) < 1e-12 if fit_intercept else intercept == b


def test_products_are_forgotten_and_made_again(rng):
    columns = rng.normal(size=(50, 7))
    known = all_columns.KnownProducts(lambda new: columns[new], 50)
    for size in (5, 20, 3, 50, 4):
        asked = rng.permutation(50)[:size]
        known.learn(asked)
        assert_allclose(known.between(asked, asked[:3]), columns[asked] @ columns[asked[:3]].T)


def test_a_path_is_followed_from_alpha_to_alpha(monkeypatch, rng):
    """Each model from the last one, in a step or two; and no more columns are held than the budget has room for."""
    X = rng.normal(size=(60, 400)) + rng.normal(size=(60, 1))
    y = X[:, :20] @ rng.normal(size=20) + rng.normal(size=60)
    steps, taken = [], homotopy._Step.taken
    monkeypatch.setattr(inner_method, "too_many", lambda *_: True)
    monkeypatch.setattr(homotopy._Step, "taken", lambda step: steps.append(len(step.S)) or taken(step))
    found = path_of_margin(InMemory(X, y), Spec(tol=1e-8), length=50, reach=1e-3)
    assert found.gaps.max() <= 1e-8
    assert 0 < len(steps) < 150
    problem = bare_problem(InMemory(X, y), Spec())
    full = WorkingSetState(np.ones(400), 0.0)
    assert inner_method.all_columns(problem, full, np.arange(400), 400, 100_000) is None
    assert inner_method.all_columns(problem, full, np.arange(400), 400, None) is not None


def test_where_the_way_is_lost_others_go_on(monkeypatch, rng):
    monkeypatch.setattr(all_columns, "follow_minimum", lambda q, strengths, start, good: (start, False))
    X = rng.normal(size=(60, 300))
    monkeypatch.setattr(inner_method, "too_many", lambda *_: True)
    fitted = fit(InMemory(X, X[:, :9] @ rng.normal(size=9) + rng.normal(size=60)), Spec(alpha_ratio=0.01))
    assert fitted.result.converged

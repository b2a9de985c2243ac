import numpy as np
import pytest
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, elastic_net
from riata.solvers.convex.columns import column_quadratic
from riata.solvers.convex.columns.column_descent import Descent
from riata.solvers.convex.columns.column_quadratic import minimise_along_columns
from riata.solvers.convex.columns.columns import SparseColumns
from riata.solvers.convex.columns.effort import Effort
from riata.solvers.convex.quadratics.conjugate_gradients import conjugate_gradients, conjugate_residuals


def test_steps_gain_more_and_more_up_to_the_minimum(rng):
    A = rng.normal(size=(60, 20)) @ np.diag(np.geomspace(1.0, 10.0, 20))
    H, downhill = A.T @ A, rng.normal(size=20)

    def gain(x):
        return downhill @ x - 0.5 * x @ H @ x

    gains = [gain(conjugate_gradients(lambda x: H @ x, downhill, np.diag(H), most)[0]) for most in range(1, 8)]
    assert np.all(np.diff(gains) >= 0.0)
    assert gains[-1] <= gain(np.linalg.solve(H, downhill)) * (1 + 1e-12)
    assert gains[-1] > 0.9 * gain(np.linalg.solve(H, downhill))


def test_it_ends_by_itself_where_little_is_left_to_gain(rng):
    downhill, diagonal = rng.normal(size=30), rng.uniform(1.0, 5.0, size=30)
    x, steps = conjugate_gradients(lambda x: diagonal * x, downhill, diagonal, 100)
    assert steps <= 2
    np.testing.assert_allclose(x, downhill / diagonal)


def test_columns_that_depend_on_one_another_give_no_infinite_step(rng):
    A = np.repeat(rng.normal(size=(10, 4)), 5, axis=1)  # 20 columns of rank 4
    H, downhill = A.T @ A, A.T @ rng.normal(size=10)
    x, _ = conjugate_gradients(lambda x: H @ x, downhill, np.diag(H), 50)
    assert np.isfinite(x).all()
    assert downhill @ x > 0.0


def test_conjugate_residuals_leave_the_least_slopes_that_so_many_products_can(rng):
    A = rng.normal(size=(40, 30)) @ np.diag(np.geomspace(1.0, 100.0, 30))
    H, downhill = A.T @ A, rng.normal(size=30)
    diagonal = np.diag(H)

    def left(x):
        return np.sqrt(np.sum((downhill - H @ x) ** 2 / diagonal))

    krylov = [downhill / diagonal]
    for most in range(1, 9):
        basis = np.linalg.qr(np.array(krylov).T)[0]
        unit = 1.0 / np.sqrt(diagonal)
        best = basis @ np.linalg.lstsq(unit[:, None] * (H @ basis), unit * downhill, rcond=None)[0]
        x, steps = conjugate_residuals(lambda x: H @ x, downhill, diagonal, most, np.zeros(30))
        assert steps == most
        assert left(x) == pytest.approx(left(best), rel=1e-6)
        krylov.append(H @ krylov[-1] / diagonal)


def test_conjugate_residuals_end_within_the_bounds_and_are_no_worse_for_dependent_columns(rng):
    A = np.repeat(rng.normal(size=(10, 4)), 5, axis=1)  # 20 columns of rank 4
    H = A.T @ A
    downhill = A.T @ rng.normal(size=10) + 1e-3 * rng.normal(size=20)  # some of which no step can take away
    x, steps = conjugate_residuals(lambda x: H @ x, downhill, np.diag(H), 50, np.full(20, 0.01))
    assert steps <= 5
    assert np.all(np.abs(downhill - H @ x) <= 0.01)
    far, _ = conjugate_residuals(lambda x: H @ x, downhill, np.diag(H), 50, np.full(20, 1e-12))
    assert np.linalg.norm(downhill - H @ far) <= np.linalg.norm(downhill)


def lasso(rng, fit_intercept):
    """Words, of which many are rare and some go together: the slopes and curvatures of rows at the empty model."""
    n, d = 300, 900
    topics = rng.uniform(size=(n, 12)) < 0.2
    share = 0.4 / np.arange(1, d + 1) ** 0.6
    X = sp.csc_array(rng.uniform(size=(n, d)) < share * (1 + 4 * topics[:, np.arange(d) % 12]), dtype=float)
    y = topics[:, :3].sum(axis=1) + 0.1 * rng.normal(size=n)
    data = InMemory(X.tocsr(), y)
    alpha = 0.005 * np.abs(X.T @ (y - y.mean())).max() / n
    problem = Problem(data, LOSSES["squared"], elastic_net(alpha), fit_intercept)
    return problem, SparseColumns(X), -y / n, np.full(n, 1.0 / n)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_step_by_conjugate_gradients_lowers_the_quadratic(rng, fit_intercept):
    problem, columns, u, D = lasso(rng, fit_intercept)
    work = Descent(problem, columns, u, D, np.zeros(columns.stored.shape[0]))
    for _ in range(5):
        work.descend()
        before, gap_unit = work.Q, work.Q + 0.5 * float(u @ u) * len(u)
        assert work.conjugate(Effort(for_conjugate=1e9)) > 0.0
        assert work.Q < before
        assert work._at(work.v)[0] == pytest.approx(work.Q, abs=1e-12 * gap_unit)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_with_them_the_minimum_is_the_same(rng, fit_intercept, monkeypatch):
    problem, columns, u, D = lasso(rng, fit_intercept)
    found = []
    for beside in (0.0, 100.0):
        monkeypatch.setattr(column_quadratic, "BESIDE", beside)
        v, _ = minimise_along_columns(problem, columns, u, D, np.zeros(columns.stored.shape[0]), 1e-10)
        work = Descent(problem, columns, u, D, np.zeros(len(v)))
        found.append(work._at(v)[0])
    assert found[0] == pytest.approx(found[1], abs=2e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("lower", [0.0, -np.inf])
def test_columns_of_which_one_must_go_are_found_together(rng, fit_intercept, lower):
    """Of two words that one text alone has, and a third that both texts have, a model needs two: with all three in it
    no step brings their slopes to their thresholds."""
    n = 40
    X = sp.lil_array((n, 12))
    for group in range(4):
        X[3 * group, 3 * group] = X[3 * group + 1, 3 * group + 1] = 1.0
        X[3 * group, 3 * group + 2], X[3 * group + 1, 3 * group + 2] = 0.99, 1.01
    y = np.where(np.arange(n) < 12, 1.0, -0.2) + 0.1 * rng.uniform(size=n)
    problem = Problem(InMemory(X.tocsr(), y), LOSSES["squared"], elastic_net(0.002, lower=lower), fit_intercept)
    start = np.full(12, 0.2)
    slopes = (X @ start + (y.mean() - 0.2 if fit_intercept else 0.0) - y) / n
    work = Descent(problem, SparseColumns(X.tocsc()), slopes, np.full(n, 1.0 / n), start)
    for _ in range(4):
        work.descend()
        work.to_the_end(1e-9)
    assert work.gap() <= 1e-9
    assert np.count_nonzero(work.v.reshape(4, 3), axis=1).max() <= 2


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_columns_that_are_furthest_off_meet_their_conditions_and_others_stay(rng, fit_intercept):
    problem, columns, u, D = lasso(rng, fit_intercept)
    work = Descent(problem, columns, u, D, np.zeros(columns.stored.shape[0]))
    work.descend()
    l1, before, Q = work.quadratic.l1, work.v.copy(), work.Q
    off = np.where(work.v != 0.0, np.abs(work.g + np.copysign(l1, work.v)), np.abs(work.g) - l1) / l1
    assert work._worst_together(1e5, 0.01) > 0.0
    moved = np.flatnonzero(work.v != before)
    assert 0 < len(moved) <= (3e6 / 10) ** (1 / 3)
    assert np.all(off[moved] >= np.sort(off)[-70])
    assert work.Q < Q
    assert work._at(work.v)[0] == pytest.approx(work.Q)
    left = np.where(work.v != 0.0, np.abs(work.g + np.copysign(l1, work.v)), np.abs(work.g) - l1)
    assert np.all(left[moved] <= 0.002 * l1[moved])

import numpy as np
import pytest
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, elastic_net
from riata.solvers.convex import column_quadratic
from riata.solvers.convex.column_quadratic import Descent, Effort, minimise_along_columns
from riata.solvers.convex.columns import SparseColumns
from riata.solvers.convex.conjugate_gradients import conjugate_step


def test_steps_gain_more_and_more_up_to_the_minimum(rng):
    A = rng.normal(size=(60, 20)) @ np.diag(np.geomspace(1.0, 10.0, 20))
    H, downhill = A.T @ A, rng.normal(size=20)

    def gain(x):
        return downhill @ x - 0.5 * x @ H @ x

    gains = [gain(conjugate_step(lambda x: H @ x, downhill, np.diag(H), most)[0]) for most in range(1, 8)]
    assert np.all(np.diff(gains) >= 0.0)
    assert gains[-1] <= gain(np.linalg.solve(H, downhill)) * (1 + 1e-12)
    assert gains[-1] > 0.9 * gain(np.linalg.solve(H, downhill))


def test_it_ends_by_itself_where_little_is_left_to_gain(rng):
    downhill, diagonal = rng.normal(size=30), rng.uniform(1.0, 5.0, size=30)
    x, steps = conjugate_step(lambda x: diagonal * x, downhill, diagonal, 100)
    assert steps <= 2
    np.testing.assert_allclose(x, downhill / diagonal)


def test_columns_that_depend_on_one_another_give_no_infinite_step(rng):
    A = np.repeat(rng.normal(size=(10, 4)), 5, axis=1)  # 20 columns of rank 4
    H, downhill = A.T @ A, A.T @ rng.normal(size=10)
    x, _ = conjugate_step(lambda x: H @ x, downhill, np.diag(H), 50)
    assert np.isfinite(x).all()
    assert downhill @ x > 0.0


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

"""Where Newton steps crawl, as for times that the features can nearly put in order, larger penalties lead the way.

Where a Huber loss bends at next to nothing, larger bends do.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import riata
from riata.solvers.convex import from_above
from riata.training.checkpoint import Checkpoints


def nearly_in_order(n=60, d=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    risk = X[:, :5] @ (5.0 * rng.normal(size=5)) - np.log(rng.exponential(size=n))
    return X, np.rec.fromarrays([np.ones(n, bool), 1.0 + np.argsort(np.argsort(-risk))], names="event, time")


@pytest.mark.parametrize("asked", [{}, {"groups": np.arange(20) // 4}, {"l1_ratio": 0.7}], ids=str)
def test_they_lead_to_the_same_minimum(monkeypatch, asked):
    X, y = nearly_in_order()
    usual = riata.SparseSurvival(alpha_ratio=0.01, tol=1e-9, **asked).fit(X, y)
    monkeypatch.setattr(from_above, "CRAWLING", 3)
    other = riata.SparseSurvival(alpha_ratio=0.01, tol=1e-9, **asked).fit(X, y)
    assert other.n_iter_ > usual.n_iter_  # by another way
    assert other.gap_ <= 1e-9
    assert_allclose(other.objective_, usual.objective_, rtol=1e-8)
    assert_allclose(other.coef_, usual.coef_, atol=1e-3 * np.abs(usual.coef_).max())
    steps = [record.steps for record in other.trained_.course.histories[0]]
    assert steps == list(range(1, len(steps) + 1))


def test_a_curvature_that_rounding_made_indefinite_leads_nowhere_far():
    """Steps on the dual would follow a direction in which its quadratic falls without end."""
    X, y = nearly_in_order(100, 200, seed=2)
    assert riata.SparseSurvival(alpha_ratio=0.003).fit(X, y).gap_ <= 1e-6


def test_a_fit_goes_on_from_every_checkpoint_to_the_same_bits(monkeypatch, tmp_path):
    X, y = nearly_in_order()
    monkeypatch.setattr(from_above, "CRAWLING", 3)
    saved, save = [], Checkpoints.save

    def watched(self, state):
        save(self, state)
        saved.append((tmp_path / "whole" / "checkpoint.npz").read_bytes())

    monkeypatch.setattr(Checkpoints, "save", watched)
    asked = {"alpha_ratio": 0.01, "tol": 1e-9}
    whole = riata.SparseSurvival(**asked, checkpoint=tmp_path / "whole", every=0).fit(X, y)
    monkeypatch.setattr(Checkpoints, "save", save)
    assert 3 < len(saved) < whole.n_iter_  # none on the way from above
    for i, content in enumerate(saved):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "checkpoint.npz").write_bytes(content)
        again = riata.SparseSurvival(**asked, checkpoint=folder, resume=True).fit(X, y)
        assert_array_equal(again.coef_, whole.coef_)


@pytest.mark.parametrize(("n", "d", "bend"), [(90, 20, 1e-2), (90, 20, 1e-5), (200, 120, 1e-2)])
def test_a_bend_that_is_tiny_beside_all_residuals(n, d, bend):
    """It is the median's loss then, but for a bend, and as certain."""
    rng = np.random.default_rng(1)
    X = rng.standard_t(2, size=(n, d))
    y = X[:, 0] + 3.0 * rng.standard_t(1.5, size=n)
    found = riata.SparseRegressor(loss=f"huber:{bend}", alpha_ratio=0.01).fit(X, y)
    assert found.gap_ <= 1e-6
    median = riata.SparseRegressor(loss="quantile", alpha=found.alpha_ / (2.0 * bend)).fit(X, y)
    assert_allclose(found.objective_ / bend, 2.0 * median.objective_, rtol=bend)


@pytest.mark.parametrize(("seed", "penalty"), [(48, "mcp"), (3, "scad"), (5, "lq")])
def test_concave_penalties_of_tiny_bends_end_at_a_stationary_point(seed, penalty):
    rng = np.random.default_rng(seed)
    X = np.hstack([np.eye(6)[rng.integers(0, 6, 90)] for _ in range(25)])
    y = X[:, :3] @ [2.0, -1.0, 1.0] + rng.standard_t(2, size=90)
    model = riata.SparseRegressor(loss=f"huber:{3e-4 * y.std():.3g}", penalty=penalty, alpha_ratio=0.14).fit(X, y)
    assert model.converged_, model.stopped_because_


@pytest.mark.parametrize("penalty", ["mcp", "scad"])
@pytest.mark.filterwarnings("ignore:.*rounding hides")
def test_events_in_order_end_at_a_stationary_point_of_a_concave_penalty(penalty):
    """Where the penalty is flat, nearly singular curvatures led coefficients of more features than rows to the
    millions, and later to points from which steps by them gain nothing."""
    unsettled = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 119)) * (rng.random((30, 119)) < 0.05)
        X = X[:, X.std(axis=0) > 0]
        time = np.ceil(8.0 * rng.uniform(size=30))
        y = np.rec.fromarrays([rng.random(30) < 0.7, time], names="event, time")
        model = riata.SparseSurvival(loss="cox-efron", penalty=penalty, alpha_ratio=0.1).fit(X, y)
        unsettled += not model.converged_
        assert np.abs(model.coef_).max() < 1e6
    assert unsettled <= 1  # whatever a machine's rounding: of 80 such fits 3 are

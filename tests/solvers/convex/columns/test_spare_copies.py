"""Of features that are copies of one another, one is in a model; and the minimum is the same."""

import numpy as np
import pytest
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem
from riata.penalties import ElasticNet
from riata.solvers.convex import working_set
from riata.solvers.convex.columns.spare_copies import spare_copies
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec


def words(rng, n=120, d=1200):
    """Counts of which most words have one or two, in units of their deviation."""
    X = sp.csc_array(rng.uniform(size=(n, d)) < 0.5 / np.arange(1, d + 1) ** 0.6, dtype=float)
    X = X @ sp.diags_array(rng.uniform(0.5, 2.0, d))
    y = np.sign(X[:, :30] @ rng.normal(size=30) + 0.5 * rng.normal(size=n))
    return sp.csr_array(X), y


CASES = {
    "squared": {"loss": "squared"},
    "logistic": {"loss": "logistic"},
    "nonnegative": {"loss": "squared", "nonnegative": True},
    "ridge": {"loss": "squared", "l1_ratio": 0.9},
    "no intercept": {"loss": "squared", "fit_intercept": False},
    "unscaled": {"loss": "logistic", "standardize": False},
}


@pytest.mark.parametrize("case", CASES)
def test_the_minimum_is_the_same_with_fewer_features(rng, monkeypatch, case):
    X, y = words(rng)
    weight = rng.uniform(0.5, 2.0, len(y))
    spec = Spec(alpha_ratio=0.01, tol=1e-8, **CASES[case])
    found = fit(InMemory(X, y, weight), spec).result
    monkeypatch.setattr(working_set, "spare_copies", lambda *given: None)
    with_copies = fit(InMemory(X, y, weight), spec).result
    assert found.stop.converged
    assert with_copies.stop.converged
    unit = with_copies.history[0].objective
    assert found.history[-1].objective == pytest.approx(with_copies.history[-1].objective, abs=3e-8 * unit)
    assert np.count_nonzero(found.coef) <= np.count_nonzero(with_copies.coef)


def test_every_model_of_a_path_is_certified(rng):
    X, y = words(rng)
    path = path_of_margin(InMemory(X, y), Spec(loss="squared", tol=1e-8), reach=1e-3)
    assert path.gaps.max() <= 1e-8


def test_the_one_whose_penalty_is_least_stands_for_the_others(rng):
    column = rng.normal(size=(8, 1))
    X = np.hstack([column, 2.0 * column, -column, rng.normal(size=(8, 1)), 4.0 * column])
    data = InMemory(sp.csr_array(X), rng.normal(size=8))

    def spare(in_model=8, **strengths):
        return spare_copies(Problem(data, LOSSES["squared"], ElasticNet(**strengths)), in_model)

    bounds = np.array([-np.inf, -np.inf, -np.inf, -np.inf, 0.0])
    assert spare().tolist() == [True, True, False, False, False]
    assert spare(l1=np.array([1.0, 1.0, 1.0, 1.0, 9.0])).tolist() == [True, False, False, False, True]
    assert spare(lower=0.0).tolist() == [True, True, False, False, False]
    assert not spare(lower=bounds).any()  # what the others can do, that one cannot
    assert not spare(upper=3.0).any()
    assert not spare(l2=0.1).any()
    assert spare(in_model=0) is None

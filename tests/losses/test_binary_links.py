"""Probit and complementary log-log: against SciPy and mpmath far out, where digits are easily lost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr

import riata
from riata.errors import OptionError
from riata.losses import LINKS, log_odds, loss_of
from riata.losses.normal import normal_cdf, tail_curvature

FAR = np.concatenate([np.linspace(-9.0, 9.0, 61), [-1e4, -300.0, -40.0, 40.0, 300.0]])


def test_the_normal_tail_keeps_its_digits():
    loss, one = loss_of("probit"), np.ones(len(FAR))
    assert_allclose(loss.value(one, FAR), -log_ndtr(FAR), rtol=2e-14)
    assert_allclose(loss.value(-one, FAR), -log_ndtr(-FAR), rtol=2e-14)
    assert_allclose(normal_cdf(FAR), ndtr(FAR), rtol=1e-13)


def test_the_curvature_of_the_tail_keeps_its_digits():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for x in (0.0, 0.3, 2.0, 7.0, 40.0, 200.0):
            r = mpmath.npdf(x) / (mpmath.erfc(x / mpmath.sqrt(2)) / 2)
            assert_allclose(tail_curvature(np.array([x])), float(r * (r - x)), rtol=2e-15)


def test_rates_keep_their_digits():
    mpmath = pytest.importorskip("mpmath")
    loss, z = loss_of("cloglog"), np.array([-300.0, -30.0, -3.0, -0.1, 0.5, 3.0])
    with mpmath.workdps(300):
        e = [mpmath.exp(mpmath.mpf(float(each))) for each in z]
        value = [float(-mpmath.log(-mpmath.expm1(-each))) for each in e]
        pull = [each / mpmath.expm1(each) for each in e]
        bend = [float(s * (s + each - 1)) for s, each in zip(pull, e, strict=True)]
    one = np.ones(len(z))
    assert_allclose(loss.value(one, z), value, rtol=1e-14)
    assert_allclose(loss.derivative(one, z), [-float(s) for s in pull], rtol=1e-14)
    assert_allclose(loss.second_derivative(one, z), bend, rtol=1e-13)


@pytest.mark.parametrize("name", ["probit", "cloglog"])
def test_links_undo_themselves_and_know_where_classes_are_even(name):
    link, mean_y = LINKS[name], np.linspace(-0.98, 0.98, 9)
    assert_allclose(2.0 * link.mean(link.inverse(mean_y)) - 1.0, mean_y, atol=1e-12)
    assert_allclose(link.mean(np.array([link.even])), 0.5, atol=1e-15)
    assert_allclose(log_odds(link, np.array([link.even])), 0.0, atol=1e-15)


@pytest.mark.parametrize("name", ["probit", "cloglog"])
def test_without_a_penalty_it_is_maximum_likelihood(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    p = LINKS[name].mean(X @ [1.0, -0.5, 0.0] - 0.3)
    y = np.where(rng.random(300) < p, "yes", "no")
    found = riata.SparseClassifier(loss=name, alpha=0.0, tol=1e-10).fit(X, y)
    likelihood = {
        "probit": lambda z: log_ndtr(np.where(y == "yes", z, -z)),
        "cloglog": lambda z: np.where(y == "yes", np.log(-np.expm1(-np.exp(z))), -np.exp(z)),
    }[name]
    best = minimize(lambda v: -np.mean(likelihood(X @ v[:3] + v[3])), np.zeros(4), options={"gtol": 1e-9}).x
    assert_allclose([*found.coef_.ravel(), *found.intercept_], best, atol=1e-5)
    assert_allclose(found.predict_proba(X)[:, 1], LINKS[name].mean(X @ found.coef_[0] + found.intercept_))
    assert np.array_equal(found.predict(X) == "yes", found.predict_proba(X)[:, 1] > 0.5)


def test_a_stream_of_rates_asks_for_the_classes():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.array(["yes", "no"] * 20)
    learner = riata.SparseClassifier(loss="cloglog", solver="online", alpha=0.01)
    with pytest.raises(OptionError, match="where all classes are named at first"):
        learner.fit(riata.open(iter([(X, y)]), one_pass=True, task="classification"))
    learner.partial_fit(X, y, classes=["no", "yes"])
    assert learner.classes_.tolist() == ["no", "yes"]
    assert np.isfinite(learner.intercept_).all()


def test_rows_that_are_certain_to_the_last_bit_come_back():
    """At a rate of 1e5 neither slope nor curvature is left of a row, and a first step may well lead there."""
    rng = np.random.default_rng(30)
    X, y = (rng.random((40, 300)) < 0.1).astype(float), rng.random(40) < 0.2
    beside = {"offset": 0.5 * rng.normal(size=40), "sample_weight": rng.choice([0.1, 1.0, 5.0], size=40)}
    found = riata.SparseClassifier(loss="cloglog", alpha_ratio=0.1, nonnegative=True).fit(X, y, **beside)
    assert found.gap_ <= 1e-6

"""Kernels that are interpreted: the same models as compiled ones give, in the commands that ask, up to a fixed work."""

import subprocess
import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose

import riata
from riata import small_work
from riata.kernels.compiled import compiled
from riata.small_work import IN_A_COMMAND, SmallWork, interpreting, of_thread
from riata.training.small_fits import is_one_fit


def problem(loss, dtype):
    """Rows of eight features, of which one is copied and one is constant, with a target for the loss."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 8))
    X[:, 6], X[:, 7] = X[:, 0], 2.0
    z = X[:, 0] - 2.0 * X[:, 1] + 0.5 * X[:, 2]
    targets = {
        "squared": z + rng.normal(size=150),
        "huber": z + rng.standard_t(2, size=150),
        "logistic": np.where(z + rng.logistic(size=150) > 0, "yes", "no"),
        "poisson": rng.poisson(np.exp(0.3 * z)),
    }
    return riata.open(X.astype(dtype), targets[loss])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("loss", "strength"),
    [
        *((loss, {"alpha_ratio": 0.1}) for loss in ("squared", "logistic", "huber", "poisson")),
        ("squared", {"alpha_ratio": 0.0}),
        ("squared", {"alpha_ratio": 0.1, "fit_intercept": False, "nonnegative": True}),
        *((loss, {"k": 3}) for loss in ("squared", "logistic", "huber", "poisson")),
    ],
)
def test_both_ways_give_the_same_model(loss, strength, dtype):
    found = []
    for interpreted in (True, False):
        data = problem(loss, dtype)
        with interpreting(data) if interpreted else nullcontext():
            trained = riata.train(data, riata.Spec(loss=loss, **strength))
            if interpreted:
                assert 0 < of_thread.work.left < IN_A_COMMAND.work
        found.append(trained)
    small, usual = found
    assert_allclose(small.coef, usual.coef, rtol=1e-9, atol=1e-9)
    assert_allclose(small.intercept, usual.intercept, atol=1e-9)
    assert [stop.reason for stop in small.course.stops] == [stop.reason for stop in usual.course.stops]
    assert_allclose(small.course.gap or 0.0, usual.course.gap or 0.0, atol=1e-9)
    assert_allclose(small.course.objective, usual.course.objective, rtol=1e-9)


def test_only_few_numbers_of_few_features_are_small():
    for shape, small in (((1000, 50), True), ((1001, 50), False), ((20, 51), False)):
        with interpreting(riata.open(np.ones(shape), np.arange(shape[0]))):
            assert (of_thread.work is not None) == small
    assert of_thread.work is None


@compiled(interpretable=True)
def largest_quotient(x):
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, 1.0 / x[i])
    return largest


def test_work_is_counted_and_then_everything_is_compiled(monkeypatch):
    ran = []
    monkeypatch.setattr("riata.kernels.compiled.run", lambda function, args: ran.append(function))
    monkeypatch.setattr(of_thread, "work", SmallWork(2 * (small_work.CALL + 5)))
    assert [largest_quotient(np.full(5, 0.5)) for _ in range(3)] == [None, None, 2.0]
    assert ran == [largest_quotient.interpreted] * 2


def test_each_thread_asks_for_itself(monkeypatch):
    """Whose work came first would depend on luck, and bits with it."""
    monkeypatch.setattr(of_thread, "work", SmallWork(1000))
    there = []
    thread = threading.Thread(target=lambda: there.append(of_thread.work))
    thread.start()
    thread.join()
    assert there == [None]


def test_what_is_interpreted_gives_plain_numbers_and_no_warning(monkeypatch):
    monkeypatch.setattr(of_thread, "work", SmallWork(1000))
    assert type(largest_quotient(np.full(5, 0.5))) is float
    assert largest_quotient(np.zeros(5)) == np.inf


@pytest.mark.parametrize(
    ("options", "one"),
    [
        ({"k": 2}, True),
        ({"alpha": 0.1, "solver": "exact"}, True),
        ({"k": 2, "checkpoint": "folder"}, False),
        ({"k": "auto"}, False),
        ({"alpha": "auto"}, False),
        ({"alpha": 0.1, "solver": "cd"}, False),
    ],
)
def test_a_single_fit_from_start_to_end_is_interpreted(options, one):
    assert is_one_fit(problem("squared", np.float64), riata.Spec(**options)) == one


def test_more_than_two_classes_are_many_fits():
    rows = riata.open(np.ones((6, 2)), np.array(list("abcabc")))
    assert not is_one_fit(rows, riata.Spec(loss="logistic", k=1))


def test_a_first_small_fit_in_python_does_not_even_import_numba():
    fits = """
import sys, numpy as np, riata
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 10))
y = X @ np.arange(10.0) + 10.0 * rng.normal(size=300)
riata.SparseRegressor(alpha_ratio=0.1).fit(X, y)
riata.SparseRegressor(k=3).fit(X, y)
riata.SparseClassifier(alpha_ratio=0.1).fit(X, y > 0)
riata.SparseClassifier(k=3).fit(X, y > 0)
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", fits], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr

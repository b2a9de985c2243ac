"""Statistics in place of data: they add, subtract, travel through files, and give the same models."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from chunked import Chunked
from convex_problems import Chunks, make
from riata.data.fold_rules import numbered
from riata.data.folds import by_position, fold_of
from riata.data.gram import Gram, gram_of, grams_of
from riata.data.in_memory import InMemory
from riata.data.row_marks import MarksGiven
from riata.data.statistics import load_statistics, statistics_of
from riata.errors import DataError, OptionError
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec


def assert_same(a: Gram, b: Gram):
    for name in ("weight", "mean", "y_mean", "xx", "xy", "yy", "rows"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.fixture
def rows():
    X, y = make("squared", n=150, d=12)
    X[:, 4] = X[:, 3]  # twins
    X[:, 5] = 2.0  # constant
    return X + 100.0, y, np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_are_the_products_about_the_means_in_one_pass(rows, layout):
    X, y, weight = rows
    data = Chunks(layout(X), y, weight)
    gram = gram_of(data)
    assert data.passes == 1
    mean = np.average(X, axis=0, weights=weight)
    centred, target = X - mean, y - np.average(y, weights=weight)
    assert_allclose(gram.mean, mean)
    assert_allclose(gram.xx, (weight * centred.T) @ centred, atol=1e-8)
    assert_allclose(gram.xy, (weight * centred.T) @ target, atol=1e-8)
    assert_allclose(gram.yy, weight @ target**2)
    assert gram.rows == len(y)


def test_add_and_subtract(rows):
    whole, first = gram_of(InMemory(*rows)), gram_of(InMemory(*(part[:40] for part in rows)))
    rest = gram_of(InMemory(*(part[40:] for part in rows)))
    assert_same(first + rest, whole)
    assert_same(whole - first, rest)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": False, "l1_ratio": 0.5}], ids=str)
def test_give_the_same_models_as_the_data(rows, options):
    data = InMemory(*rows)
    spec = Spec(alpha_ratio=0.02, tol=1e-10, **options)
    ours, theirs = fit(gram_of(data).as_data(), spec), fit(data, spec)
    assert_allclose(ours.alpha, theirs.alpha, rtol=1e-8)
    assert_allclose(ours.result.objective, theirs.result.objective, rtol=1e-8)
    X = rows[0]
    assert_allclose(
        X @ ours.result.coef + ours.result.intercept, X @ theirs.result.coef + theirs.result.intercept, atol=1e-4
    )
    assert_allclose(
        path_of_margin(gram_of(data).as_data(), spec, length=10).losses,
        path_of_margin(data, spec, length=10).losses,
        rtol=1e-6,
    )


def test_stand_in_rows_have_the_statistics(rows):
    gram = gram_of(InMemory(*rows))
    stand_in = gram.as_data()
    assert stand_in.n_rows <= rows[0].shape[1] + 2
    back = gram_of(stand_in)
    for name in ("weight", "mean", "y_mean", "xx", "xy", "yy"):
        assert_allclose(getattr(back, name), getattr(gram, name), rtol=1e-9, atol=1e-7, err_msg=name)


def test_mean_loss_is_that_of_the_rows(rows):
    X, y, weight = rows
    W, b = np.random.default_rng(1).normal(size=(2, X.shape[1])), np.array([3.0, -1.0])
    expected = [np.average(0.5 * (y - X @ w - c) ** 2, weights=weight) for w, c in zip(W, b, strict=True)]
    assert_allclose(gram_of(InMemory(*rows)).mean_loss(W, b), expected, rtol=1e-9)


@pytest.mark.parametrize("chunk_rows", [7, 1000])
def test_of_folds_are_those_of_their_rows(rows, chunk_rows):
    folds = fold_of(np.arange(len(rows[1])), 3, seed=4)
    for fold, gram in enumerate(grams_of(Chunked(*rows[:2], chunk_rows, rows[2]), by_position(3, seed=4))):
        assert_same(gram, gram_of(InMemory(*(part[folds == fold] for part in rows))))


def test_more_folds_than_rows_leave_some_empty(rows):
    few = InMemory(*(part[:3] for part in rows))
    assert_same(statistics_of(few, 5).total, gram_of(few))


def test_through_a_file(rows, tmp_path):
    found = statistics_of(InMemory(*rows, feature_names=[f"f{j}" for j in range(12)]), n_folds=3)
    found.save(tmp_path / "day.npz")
    back = load_statistics(tmp_path / "day.npz")
    for ours, theirs in zip(back.folds, found.folds, strict=True):
        assert_same(ours, theirs)
    assert (back.feature_names, back.readings) == (found.feature_names, found.readings)


def test_folds_of_days_add_up_and_a_day_can_be_taken_back(rows):
    monday, tuesday = (
        statistics_of(InMemory(*(part[days] for part in rows)), 3) for days in (slice(70), slice(70, 150))
    )
    both = tuesday + monday
    for fold in range(3):
        assert_same(both.folds[fold], monday.folds[fold] + tuesday.folds[fold])
        assert_same((both - monday).folds[fold], tuesday.folds[fold])
    in_one = statistics_of(InMemory(*rows), 3)
    without = in_one - monday  # nobody knows in which folds of these Monday's rows were
    assert len(without.folds) == 1
    assert_same(without.total, tuesday.total)


def test_what_is_refused(rows, tmp_path):
    gram = gram_of(InMemory(*rows))
    with pytest.raises(DataError, match="of more rows only"):
        gram - gram
    with pytest.raises(DataError, match="different features"):
        gram + gram_of(InMemory(rows[0][:, :5], *rows[1:]))
    named = statistics_of(InMemory(*rows, feature_names=[f"f{j}" for j in range(12)]))
    with pytest.raises(DataError, match="different features"):
        named + statistics_of(InMemory(*rows))
    with pytest.raises(OptionError, match="12 features in 5 folds need 0 MB, more than the budget of 0 MB"):
        statistics_of(InMemory(*rows), 5, memory=100)
    with pytest.raises(DataError, match="there is no file"):
        load_statistics(tmp_path / "nothing")
    (tmp_path / "other").write_text("text")
    np.savez(tmp_path / "foreign.npz", a=1)
    for name in ("other", "foreign.npz"):
        with pytest.raises(DataError, match="holds no statistics that riata saved"):
            load_statistics(tmp_path / name)


def test_folds_of_a_column_add_up_by_their_numbers(rows, tmp_path):
    def day(numbers):
        data = InMemory(*(part[: len(numbers)] for part in rows))
        return statistics_of(data, folds=numbered(MarksGiven({"folds": numbers}, len(numbers))["folds"]))

    monday, tuesday = day(np.arange(20) % 2), day(1 + np.arange(20) % 2)
    tuesday.save(tmp_path / "tuesday.npz")
    for other in (tuesday, load_statistics(tmp_path / "tuesday.npz")):
        both = monday + other
        assert both.plan.values == (0, 1, 2)
        assert [gram.rows for gram in both.folds] == [10, 20, 10]
        assert_same(both.folds[0], monday.folds[0])
        assert_same(both.folds[1], monday.folds[1] + tuesday.folds[0])
        assert_same(both.learnt(2), monday.total + tuesday.folds[0])
    assert (both + both - both).plan.values == (0, 1, 2)
    kept = day(np.arange(20) % 3 - 1) + monday  # rows of -1 are in no fold
    assert kept.plan.values == (-1, 0, 1)
    assert kept.plan.n_folds == 2

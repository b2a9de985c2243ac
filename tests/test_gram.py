"""Statistics in place of data: they add, subtract, travel through files, and give the same models."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from riata.data.gram import Gram, gram_of, load_gram
from riata.data.memory import InMemory
from riata.errors import DataError, OptionError
from riata.fitting import Spec, fit
from riata.path import path
from test_exact import Chunks, make


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
        path(gram_of(data).as_data(), spec, length=10).losses, path(data, spec, length=10).losses, rtol=1e-6
    )


def test_mean_loss_is_that_of_the_rows(rows):
    X, y, weight = rows
    w, b = np.random.default_rng(1).normal(size=X.shape[1]), 3.0
    expected = np.average(0.5 * (y - X @ w - b) ** 2, weights=weight)
    assert_allclose(gram_of(InMemory(*rows)).mean_loss(w, b), expected, rtol=1e-9)


def test_through_a_file(rows, tmp_path):
    gram = gram_of(InMemory(*rows, feature_names=[f"f{j}" for j in range(12)]))
    gram.save(tmp_path / "day.npz")
    back = load_gram(tmp_path / "day.npz")
    assert_same(back, gram)
    assert back.feature_names == gram.feature_names


def test_what_is_refused(rows, tmp_path):
    gram = gram_of(InMemory(*rows))
    with pytest.raises(DataError, match="of more rows only"):
        gram - gram
    with pytest.raises(DataError, match="different features"):
        gram + gram_of(InMemory(rows[0][:, :5], *rows[1:]))
    with pytest.raises(OptionError, match="need 0 MB, more than the budget of 0 MB"):
        gram_of(InMemory(*rows), memory=100)
    (tmp_path / "other").write_text("text")
    with pytest.raises(DataError, match="cannot be read as statistics"):
        load_gram(tmp_path / "other")
    np.savez(tmp_path / "foreign.npz", a=1)
    with pytest.raises(DataError, match="holds no statistics that riata saved"):
        load_gram(tmp_path / "foreign.npz")

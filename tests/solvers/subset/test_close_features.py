"""Features that are nearly the same: best k is right, or says what it did not put together and what that costs."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import riata
from riata.errors import ModelWarning

DISTANCES = [1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-11, 1e-12]


def least(X, y, k):
    """The least objective of k features, each made orthogonal to those before in numbers of more digits."""
    rest, best = (y - y.mean()).astype(np.longdouble), np.inf
    for some in itertools.combinations(range(X.shape[1]), k):
        left, units = rest, []
        for j in some:
            column = (X[:, j] - X[:, j].mean()).astype(np.longdouble)
            for unit in units * 3:
                column = column - unit * (unit @ column)
            units.append(column / np.sqrt(column @ column))
        for unit in units * 2:
            left = left - unit * (unit @ left)
        best = min(best, float(left @ left) / (2 * len(y)))
    return best


def rows(distance, seed, matters, n=120):
    """Two columns that differ by so much, in other units; the target may depend on the difference."""
    rng = np.random.default_rng(seed)
    X, by = rng.normal(size=(n, 5)), rng.normal(size=n)
    X[:, 3] = X[:, 0] + distance * by
    return X, 2.0 * X[:, 1] + matters * by + 0.3 * rng.normal(size=n)


def fitted(X, y, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = riata.SparseRegressor(**options).fit(X, y)
    return model, [str(one.message) for one in said if isinstance(one.message, ModelWarning)]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("distance", DISTANCES)
def test_it_is_right_or_says_so(distance, k, make):
    for seed, matters in itertools.product(range(2), (0.0, 1.0)):
        X, y = rows(distance, seed, matters)
        model, said = fitted(make(X), y, k=k)
        found = np.mean((y - model.predict(make(X))) ** 2) / 2
        better = (found - least(X, y, k)) / found
        assert bool(said) == (better > 2e-6), (seed, better, said)
        if said:
            (told,) = re.findall(r"by about ([0-9.e-]+) of itself", said[0])
            assert float(told) == pytest.approx(better, rel=0.05, abs=1e-5)
            assert "'x0'" in said[0]
            assert "'x3'" in said[0]


@pytest.mark.parametrize("copy", ["the same", "a sum", "single precision of the same", "another unit"])
def test_columns_that_differ_by_rounding_are_no_reason_to_say_anything(copy, rng):
    X = rng.normal(size=(150, 5))
    of = {"the same": X[:, 0], "a sum": X[:, 0] + X[:, 1], "another unit": 0.3048 * X[:, 0]}
    X[:, 3] = of.get(copy, X[:, 0])
    if copy.startswith("single"):
        X = X.astype(np.float32)
    _, said = fitted(X, X[:, 0] - X[:, 1] + X[:, 2] + rng.normal(size=150), k=3)
    assert not said


def test_names_are_told_and_their_difference_helps(rng):
    X, y = rows(1e-6, 0, 1.0)
    frame = pd.DataFrame(X, columns=["inner", "b", "c", "outer", "e"])
    model, (said,) = fitted(frame, y, k=3)
    assert "'inner'" in said
    assert "'outer'" in said
    other = frame.assign(difference=frame["outer"] - frame["inner"]).drop(columns="outer")
    with_it, more = fitted(other, y, k=3)
    assert not more
    assert with_it.score(other, y) > model.score(frame, y) + 0.1


def test_other_losses_and_choices_of_k_say_it_too(rng):
    X, y = rows(1e-6, 0, 1.0, n=300)
    with pytest.warns(ModelWarning, match="so nearly the same"):
        riata.SparseClassifier(k=3).fit(X, y > np.median(y))
    X, y = rows(1e-6, 0, 4.0, n=300)
    with pytest.warns(ModelWarning, match="so nearly the same"):
        riata.SparseRegressor(k="auto", k_max=3, cv=3, ridge=0.0).fit(X, y + 2.0 * X[:, 2])


def test_a_ridge_leaves_nothing_to_gain():
    X, y = rows(1e-6, 0, 1.0)
    _, said = fitted(X, y, k=3, ridge=1e-3)
    assert not said

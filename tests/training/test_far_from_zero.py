"""A target or columns far from zero: the right model, or an honest word that rounding hides the gap."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from chunked import Chunked
from riata import SparseClassifier, SparseRegressor
from riata.data.in_memory import InMemory
from riata.errors import DataError
from riata.training.fitting import fit
from riata.training.spec import Spec

WAYS = {
    "alpha": {"alpha": 0.1},
    "k": {"k": 2},
    "huber": {"alpha": 0.1, "loss": "huber"},
    "chosen alpha": {"alpha": "auto", "n_alphas": 10},
    "chosen k": {"k": "auto", "k_max": 4},
    "debiased": {"alpha": 0.1, "debias": True},
}


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(300, 8))
    return X, 3 * X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=300)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("offset", [1e11, 1e12])
def test_a_target_far_from_zero(rows, way, offset):
    X, y = rows
    y = (y + offset) - offset  # the digits that the sum leaves
    near, far = (SparseRegressor(**WAYS[way]).fit(X, target) for target in (y, y + offset))
    assert far.converged_
    assert_allclose(far.coef_, near.coef_, atol=1e-4)
    assert_allclose(far.intercept_ - offset, near.intercept_, atol=1e-3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_far_from_zero(rows, way, layout):
    X, y = rows
    offset = 1e8 * (np.arange(8) % 2)
    X = (X + offset) - offset
    near, far = SparseRegressor(**WAYS[way]).fit(X, y), SparseRegressor(**WAYS[way]).fit(layout(X + offset), y)
    assert far.converged_
    assert_allclose(far.coef_, near.coef_, atol=1e-4)
    assert_allclose(far.predict(layout(X + offset)), near.predict(X), atol=1e-4)


def test_validation_rows_are_counted_from_the_same_origin(rows):
    X, y = rows
    model = SparseRegressor(alpha="auto", select="validation", n_alphas=10)
    near = model.fit(X[:200], y[:200], validation=(X[200:], y[200:])).coef_
    far = model.fit(X[:200], y[:200] + 1e9, validation=(X[200:], y[200:] + 1e9)).coef_
    assert_allclose(far, near, atol=1e-4)
    assert_allclose(model.path_.intercepts, 1e9, rtol=1e-8)


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("offset", [1e11, 1e12, 2e12])
def test_a_gap_that_rounding_hides_is_no_certificate(rows, loss, offset):
    X, y = rows
    result = fit(InMemory(X, y + offset), Spec(alpha=0.1, loss=loss)).result
    expected = fit(InMemory(X, y), Spec(alpha=0.1, loss=loss)).result
    assert not result.converged
    assert "rounding" in result.reason
    assert_allclose(result.coef, expected.coef, atol=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_dense_columns_far_from_zero_of_a_classifier(rows, classes):
    """Margins cancel the means of the columns by the intercept: of 10^9 deviations they would have no digits left."""
    X, y = rows
    X, labels = (X + 1e9) - 1e9, np.digitize(y, [0.0] if classes == 2 else [-2.0, 2.0])
    near, far = (SparseClassifier(alpha=0.01).fit(rows, labels) for rows in (X, X + 1e9))
    assert far.converged_
    assert_allclose(far.coef_, near.coef_, atol=1e-9)
    assert_allclose(far.predict_proba(X + 1e9), near.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("offset", [1e13, 1e15])
@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge"])
def test_columns_that_would_pass_for_constants(rows, layout, offset, loss):
    """By their mean and deviation they cannot be told from rounding: they were left out without a word."""
    X, y = rows
    X = (X + offset) - offset  # the digits that the sum leaves
    kind = SparseRegressor if loss == "squared" else SparseClassifier
    y = y if loss == "squared" else y > 0
    near = kind(alpha_ratio=0.1, loss=loss).fit(X, y)
    with pytest.warns(UserWarning, match=r"'x0' and 7 more columns vary by less than 1e-12 of the mean"):
        far = kind(alpha_ratio=0.1, loss=loss).fit(layout(X + offset), y)
    assert np.count_nonzero(near.coef_) >= 2
    assert_allclose(far.coef_, near.coef_, atol=1e-4)


def test_such_columns_in_several_chunks(rows, tmp_path):
    X, y = rows
    X = (X + 1e15) - 1e15
    near = SparseRegressor(alpha_ratio=0.1).fit(X, y)
    with pytest.warns(UserWarning, match="1e-12 of the mean"):
        far = SparseRegressor(alpha_ratio=0.1).fit(Chunked(X + 1e15, y, 70))
    assert_allclose(far.coef_, near.coef_, atol=1e-4)


def test_constants_are_constants_at_any_size(rows):
    X, y = rows
    X = np.column_stack([X, np.full((300, 3), [0.1, 1e15 / 3, -7e-9])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparseRegressor(alpha=0.1).fit(X, y, sample_weight=np.linspace(0.1, 3.0, 300))
    assert not model.coef_[8:].any()


@pytest.mark.parametrize("factor", [1e-300, 1e-139, 1e139, 1e300])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_weights_whose_products_vanish_or_overflow_are_refused(rows, factor, loss):
    """With columns of 1e-100 they gave a model without them."""
    X, y = rows
    kind, y = (SparseRegressor, y) if loss == "squared" else (SparseClassifier, y > 0)
    with pytest.raises(DataError, match="the weights add up to"):
        kind(k=2, loss=loss).fit(X, y, sample_weight=np.full(300, factor))


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_columns_of_short_floats_none_of_which_varies(loss):
    model = SparseClassifier(k=2, loss=loss).fit(np.zeros((40, 4), np.float32), np.arange(40) % 2)
    assert not model.coef_.any()

"""Choosing alpha or k on rows that leave little to choose by: it ends with a model, or with a sentence."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_problems import degenerate
from riata import SparseClassifier, SparseRegressor
from riata.errors import DataError, OptionError


@settings(max_examples=8)
@given(case=degenerate(), by=st.sampled_from(["alpha", "k"]), classes=st.sampled_from([1, 2, 3]),
       sparse=st.booleans(), select=st.sampled_from(["cv", "bic"]))  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_a_model_or_a_sentence(case, by, classes, sparse, select):
    X, rng = case
    y = rng.normal(size=len(X)) if classes == 1 else rng.integers(0, classes, len(X))
    kind = SparseRegressor if classes == 1 else SparseClassifier
    model = kind(**{by: "auto"}, select=select, cv=2)
    try:
        model.fit(sp.csr_array(X) if sparse else X, y)
    except (DataError, OptionError):  # too few rows, or of one class only
        return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    if by == "alpha" and classes < 3:
        assert model.path_.gaps.max() <= 1e-6


@pytest.mark.parametrize("select", ["cv", "cv-1se"])
def test_what_the_penalty_shrinks_where_there_is_no_noise_is_pointed_out(rng, select):
    X = rng.normal(size=(80, 6))
    y = X[:, :2].sum(axis=1)
    model = SparseRegressor(alpha="auto", select=select).fit(X, y)
    assert model.selection_.reason.endswith("as it leaves hardly any loss: debias='auto' may find a better one")
    debiased = SparseRegressor(alpha="auto", select=select, debias="auto").fit(X, y)
    assert 1.0 - debiased.score(X, y) < 1e-9 < 1.0 - model.score(X, y)
    assert "debias='auto'" not in debiased.selection_.reason
    noisy = SparseRegressor(alpha="auto", select=select).fit(X, y + rng.normal(size=80))
    assert "debias" not in noisy.selection_.reason

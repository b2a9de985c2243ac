"""Rows of weight zero do not count, whatever they hold."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import riata
from riata.data.columns.column import BadRow


def test_a_row_of_weight_zero_may_have_a_label_of_its_own(rng):
    X, labels, weight = rng.normal(size=(40, 2)), np.array(["a", "b"] * 20, dtype=object), np.ones(40)
    labels[7], weight[7] = "new", 0.0
    data = riata.open(pa.table({"p": X[:, 0], "q": X[:, 1], "y": labels.tolist(), "w": weight}), target="y", weight="w")
    assert list(data.encoding.target.classes) == ["a", "b"]
    assert data.n_rows == 39
    assert sum(chunk.n_rows for chunk in data.visit()) == 39


def test_the_row_of_an_unknown_label_is_named_beside_rows_of_weight_zero(rng):
    table = {"p": rng.normal(size=6), "y": ["a", "b", "a", "b", "a", "b"], "w": [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]}
    data = riata.open(pa.table(table), target="y", weight="w")
    later = table | {"y": ["a", "b", "a", "c", "a", "b"]}
    (batch,) = pa.table(later).to_batches()
    with pytest.raises(BadRow) as caught:
        data.encoding.roles(batch)
    assert caught.value.row == 3


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("label", ["A", "c"])  # before the others, and after them
def test_so_it_may_in_an_estimator(rng, label, as_frame):
    X, labels, weight = rng.normal(size=(60, 3)), np.array(["a", "b"] * 30, dtype=object), rng.uniform(1, 2, 60)
    X[:, 0] += np.where(labels == "a", 1.0, 0.0)
    labels[5], weight[5] = label, 0.0
    rows = pd.DataFrame(X, columns=["p", "q", "r"]).assign(city=["x", "y", "z"] * 20) if as_frame else X
    model = riata.SparseClassifier(alpha_ratio=0.1).fit(rows, labels, sample_weight=weight)
    kept = np.arange(60) != 5
    other = riata.SparseClassifier(alpha_ratio=0.1).fit(rows[kept], labels[kept], sample_weight=weight[kept])
    assert list(model.classes_) == ["a", "b"]
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-8)

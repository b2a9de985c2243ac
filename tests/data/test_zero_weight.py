"""Rows of weight zero do not count, whatever they hold."""

import numpy as np
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

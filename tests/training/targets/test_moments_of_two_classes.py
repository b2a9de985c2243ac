"""Two classes need one pass for the moments of their columns: those of labels are those of one against the other."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import riata
from riata.training.targets.several_classes import one_against_rest


@pytest.fixture
def data(tmp_path, rng):
    X = rng.normal(3.0, 2.0, size=(30_000, 6))
    labels = np.where(X[:, 0] + rng.normal(size=30_000) > 3.5, "yes", "no")
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(6)} | {"y": labels}), tmp_path / "rows.parquet")
    return riata.open(tmp_path / "rows.parquet", "y", memory="1MB", cache=False)


@pytest.mark.parametrize("position", [0, 1])
def test_they_are_those_of_rows_that_say_one_or_minus_one(data, position):
    assert not data.cheap_passes
    y = np.concatenate([np.where(chunk.y == position, 1.0, -1.0) for chunk in data.visit()])
    X = np.concatenate([np.asarray(chunk.X.array) for chunk in data.visit()])
    before = data.passes
    view = one_against_rest(data, position, np.ones(2))
    found = view.moments
    assert found.mean is data.moments.mean
    assert data.passes == before + 1
    assert_allclose(found.y_mean, y.mean(), atol=1e-12)
    assert_allclose(found.y_squares, np.sum((y - y.mean()) ** 2))
    assert_allclose(found.cross, (X - X.mean(axis=0)).T @ (y - y.mean()), rtol=1e-9)


def test_weights_of_classes_need_moments_of_their_own(data):
    view = one_against_rest(data, 1, np.array([1.0, 3.0]))
    y = np.concatenate([chunk.y for chunk in data.visit()])
    assert_allclose(view.moments.weight, np.sum(np.where(y == 1, 3.0, 1.0)))

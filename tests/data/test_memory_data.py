"""Data in memory: moments, sums, weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import riata
from problems import LAYOUTS, small
from riata.data import in_memory as memory
from riata.data.folds import by_position, some_rows
from riata.data.gram import gram_of
from riata.data.in_memory import InMemory
from riata.errors import DataError
from riata.matrices.host import as_matrix
from riata.training.fitting import fit


@pytest.mark.parametrize("block_bytes", [640, 1 << 20])
def test_a_constant_column_has_no_scale_of_its_own(block_bytes, rng, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_BYTES", block_bytes)
    for _ in range(20):
        X, weight = rng.normal(size=(80, 3)), rng.uniform(0.1, 3.0, size=80)
        X[:, 1] = rng.normal()
        for rows in (X, sp.csr_array(X)):
            assert InMemory(rows, X[:, 0], weight).moments.scale[1] == 1.0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("block_bytes", [64, 1 << 20])
def test_moments_and_gram(layout, block_bytes, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_BYTES", block_bytes)
    case = small()
    X, y, s = case.X, case.y, case.weight
    moments = case.data(layout).moments
    mean = np.average(X, axis=0, weights=s)
    assert_allclose(moments.mean, mean, atol=1e-7)
    assert_allclose(moments.scale**2, np.average((X - mean) ** 2, axis=0, weights=s), rtol=1e-6)
    gram = gram_of(case.data(layout))
    A, c, q = gram.normal(fit_intercept=False)
    assert_allclose(A, (X * s[:, None]).T @ X / s.sum(), atol=1e-6)
    assert_allclose(c, (X * s[:, None]).T @ y / s.sum(), atol=1e-6)
    assert_allclose(q, s @ y**2 / s.sum())


@pytest.mark.parametrize("as_layout", [np.asarray, sp.csr_array])
def test_a_large_mean_does_not_cost_the_variance(as_layout, rng):
    X = 1e8 + rng.normal(size=(1000, 3))
    moments = InMemory(as_layout(X), np.zeros(1000)).moments
    assert_allclose(moments.scale, X.std(axis=0), rtol=1e-6)


def test_a_constant_column_has_scale_one():
    X = np.full((7, 2), 0.1)
    assert_allclose(InMemory(X, np.zeros(7)).moments.scale, 1.0)


def test_rows_of_weight_zero_are_never_seen(rng):
    X, y = rng.normal(size=(10, 3)), rng.normal(size=10)
    data = InMemory(X, y, np.arange(10) % 2)
    assert data.n_rows == 5
    assert_allclose(next(iter(data.visit())).X.array, X[1::2])


@pytest.mark.parametrize("as_layout", [np.asarray, sp.csr_array])
def test_unit_rows(as_layout, rng):
    X = rng.normal(size=(5, 4))
    X[2] = 0
    units = as_matrix(as_layout(X)).unit_rows().array
    units = units.toarray() if sp.issparse(units) else units
    assert_allclose(np.linalg.norm(units, axis=1), [1, 1, 0, 1, 1])
    assert_allclose(units[0] * np.linalg.norm(X[0]), X[0])


def test_every_row_read_is_counted(rng):
    data = InMemory(rng.normal(size=(10, 3)), rng.normal(size=10))
    list(data.visit())
    data.sum(lambda chunk: chunk.n_rows)
    assert data.passes == 2


def test_a_budget_reaches_what_is_made_of_the_data(tmp_path, rng, monkeypatch):
    """Also where the file fits in memory, and for every view: solvers keep to it."""
    np.save(tmp_path / "rows.npy", rng.normal(size=(50, 4)))
    data = riata.open(tmp_path / "rows.npy", target=3, memory="64MB")
    assert isinstance(data, InMemory)
    views = [data, data.take(np.arange(20)), data.map(lambda chunk: chunk), some_rows(data, by_position(3).scored(0))]
    assert [view.memory for view in views] == [64_000_000] * 4
    assert riata.open(np.eye(4), target=np.arange(4.0), memory="2MB").memory == 2_000_000
    assert riata.open(tmp_path / "rows.npy", target=3).memory is None  # nobody asked, and nothing is read again
    asked = []
    monkeypatch.setattr(
        "riata.training.one_margin.fit", lambda data, spec, progress: asked.append(spec) or fit(data, spec)
    )
    riata.SparseRegressor(k=2).fit(data)
    riata.SparseRegressor(k=2, memory="32MB").fit(data)
    assert [spec.memory_bytes for spec in asked] == [64_000_000, 32_000_000]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_an_array_of_another_width_than_was_said_is_refused(kind, rng):
    X = kind(rng.normal(size=(9, 4)))
    assert riata.open(X, np.arange(9.0), n_features=4).n_features == 4
    with pytest.raises(DataError, match="there are 4 features, and n_features says 7"):
        riata.open(X, np.arange(9.0), n_features=7)

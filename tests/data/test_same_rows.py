"""The same rows give the same coefficients, whatever they come from and however they are cut."""

import numpy as np
import pytest
from catalogue import N_FEATURES, N_ROWS, SOURCES, make_rows
from numpy.testing import assert_allclose

from riata.data.in_memory import InMemory
from riata.data.opening.open import open_data
from riata.data.out_of_core import OutOfCore
from riata.training.fitting import fit
from riata.training.spec import Spec


def coefficients(data):
    result = fit(data, Spec(alpha=0.05, solver="cd", tol=1e-13)).result
    return np.append(result.coef, result.intercept)


@pytest.fixture(scope="module")
def expected():
    X, y = make_rows(np.random.default_rng(5))
    return coefficients(InMemory(X, y))


@pytest.mark.parametrize("memory", ["512MB", "1MB"])
@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_coefficients(name, memory, tmp_path, expected, request):
    if memory == "1MB":
        request.getfixturevalue("larger_than_memory")
    X, y = make_rows(np.random.default_rng(5))
    source, target = SOURCES[name](X, y, tmp_path)
    data = open_data(source, target, memory=memory)
    assert (data.n_rows, data.n_features) == (N_ROWS, N_FEATURES)
    if memory == "1MB" and not isinstance(data, InMemory):
        assert isinstance(data, OutOfCore)
        assert data.n_chunks > 5
    assert_allclose(coefficients(data), expected, atol=1e-8)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("name", ["parquet", "npy", "svmlight from 1", "arrow table"])
def test_chunks_come_in_the_order_asked_for(name, cache, tmp_path, larger_than_memory):
    X, y = make_rows(np.random.default_rng(5))
    source, target = SOURCES[name](X, y, tmp_path)
    data = open_data(source, target, memory="1MB", cache=cache)
    starts = np.arange(data.n_chunks) * data.chunk_rows
    order = np.random.default_rng(0).permutation(data.n_chunks)
    seen = np.concatenate([chunk.y for chunk in data.visit(order)])
    if not cache and name in ("parquet", "svmlight from 1"):  # text and Parquet are read as they lie
        assert_allclose(seen, y)
    else:
        assert_allclose(seen, np.concatenate([y[s : s + data.chunk_rows] for s in starts[order]]))


def test_an_abandoned_first_pass_is_started_again(tmp_path, larger_than_memory):
    X, y = make_rows(np.random.default_rng(5))
    source, target = SOURCES["csv"](X, y, tmp_path)
    data = open_data(source, target, memory="1MB")
    next(data.visit())
    assert sum(chunk.n_rows for chunk in data.visit()) == N_ROWS
    assert sum(chunk.n_rows for chunk in data.visit()) == N_ROWS

"""One pass finds the moments of one class against the rest, for every class."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from chunked import Chunked
from riata import SparseClassifier
from riata.data.dataset import Columns, Dataset
from riata.data.in_memory import InMemory
from riata.matrices.matrix import Matrix
from riata.training.targets.class_moments import ClassMoments
from riata.training.targets.several_classes import one_against_rest

N, D, N_CLASSES = 120, 6, 5
NAMES = ("weight", "mean", "squares", "cross", "y_mean", "y_squares")


@pytest.fixture
def rows(rng):
    """Columns of several means and scales, some entries zero; classes; weights of rows."""
    X = (rng.normal(size=(N, D)) + np.arange(D)) * 10.0 ** np.arange(-2, D - 2)
    X[rng.random((N, D)) < 0.3] = 0.0
    y = np.argmax(X / X.std(axis=0) + rng.normal(size=(N, D)), axis=1) % N_CLASSES
    y[:N_CLASSES] = np.arange(N_CLASSES)
    return X, y.astype(float), rng.uniform(0.5, 2.0, size=N)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("source", [InMemory, lambda X, y, weight: Chunked(X, y, 17, weight)])
def test_they_are_those_of_each_class(rows, rng, layout, source):
    X, y, weight = rows
    data, of_classes = source(layout(X), y, weight), rng.uniform(0.5, 2.0, size=N_CLASSES)
    shared = ClassMoments(data, of_classes)
    assert shared.worth_sharing
    for position in range(N_CLASSES):
        expected = one_against_rest(data, position, of_classes).moments
        found = one_against_rest(data, position, of_classes, shared).moments
        unit = {"cross": np.sqrt(expected.squares * expected.y_squares) + expected.weight * np.abs(expected.mean)}
        for name in NAMES:
            error = np.abs(getattr(found, name) - getattr(expected, name))
            assert np.all(error <= 1e-12 * unit.get(name, np.abs(getattr(expected, name)) + 1e-300)), name
        narrow = Columns(one_against_rest(data, position, of_classes), np.empty(0, dtype=np.int64)).moments
        assert_allclose(shared.of(position, target_only=True).y_squares, narrow.y_squares, rtol=1e-12)


def test_a_class_without_weight_is_left_to_itself(rows):
    X, y, weight = rows
    assert not ClassMoments(InMemory(X, y, weight), np.array([1.0, 0.0, 1.0, 1.0, 1.0])).worth_sharing
    assert not ClassMoments(InMemory(X, y % 2, weight), np.ones(2)).worth_sharing


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_five_classes_take_hardly_more_passes_for_moments_than_two(rows, class_weight, wide, monkeypatch):
    """Every chunk whose moments are found is counted, that of the target alone in wide data too. Those of two classes
    that weigh the same are known from those of all rows, without a pass of their own."""
    X, y, weight = rows
    monkeypatch.setattr(Dataset, "wide", wide)
    found, moments = [], Matrix.moments

    def counting(matrix, *arguments):
        found.append(matrix)
        return moments(matrix, *arguments)

    monkeypatch.setattr(Matrix, "moments", counting)
    chunks = {}
    for n_classes in (2, N_CLASSES):
        found.clear()
        data = Chunked(sp.csr_array(X), y % n_classes, 17, weight, classes=np.arange(n_classes))
        of_classes = {"class_weight": class_weight, "standardize": not wide, "loss": "logistic"}
        SparseClassifier(alpha_ratio=0.1, **of_classes).fit(data)
        chunks[n_classes] = len(found)
    assert chunks[2] > 0
    assert chunks[N_CLASSES] == chunks[2] + (data.n_chunks if class_weight is None else 0)


def test_columns_far_from_zero_keep_their_digits(rng):
    codes = rng.integers(0, 3, 3000).astype(float)
    X = rng.normal(size=(3000, 3)) + 1e8
    shared = ClassMoments(InMemory(X, codes), np.ones(3)).of(0, False).cross
    alone = InMemory(X, np.where(codes == 0, 1.0, -1.0)).moments.cross
    np.testing.assert_allclose(shared, alone, atol=1e-9 * np.sqrt(3000 * 3000))

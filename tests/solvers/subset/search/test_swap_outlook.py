"""What changes of a support gain, against all of them written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.solvers.subset.local.local_quadratic import LocalQuadratic, products_of
from riata.solvers.subset.search.swap_outlook import largest_slopes, matching_pursuit, rough_outlook
from riata.training.fitting import make_problem
from riata.training.spec import Spec

D = 9


@pytest.fixture(params=[True, False], name="model")
def model_in_memory_or_not(request, rng):
    """One whose columns explain each other; the last one does not vary."""
    X = rng.normal(size=(80, D)) + rng.normal(size=(80, 1))
    X[:, -1] = 3.0
    y = X[:, :4].sum(axis=1) + rng.normal(size=80)
    data = InMemory(X, y) if request.param else Chunked(X, y, 17)
    return products_of(make_problem(data, Spec(k=3))[0])


def reduction(model, support):
    """Twice what the best weights on a support lower the quadratic by."""
    H, h = model.products[np.ix_(support, support)], model.h[support]
    return float(h @ np.linalg.solve(H, h))


@pytest.mark.parametrize("support", [[], [2], [0, 5], [1, 3, 6]])
def test_gains_are_those_of_the_best_additions_and_swaps(model, support):
    support, k = np.array(support, dtype=np.int64), 3
    found, now = model.outlook(support, k), reduction(model, support)
    assert found.reduction == pytest.approx(now)
    for j in range(D):
        if j in support or j == D - 1:
            assert found.gains[j] == -np.inf
        elif len(support) < k:
            assert found.gains[j] == pytest.approx(reduction(model, np.append(support, j)) - now, abs=1e-9)
            assert found.partners[j] == -1
        else:
            swapped = [reduction(model, np.append(np.delete(support, i), j)) - now for i in range(k)]
            assert found.gains[j] == pytest.approx(max(swapped), abs=1e-9)
            assert found.partners[j] == np.argmax(swapped)


def test_rough_gains_and_largest_slopes_are_squares_of_slopes(model):
    supports = [np.array([0, 5]), np.array([3])]
    weights = [model.best_weights(support) for support in supports]
    slopes = []
    for support, own in zip(supports, weights, strict=True):
        squares = (model.h - own @ model.products[support]) ** 2
        squares[[*support, D - 1]] = -np.inf
        slopes.append(squares)
        assert_allclose(rough_outlook(model.hessian, model.h, support, own).gains, squares, atol=1e-12)
    assert_allclose(largest_slopes(model.hessian, model.h, supports, weights), np.max(slopes, axis=0), atol=1e-12)


def test_matching_pursuit_takes_the_steepest_feature_each_time(model):
    support = []
    for _ in range(4):
        weights = model.best_weights(np.array(support, dtype=np.int64))
        slopes = np.abs(model.h - weights @ model.products[support])
        slopes[[*support, D - 1]] = -np.inf
        support.append(int(np.argmax(slopes)))
    assert_array_equal(matching_pursuit(model.hessian, model.h, 4, 0.0), support)
    assert len(matching_pursuit(model.hessian, model.h, 4, np.inf)) == 0


def test_a_quadratic_goes_on_from_its_arrays(model):
    again = LocalQuadratic.resumed(model.problem, model.arrays)
    assert again.arrays.keys() == model.arrays.keys()
    for name, array in model.arrays.items():
        assert_array_equal(again.arrays[name], array)
        assert not np.shares_memory(again.arrays[name], array) or array.size == 0 or array.ndim == 0

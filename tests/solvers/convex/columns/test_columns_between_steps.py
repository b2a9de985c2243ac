"""The columns of a working set that are kept, against what the rows give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import Problem, alpha_max, elastic_net, gap_unit
from riata.solvers.convex.columns.kept_columns import MOST, KeptColumns, can_be_kept
from riata.solvers.convex.exact import exact
from riata.solvers.iterate import Options

N, D = 700, 60
LAYOUTS = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: np.round(X).astype(np.int64),
    "beside others": lambda X: np.column_stack([X, X])[:, :D],
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_as_working_sets_change(layout, weighted):
    rng = np.random.default_rng(0)
    X = LAYOUTS[layout](20.0 + 3.0 * rng.normal(size=(N, D)))
    weight = rng.integers(0, 4, N).astype(float) if weighted else None
    data = InMemory(X, rng.normal(size=N), weight)
    kept, rows, s = KeptColumns(data), data.chunk.X, data.chunk.weight
    digits = 1e-5 if layout == "float32" else 1e-10
    steps = [
        ([7, 3, 40], 0),
        ([7, 3, 40, 1, 2], 3),
        ([3, 1, 2, 9, 50], 3),
        ([3, 2, 7, 8], 2),
        ([3, 2, 7, 8], 3),
        ([5], 0),
    ]
    for features, known in steps:
        features = np.array(features)
        found, expected = kept.products(features, known), rows.products(s, features[known:], features)
        assert found.weight == expected.weight
        assert_allclose(found.left_mean, expected.left_mean, rtol=digits)
        assert_allclose(found.right_mean, expected.right_mean, rtol=digits)
        size = np.abs(expected.about_means).max()
        assert_allclose(found.about_means, expected.about_means, rtol=digits, atol=digits * size)


def test_the_same_bits_whatever_was_kept_before():
    """A fit that goes on from a checkpoint has them, too."""
    rng = np.random.default_rng(1)
    data = InMemory(5.0 + rng.normal(size=(N, D)), rng.normal(size=N))
    kept, fresh = KeptColumns(data), KeptColumns(data)
    for features in ([4, 9], [4, 9, 30, 2], [9, 2, 31]):
        kept.products(np.array(features), 0)
    features = np.array([9, 31, 5, 6, 7])
    found, expected = kept.products(features, 2), fresh.products(features, 2)
    assert_array_equal(found.about_means, expected.about_means)
    assert_array_equal(found.right_mean, expected.right_mean)


def test_which_are_kept():
    wide = InMemory(np.zeros((N, D)), np.zeros(N))
    most = int(MOST * D)
    assert can_be_kept(wide, most, None)
    assert not can_be_kept(wide, most + 1, None)
    assert not can_be_kept(wide, most, memory=8 * N)
    assert not can_be_kept(InMemory(np.zeros((3, D)), np.zeros(3)), 2, None)  # a small matrix: nothing is far apart


def test_a_fit_that_goes_on_ends_with_the_same_bits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1700))
    for j in range(1, 1700):
        X[:, j] += 3.0 * X[:, j - 1]
        X[:, j] /= 3.2
    y, weight = X[:, ::40].sum(axis=1) + 3.0 * rng.normal(size=400), rng.integers(1, 4, 400).astype(float)

    def points(resume=None):
        problem = Problem(InMemory(X, y, weight), LOSSES["squared"], elastic_net(alpha))
        unit = gap_unit(problem)
        for point in exact(problem, Options(100, tol=1e-9, resume=resume)):
            yield point, point.save and point.save()
            if point.gap <= 1e-9 * unit:
                break

    alpha = alpha_max(Problem(InMemory(X, y, weight), LOSSES["squared"], elastic_net(1.0))) / 30
    whole = list(points())
    assert len(whole) > 4
    for _, saved in whole[2:-1:2]:
        last = list(points(saved))[-1][0]
        assert last.steps == whole[-1][0].steps
        assert_array_equal(last.coef, whole[-1][0].coef)

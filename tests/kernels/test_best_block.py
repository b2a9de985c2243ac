"""Groups at their best values, against plain proximal steps in many iterations."""

import numpy as np
import pytest

from riata.kernels.best_block import best_block


def slow_best(H, slope, w, by_group):
    """Proximal gradient steps until nothing moves."""
    steep, v = 1.001 * np.linalg.eigvalsh(H)[-1], w.copy()
    for _ in range(100_000):
        x = v - (slope + H @ (v - w)) / steep
        length = np.linalg.norm(x)
        new = x * max(1.0 - by_group / (steep * length), 0.0) if length > 0.0 else x
        if np.allclose(new, v, rtol=1e-15, atol=1e-15):
            break
        v = new
    return v


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("by_group", [0.0, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("from_zero", [True, False])
@pytest.mark.parametrize("rank", [1, 7])
def test_values_are_those_of_many_small_steps(size, by_group, from_zero, rank):
    rng = np.random.default_rng(size)
    A, scale = rng.normal(size=(rank, size)), rng.uniform(0.5, 2.0, size)
    H = A.T @ A
    w = np.zeros(size) if from_zero else rng.normal(size=size)
    slope = H @ rng.normal(size=size)  # a quadratic that is bounded
    values, vectors = np.linalg.eigh(H / np.outer(scale, scale))
    v = w.copy()
    moved = best_block(0, size, vectors.T.ravel(), values, by_group, scale, slope, v, np.empty((2, size)))
    expected = slow_best(H / np.outer(scale, scale), slope / scale, scale * w, by_group) / scale
    assert moved == (not np.array_equal(v, w))
    if by_group == 0.0 and rank < size:  # where many points are best
        np.testing.assert_allclose(H @ v, H @ expected, atol=1e-9)
    else:
        np.testing.assert_allclose(v, expected, atol=1e-9)

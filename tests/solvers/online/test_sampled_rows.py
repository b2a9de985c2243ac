"""The sample of rows by which the last cut to k features is made."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from riata.solvers.online import top_k

N = 200_000


def state_after(n_rows, slope):
    state = top_k.memory(3, 5)
    state["n_rows"][:], state["slope"][:] = n_rows, slope
    return state


@pytest.fixture(params=[0.03, 0.3], ids=["few clicks", "many"])
def slopes(request, rng):
    """Those of a calibrated model: a click has slope p - 1, another row p."""
    p = np.clip(request.param * np.exp(0.7 * rng.normal(size=N)), 0.0, 0.9)
    return np.where(rng.random(N) < p, p - 1.0, p)


def test_first_rows_all_count(slopes):
    taken, times = top_k.sampled(state_after(0, 0.1), slopes[: top_k.FIRST_ROWS])
    assert len(slopes[: top_k.FIRST_ROWS][taken]) == top_k.FIRST_ROWS
    assert times == 1.0


@pytest.mark.parametrize("first", [0, 10**9])
def test_which_rows_count_does_not_depend_on_the_portions(slopes, first):
    state, found, counted = state_after(first, 0.2), [], []
    for start in range(0, N, 7001):
        part = slopes[start : start + 7001]
        taken, times = top_k.sampled(state, part)
        found.append(np.arange(start, start + len(part))[taken])
        counted.append(np.broadcast_to(times, len(found[-1])))
    taken, times = top_k.sampled(state_after(first, 0.2), slopes)
    assert_array_equal(np.concatenate(found), np.arange(N)[taken])
    assert_array_equal(np.concatenate(counted), times)
    assert state["n_rows"][0] == first + N


def test_sums_of_the_sample_are_those_of_all_rows_with_little_noise(slopes):
    mean_square = np.mean(slopes**2)
    taken, times = top_k.sampled(state_after(top_k.FIRST_ROWS, np.sqrt(mean_square)), slopes)
    assert len(times) < 0.9 * N
    assert times.max() <= 1.0 / top_k.LEAST_SHARE
    assert_allclose(times.sum(), N, rtol=0.02)
    assert_allclose(np.sum(times * slopes[taken]), slopes.sum(), atol=5.0 * np.sqrt(mean_square * N / 16.0))
    assert np.sum((times * slopes[taken]) ** 2) < (1.0 + 1.0 / 16.0 + 0.01) * mean_square * N

"""Statistics of candidates whose columns are counted from elsewhere are those that rows would have given there."""

import numpy as np
from numpy.testing import assert_allclose

from riata.kernels.rows import DenseRows
from riata.solvers.online import top_k


def gathered(X, weight, curvatures, responses, shift):
    state = top_k.memory(4, 6)
    top_k.replace_candidates(state, np.array([0, 2, 5]))  # a place stays empty
    rows = DenseRows(X, np.ones(6))
    top_k.gather(state, rows, True, np.arange(len(X)), shift, weight, curvatures, responses)
    return state


def test_moved_statistics_are_those_of_moved_columns():
    rng = np.random.default_rng(0)
    X, shift, moved = rng.normal(3.0, 1.0, size=(50, 6)), rng.normal(size=6), rng.normal(size=6)
    of_rows = rng.random(50), rng.random(50), rng.normal(size=50)
    state = gathered(X, *of_rows, shift)
    top_k.move_columns(state, moved)
    wanted = gathered(X, *of_rows, shift + moved)
    for name in ("xx", "xy"):
        assert_allclose(state[name], wanted[name], atol=1e-12)

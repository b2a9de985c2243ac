"""Models of a path that are only scored are made to a looser gap, which falls with their loss."""

import numpy as np
import pytest

from convex_problems import make
from riata.data.in_memory import InMemory
from riata.training.paths.path import GrowingPath
from riata.training.spec import Spec


def path_of(tol):
    X, y = make("poisson", n=200, d=60)
    data, spec = InMemory(X, y), Spec(loss="poisson", tol=tol)
    return GrowingPath(data, spec, GrowingPath(data, spec, length=40, reach=1e-3).alphas)


def gaps_of(path, times, most):
    path.loosen(times, most)
    while path.grow():
        path.loosen(times, most)
    return path.models()


def test_gaps_are_looser_than_asked_for_but_no_more_than_their_share_of_the_loss():
    tight, loose = gaps_of(path_of(1e-9), 1.0, 1.0), gaps_of(path_of(1e-9), 1e6, 1e-3)
    assert loose.gaps.max() > 1e-6 > tight.gaps.max()
    two_before = np.r_[loose.losses[:1], loose.losses[:1], loose.losses[:-2]] / loose.losses[0]  # two share a pass
    assert np.all(loose.gaps <= 1.01e-3 * two_before)
    assert loose.passes <= tight.passes  # models proposed ahead take as many either way


@pytest.mark.parametrize("tol", [1e-2, 1e-9])
def test_a_gap_that_was_asked_for_is_kept(tol):
    assert gaps_of(path_of(tol), 10.0, 1e-3).gaps.max() <= max(tol, 10.0 * tol * (tol < 1e-3))

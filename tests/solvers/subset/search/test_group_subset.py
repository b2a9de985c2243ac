"""Swaps of whole groups against least squares, refitted for every swap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.solvers.subset.search import group_subset
from riata.solvers.subset.search.group_subset import GroupSubset

# sizes of groups
GROUPS = {"of one size": [3] * 7, "of several sizes": [1, 4, 2, 1, 3, 2, 5], "of one column": [1] * 8}


def problem(sizes, alike):
    """Columns of unit length and a target; some columns may be combinations of others."""
    rng = np.random.default_rng(sum(sizes))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    A = rng.normal(size=(60, len(groups))) + 0.7 * rng.normal(size=(60, 1))
    if alike == "within groups":  # as all margins of softmax may grow alike
        for g in np.flatnonzero(np.array(sizes) > 1):
            first, *others = np.flatnonzero(groups == g)
            A[:, first] = A[:, others].sum(axis=1)
    elif alike == "across groups":
        A[:, groups == 2] = A[:, [0]]
        A[:, np.flatnonzero(groups == 5)[0]] = A[:, groups == 1].sum(axis=1)
    A /= np.sqrt(np.sum(A**2, axis=0))
    return A, rng.normal(size=60) + A @ rng.normal(size=len(groups)), groups


@pytest.mark.parametrize("alike", ["nowhere", "within groups", "across groups"])
@pytest.mark.parametrize("sizes", GROUPS.values(), ids=GROUPS)
@pytest.mark.parametrize("members", [[], [1], [0, 1, 4], [0, 2, 5, 6]])
def test_gains_of_swaps_are_those_of_least_squares(sizes, alike, members):
    A, y, groups = problem(sizes, alike)
    search = GroupSubset(A.T @ A, A.T @ y, groups, 1e-12)
    search.go_to(members)

    def explained(chosen):
        inside = A[:, np.isin(groups, chosen)]
        return np.sum((inside @ np.linalg.lstsq(inside, y, rcond=1e-8)[0]) ** 2)

    gains = search._swap_gains()
    assert gains.shape == (len(members), len(sizes))
    outside = np.setdiff1d(np.arange(len(sizes)), members)
    for i, leaves in enumerate(members):
        stay = [g for g in members if g != leaves]
        expected = [explained([*stay, g]) - explained(members) for g in outside]
        assert_allclose(gains[i, outside], expected, atol=1e-9)


@pytest.mark.parametrize("block", [1, 64])
def test_swaps_of_large_groups_are_those_of_small_ones(monkeypatch, block):
    """Where a group counts as large, each member leaves by itself."""
    A, y, groups = problem(GROUPS["of several sizes"], "within groups")
    search = GroupSubset(A.T @ A, A.T @ y, groups, 1e-12)
    search.go_to([0, 1, 4])
    at_once = search._swap_gains()[:, [2, 3, 5, 6]]
    monkeypatch.setattr(group_subset, "BLOCK_COLUMNS", block)
    assert_allclose(search._swap_gains()[:, [2, 3, 5, 6]], at_once, atol=1e-9)

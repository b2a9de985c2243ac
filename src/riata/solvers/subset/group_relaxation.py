"""The relaxation of best k for groups of features, for a quadratic loss: shares and coefficients by turns.

Each group has a share z_g in [0, 1] of being in the model, all shares together are at most k, and a coefficient pays
l2_j w_j^2 / (2 z_g) (`relaxation`). Given the shares that is a ridge regression; given the coefficients, with p_g = the
root of sum_j l2_j w_j^2 over the group, the best shares are min(1, t p_g), with t such that they sum to k.
"""

import numpy as np

from riata.positive import solve_positive
from riata.solvers.subset.relaxation import Quadratic
from riata.threads import one_blas_thread

ROUNDS = 20
LEAST_SHARE = 1e-6  # a share of 0 would never come back


def relaxed_groups(quadratic: Quadratic, k: int) -> np.ndarray:
    """The coefficients of the relaxation, roughly."""
    groups, ridge = quadratic.costs.groups, quadratic.costs.ridge
    assert groups is not None
    n_groups = int(groups.max()) + 1
    shares, w = np.full(n_groups, min(1.0, k / n_groups)), np.zeros(len(groups))
    with one_blas_thread():
        for _ in range(ROUNDS):
            solution = solve_positive(quadratic.G + np.diag(ridge / shares[groups]), quadratic.c)
            if solution is None:
                break
            w = solution
            shares = shares_of(np.sqrt(np.bincount(groups, ridge * w * w)), k)
    return w


def shares_of(parts: np.ndarray, k: int) -> np.ndarray:
    """min(1, t parts) for the t at which they sum to k."""
    order = np.argsort(-parts)
    rest = np.cumsum(parts[order][::-1])[::-1]  # of each and all smaller ones
    t = 1.0
    for taken, (largest, left) in enumerate(zip(parts[order], rest, strict=True)):
        if taken >= k or left <= 0.0:
            break
        t = (k - taken) / left
        if t * largest <= 1.0:
            break
    shares: np.ndarray = np.clip(t * parts, LEAST_SHARE, 1.0)
    return shares

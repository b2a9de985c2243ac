"""The relaxation of best k for groups of features, for a quadratic loss: shares and coefficients by turns.

Each group has a share z_g in [0, 1] of being in the model, all shares together are at most k, and a coefficient pays
l2_j w_j^2 / (2 z_g) (`relaxation`). Given the shares that is a ridge regression; given the coefficients, with p_g = the
root of sum_j l2_j w_j^2 over the group, the best shares are min(1, t p_g), with t such that they sum to k.
"""

import numpy as np

from riata.positive import solve_positive
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.relaxation import Node, Quadratic, Relaxed
from riata.threads import one_blas_thread

ROUNDS = 30
STILL = 1e-6  # of the loss: a round that raises the bound by less is the last
LEAST_SHARE = 1e-6  # a share of 0 would never come back


def relaxed_groups(
    quadratic: Quadratic, node: Node, k: int, target: float = np.inf, deadline: Deadline = FOREVER
) -> Relaxed:
    """The relaxation where k of the free groups may come in; it ends early once its bound reaches the target.

    The state of the node is that of groups, its coefficients are those of columns. What is found is the best point on
    the way, with the bound of its plane and the shares of groups.
    """
    groups, ridge = quadratic.costs.groups, quadratic.costs.ridge
    assert groups is not None
    state, free = node.state, node.state == 0
    columns = np.flatnonzero(state[groups] >= 0)
    G, c, own = quadratic.G[np.ix_(columns, columns)], quadratic.c[columns], groups[columns]

    def shares_at(w: np.ndarray) -> np.ndarray:
        shares = np.where(state == 1, 1.0, 0.0)
        parts = np.sqrt(np.bincount(groups, ridge * w * w, minlength=len(state)))[free]
        even = np.full(len(parts), max(k, 0) / max(len(parts), 1))
        shares[free] = shares_of(parts, k) if parts.any() else np.minimum(even, 1.0)
        return shares

    w = np.where(state[groups] < 0, 0.0, node.w)
    shares = shares_at(w)
    best = Relaxed(-np.inf, w, quadratic.c, shares, 0.0)
    with one_blas_thread():
        for _ in range(ROUNDS):
            deadline.check()
            solution = solve_positive(G + np.diag(ridge[columns] / np.maximum(shares[own], LEAST_SHARE)), c)
            if solution is None:
                break
            w = np.zeros(len(groups))
            w[columns] = solution
            shares, r, before = shares_at(w), quadratic.c - quadratic.G @ w, best.bound
            bound = quadratic.bound(state, k, w, r)
            if bound > best.bound:
                best = Relaxed(bound, w, r, np.where(shares > LEAST_SHARE, shares, 0.0), 0.0)
            if best.bound >= target or best.bound <= before + STILL * quadratic.loss:
                break
    return best


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
    return np.clip(t * parts, LEAST_SHARE, 1.0)

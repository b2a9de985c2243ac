"""The search for k groups of columns with the least squared loss, in memory, on the products of all columns.

With the columns of the set S, the weights A h_S, A = H_SS^-1, and what S leaves of the others,

    c = h - H'_S A h_S,    V = H - H'_S A H_S,

the squared loss (twice, as in `kernels.subset`) falls by c_g' V_gg^-1 c_g when group g comes in, and rises by
w_i' A_ii^-1 w_i when group i leaves. A column that those before it explain, as the last level of a category is
explained by the rest, keeps the weight 0.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf

from riata.kernels.subset import independent
from riata.solvers.subset.subset import COLLINEAR

BLOCK_COLUMNS = 64  # columns from which on the speed of an algorithm counts for more than its calls


class Look(NamedTuple):
    """What a set of groups is worth."""

    support: np.ndarray  # columns, none of them a combination of the others
    weights: np.ndarray
    fall: float
    gains: np.ndarray  # of every group outside, were it added; -inf inside
    costs: np.ndarray  # of every member, were it to leave


class GroupSubset:
    """A set of groups, changed by whole groups; a gain of no more than `worthwhile` is not worth a move."""

    def __init__(self, H, h, groups, worthwhile):
        self._H, self._h, self._worthwhile = H, h, worthwhile
        order = np.argsort(groups, kind="stable")
        self._columns = np.split(order, np.cumsum(np.bincount(groups))[:-1])
        sizes = np.array([len(columns) for columns in self._columns])
        self._alike = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]  # groups of one size, at once
        self.go_to([])

    def go_to(self, members):
        """Make these groups the set."""
        self.members = sorted(int(g) for g in members)
        self.look = self._looked(self.members)

    def forward(self, k):
        """Take the group that helps most, until there are k."""
        while len(self.members) < k and self.look.gains.max() > self._worthwhile:
            self.go_to([*self.members, np.argmax(self.look.gains)])

    def backward(self, k):
        """Give back the group that helps least, until there are k."""
        while len(self.members) > k:
            self.go_to(np.delete(self.members, np.argmin(self.look.costs)))

    def swap(self, k):
        """The best addition or exchange each time, until none is worth it."""
        while moves := self.moves(k, 1):
            self.go_to(moves[0])

    def moves(self, k, count) -> list[list[int]]:
        """The sets one addition (where there is room) or one exchange away that are worth it, `count` at most."""
        bases = [self.members] if len(self.members) < k else [self._without(i) for i in range(len(self.members))]
        looks = [self._looked(base) for base in bases]
        rises = np.array([look.fall + look.gains - self.look.fall for look in looks]).reshape(len(looks), -1)
        order = np.argsort(-rises, axis=None, kind="stable")[:count]
        places = [np.unravel_index(place, rises.shape) for place in order]
        return [[*bases[i], int(g)] for i, g in places if rises[i, g] > self._worthwhile]

    def _without(self, i):
        return self.members[:i] + self.members[i + 1 :]

    def _looked(self, members) -> Look:
        inside = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(self._columns[g] for g in members)]))
        places, R = _independent(self._H[np.ix_(inside, inside)])
        support = inside[places]
        rows = self._H[support]
        A = cho_solve((R, False), np.eye(len(support))) if len(support) else np.empty((0, 0))
        weights, W = A @ self._h[support], A @ rows
        c = self._h - weights @ rows
        gains = np.full(len(self._columns), -np.inf)
        for alike in self._alike:
            outside = np.setdiff1d(alike, members)
            if len(outside):
                gains[outside] = self._gains(np.array([self._columns[g] for g in outside]), rows, W, c)
        costs = np.array([_cost(A, weights, np.isin(support, self._columns[g])) for g in members])
        return Look(support, weights, float(weights @ self._h[support]), gains, costs)

    def _gains(self, columns, rows, W, c):
        """c_g' V_gg^-1 c_g for groups of one size, each a row of `columns`, along the directions that are new."""
        explained = np.moveaxis(rows[:, columns], 0, -1) @ np.swapaxes(np.moveaxis(W[:, columns], 0, -1), 1, 2)
        V = self._H[columns[:, :, None], columns[:, None, :]] - explained
        if columns.shape[1] > BLOCK_COLUMNS:
            return np.array([_fall(V_g, c[its]) for V_g, its in zip(V, columns, strict=True)])
        values, vectors = np.linalg.eigh(V)
        along = np.einsum("gij,gi->gj", vectors, c[columns])
        return np.sum(np.where(values > COLLINEAR, along**2 / np.maximum(values, COLLINEAR), 0.0), axis=1)


def _independent(H):
    """The columns that those before them do not explain, and the Cholesky factor R of their products: R'R = H."""
    places, R = np.empty(0, dtype=np.int64), np.zeros((0, 0))
    for start in range(0, len(H), BLOCK_COLUMNS):  # some columns at a time, for the speed of products of matrices
        its = np.arange(start, min(start + BLOCK_COLUMNS, len(H)))
        Z = solve_triangular(R, H[np.ix_(places, its)], trans="T") if len(places) else np.empty((0, len(its)))
        left = H[np.ix_(its, its)] - Z.T @ Z
        new = independent(left, COLLINEAR)
        corner = cholesky(left[np.ix_(new, new)]) if new.any() else np.empty((0, 0))
        R = np.block([[R, Z[:, new]], [np.zeros((len(corner), len(R))), corner]])
        places = np.append(places, its[new])
    return places, R


def _fall(V, c):
    """c' V^-1 c along the directions that are new, for a large V: by Cholesky's factors with pivots."""
    R, pivots, rank, _ = dpstrf(V, tol=COLLINEAR)
    z = solve_triangular(R[:rank, :rank], c[pivots[:rank] - 1], trans="T") if rank else np.zeros(0)
    return float(z @ z)


def _cost(A, weights, its):
    """w_i' A_ii^-1 w_i."""
    return weights[its] @ np.linalg.solve(A[np.ix_(its, its)], weights[its]) if its.any() else 0.0

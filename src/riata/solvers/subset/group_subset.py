"""The search for k groups of columns with the least squared loss, in memory, on the products of all columns.

With the columns of the set S, their weights A h_S, A = H_SS^-1, and the residuals of the other columns given S,

    c = h - H'_S A h_S,    V = H - H'_S A H_S,

twice the squared loss (as in `kernels.subset`) decreases by c_g' V_gg^-1 c_g when group g enters, and increases by
w_i' A_ii^-1 w_i when group i leaves. A column that is a combination of those before it, as the last level of a category
is of the others, keeps the weight 0.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from riata.scipy_later import linalg
from riata.solvers.subset.subset import COLLINEAR, independent

BLOCK_COLUMNS = 64  # with more columns, the cost of an algorithm exceeds that of calling it


class GroupOutlook(NamedTuple):
    """The best weights on a set of groups, and what changes of the set would gain or cost."""

    support: np.ndarray  # its columns, without those that are combinations of others
    weights: np.ndarray
    reduction: float  # twice that of the squared loss, from the empty set
    gains: np.ndarray  # of adding each group outside; -inf inside
    costs: np.ndarray  # of removing each member


class GroupSubset:
    """A set of groups, to which groups are added and from which they are removed, all their columns together.

    Changes that gain no more than `min_gain` are not made.
    """

    def __init__(self, H: np.ndarray, h: np.ndarray, groups: np.ndarray, min_gain: float):
        self._H, self._h, self._min_gain = H, h, min_gain
        order = np.argsort(groups, kind="stable")
        self._columns = np.split(order, np.cumsum(np.bincount(groups))[:-1])
        sizes = np.array([len(columns) for columns in self._columns])
        self._of_one_size = [
            np.flatnonzero(sizes == size) for size in np.unique(sizes)
        ]  # their gains are found at once
        self.go_to([])

    def go_to(self, members: Iterable[int]) -> None:
        """Make these groups the members of the set."""
        self.members = sorted(int(g) for g in members)
        self.outlook = self._outlook(self.members)

    def forward(self, k: int) -> None:
        """Add the group that helps most, until there are k."""
        while len(self.members) < k and self.outlook.gains.max() > self._min_gain:
            self.go_to([*self.members, int(np.argmax(self.outlook.gains))])

    def backward(self, k: int) -> None:
        """Remove the group that helps least, until there are k."""
        while len(self.members) > k:
            self.go_to(self._without(int(np.argmin(self.outlook.costs))))

    def swap(self, k: int) -> None:
        """The best addition or swap each time, until none gains enough.

        Of columns that are nearly combinations of others a move may keep less than it promised, and is taken back.
        """
        while moves := self.moves(k, 1):
            members, reduction = self.members, self.outlook.reduction
            self.go_to(moves[0])
            if self.outlook.reduction <= reduction + self._min_gain:
                self.go_to(members)
                return

    def moves(self, k: int, count: int) -> list[list[int]]:
        """The best sets, `count` at most, one addition (below k members) or one swap away that gain enough."""
        bases = [self.members] if len(self.members) < k else [self._without(i) for i in range(len(self.members))]
        outlooks = [self._outlook(base) for base in bases]
        before = self.outlook.reduction
        gains = np.array([after.reduction + after.gains - before for after in outlooks]).reshape(len(bases), -1)
        order = np.argsort(-gains, axis=None, kind="stable")[:count]
        places = [np.unravel_index(place, gains.shape) for place in order]
        return [[*bases[i], int(g)] for i, g in places if gains[i, g] > self._min_gain]

    def _without(self, i: int) -> list[int]:
        return self.members[:i] + self.members[i + 1 :]

    def _outlook(self, members: list[int]) -> GroupOutlook:
        inside = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(self._columns[g] for g in members)]))
        places, R = _independent(self._H[np.ix_(inside, inside)])
        support = inside[places]
        rows = self._H[support]
        A = linalg.cho_solve((R, False), np.eye(len(support))) if len(support) else np.empty((0, 0))
        weights, W = A @ self._h[support], A @ rows
        c = self._h - weights @ rows
        gains = np.full(len(self._columns), -np.inf)
        for groups in self._of_one_size:
            outside = np.setdiff1d(groups, members)
            if len(outside):
                gains[outside] = self._gains(np.array([self._columns[g] for g in outside]), rows, W, c)
        costs = np.array([_cost(A, weights, np.isin(support, self._columns[g])) for g in members])
        return GroupOutlook(support, weights, float(weights @ self._h[support]), gains, costs)

    def _gains(self, columns: np.ndarray, rows: np.ndarray, W: np.ndarray, c: np.ndarray) -> np.ndarray:
        """c_g' V_gg^-1 c_g for groups of one size, each a row of `columns`, without directions that S explains."""
        explained = np.moveaxis(rows[:, columns], 0, -1) @ np.swapaxes(np.moveaxis(W[:, columns], 0, -1), 1, 2)
        V = self._H[columns[:, :, None], columns[:, None, :]] - explained
        if columns.shape[1] > BLOCK_COLUMNS:
            return np.array([_large_gain(V_g, c[its]) for V_g, its in zip(V, columns, strict=True)])
        values, vectors = np.linalg.eigh(V)
        along = np.einsum("gij,gi->gj", vectors, c[columns])
        gains: np.ndarray = np.sum(np.where(values > COLLINEAR, along**2 / np.maximum(values, COLLINEAR), 0.0), axis=1)
        return gains


def _independent(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns that are no combination of those before them, and the Cholesky factor R of their products, R'R."""
    places, R = np.empty(0, dtype=np.int64), np.zeros((0, 0))
    for start in range(0, len(H), BLOCK_COLUMNS):  # by blocks, for the speed of matrix products
        its = np.arange(start, min(start + BLOCK_COLUMNS, len(H)))
        Z = linalg.solve_triangular(R, H[np.ix_(places, its)], trans="T") if len(places) else np.empty((0, len(its)))
        left = H[np.ix_(its, its)] - Z.T @ Z
        new = independent(left)
        corner = linalg.cholesky(left[np.ix_(new, new)]) if new.any() else np.empty((0, 0))
        R = np.block([[R, Z[:, new]], [np.zeros((len(corner), len(R))), corner]])
        places = np.append(places, its[new])
    return places, R


def _large_gain(V: np.ndarray, c: np.ndarray) -> float:
    """c' V^-1 c without directions that S explains, for a large V: by a Cholesky factorisation with pivots."""
    R, pivots, rank, _ = linalg.lapack.dpstrf(V, tol=COLLINEAR)
    z = linalg.solve_triangular(R[:rank, :rank], c[pivots[:rank] - 1], trans="T") if rank else np.zeros(0)
    return float(z @ z)


def _cost(A: np.ndarray, weights: np.ndarray, its: np.ndarray) -> float:
    """w_i' A_ii^-1 w_i, for the columns of the mask `its`."""
    return float(weights[its] @ np.linalg.solve(A[np.ix_(its, its)], weights[its])) if its.any() else 0.0

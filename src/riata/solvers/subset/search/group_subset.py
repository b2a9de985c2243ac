"""The search for k groups of columns with the least squared loss, in memory, on the products of all columns.

With the columns of the set S, R'R = H_SS, the other columns Z = R'^-1 H_S beside them, and their weights R^-1 y,
y = R'^-1 h_S, the residuals of the other columns given S are

    c = h - Z'y,    V = H - Z'Z,

and twice the squared loss (as in `kernels.subset`) decreases by c_g' V_gg^-1 c_g when group g enters, and increases by
w_i' (H_SS^-1)_ii^-1 w_i when group i leaves. Once i has left, with L L' = (H_SS^-1)_ii and the weights W of the members
in the regression of the other columns, those have

    c + T't,    V + T'T,    where t = L^-1 w_i and T = L^-1 W_i.

A column that is a combination of those before it, as the last level of a category is of the others, keeps the weight 0.

The largest group of a set comes first, and its part of R is kept from one set to the next: with a category of thousands
of levels the rest costs little beside it.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from riata.scipy_later import linalg
from riata.solvers.subset.search.subset import COLLINEAR, independent

BLOCK_COLUMNS = 64  # with more columns, the cost of an algorithm exceeds that of calling it


class GroupOutlook(NamedTuple):
    """The best weights on a set of groups, and what changes of the set would gain or cost."""

    support: np.ndarray  # its columns, without those that are combinations of others
    weights: np.ndarray
    reduction: float  # twice that of the squared loss, from the empty set
    gains: np.ndarray  # of adding each group outside; -inf inside


class Factor(NamedTuple):
    """Columns that are no combinations of those before them, and the Cholesky factor R of their products, R'R."""

    columns: np.ndarray
    R: np.ndarray

    def below(self, right: np.ndarray) -> np.ndarray:
        """R'^-1 times a vector, or columns."""
        if not len(self.columns):
            return right
        return linalg.solve_triangular(self.R, right, trans="T", check_finite=False)


NO_COLUMNS = Factor(np.empty(0, dtype=np.int64), np.zeros((0, 0)))


class GroupSubset:
    """A set of groups, to which groups are added and from which they are removed, all their columns together.

    Changes that gain no more than `min_gain` are not made.
    """

    def __init__(self, H: np.ndarray, h: np.ndarray, groups: np.ndarray, min_gain: float):
        self._H, self._h, self._min_gain = H, h, min_gain
        order = np.argsort(groups, kind="stable")
        self._columns = np.split(order, np.cumsum(np.bincount(groups))[:-1])
        sizes = np.array([len(columns) for columns in self._columns])
        # whose gains are found at once
        self._of_one_size = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
        self._ranks: dict[int, int] = {}
        self._largest: tuple[int, Factor] = (-1, NO_COLUMNS)  # the first group of the last set, and its factor
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
            self.go_to(self._without(int(np.argmin(self._costs()))))

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

    def moves(self, k: int, count: int, even_without_gain: bool = False) -> list[list[int]]:
        """The best sets, `count` at most, one addition (below k members) or one swap away that gain enough."""
        least = -np.inf if even_without_gain else self._min_gain
        bases, gains = [self.members], self.outlook.gains[None]
        if len(self.members) >= k:
            bases, gains = [self._without(i) for i in range(len(self.members))], self._swap_gains()
            gains[:, self.members] = -np.inf  # who leaves does not come back
        order = np.argsort(-gains, axis=None, kind="stable")[:count]
        places = [np.unravel_index(place, gains.shape) for place in order]
        return [[*bases[i], int(g)] for i, g in places if gains[i, g] > least]

    def _swap_gains(self) -> np.ndarray:
        """What each group gains in the place of a member: a row for every member that leaves."""
        if max((len(self._columns[g]) for g in self.members), default=0) > BLOCK_COLUMNS:
            return self._swap_gains_one_by_one()  # the factor of a large group is at hand, and its inverse takes long
        factor = self._factor(self.members)
        if len(factor.columns) < sum(self._rank(g) for g in self.members):
            return self._swap_gains_one_by_one()  # a group that leaves may let in columns that it explained
        y = factor.below(self._h[factor.columns])
        inverse = linalg.solve_triangular(factor.R, np.eye(len(y)), check_finite=False) if len(y) else factor.R
        leaving = []
        for g in self.members:
            of_group = inverse[np.isin(factor.columns, self._columns[g])]
            leaving.append(_whitened(of_group @ of_group.T, of_group))
        gains = np.full((len(self.members), len(self._columns)), -np.inf)
        for groups in self._of_one_size:
            outside = np.setdiff1d(groups, self.members)
            if not len(outside):
                continue
            columns = np.array([self._columns[g] for g in outside])
            c, V, Z = self._residuals_of(columns, factor, y)
            for row, of_member in zip(gains, leaving, strict=True):
                t, T = of_member @ y, _by_group(of_member @ Z, columns)
                row[outside] = _explained(V + np.swapaxes(T, 1, 2) @ T, c + t @ T) - t @ t
        return gains

    def _swap_gains_one_by_one(self) -> np.ndarray:
        outlooks = [self._outlook(self._without(i)) for i in range(len(self.members))]
        gains = [after.reduction + after.gains - self.outlook.reduction for after in outlooks]
        return np.array(gains).reshape(len(outlooks), -1)

    def _rank(self, g: int) -> int:
        """How many columns of a group are no combinations of others of it."""
        if g not in self._ranks:
            columns = self._columns[g]
            self._ranks[g] = len(_independent(self._H[np.ix_(columns, columns)])[0])
        return self._ranks[g]

    def _without(self, i: int) -> list[int]:
        return self.members[:i] + self.members[i + 1 :]

    def _outlook(self, members: list[int]) -> GroupOutlook:
        factor = self._factor(members)
        support, y = factor.columns, factor.below(self._h[factor.columns])
        gains = np.full(len(self._columns), -np.inf)
        for groups in self._of_one_size:
            outside = np.setdiff1d(groups, members)
            if len(outside):
                gains[outside] = self._gains(np.array([self._columns[g] for g in outside]), factor, y)
        weights = linalg.solve_triangular(factor.R, y, check_finite=False) if len(support) else y
        order = np.argsort(support)
        return GroupOutlook(support[order], weights[order], float(y @ y), gains)

    def _factor(self, members: list[int]) -> Factor:
        """The factor of the columns of some groups, the largest group first."""
        if not members:
            return NO_COLUMNS
        first, *others = sorted(members, key=lambda g: -len(self._columns[g]))
        if self._largest[0] != first:
            self._largest = first, _extended(NO_COLUMNS, self._H, self._columns[first])
        factor = self._largest[1]
        return _extended(factor, self._H, np.concatenate([self._columns[g] for g in others])) if others else factor

    def _gains(self, columns: np.ndarray, factor: Factor, y: np.ndarray) -> np.ndarray:
        """c_g' V_gg^-1 c_g for groups of one size, each a row of `columns`, without directions that S explains."""
        c, V, _ = self._residuals_of(columns, factor, y)
        return _explained(V, c)

    def _residuals_of(
        self, columns: np.ndarray, factor: Factor, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c_g and V_gg of these groups, and Z."""
        Z = factor.below(self._H[np.ix_(factor.columns, columns.ravel())])
        by_group = _by_group(Z, columns)
        V = self._H[columns[:, :, None], columns[:, None, :]] - np.swapaxes(by_group, 1, 2) @ by_group
        return self._h[columns] - (y @ Z).reshape(columns.shape), V, Z

    def _costs(self) -> list[float]:
        """What it costs to remove each member: from its part of H_SS^-1, or, of a large one, by what the others do."""
        (support, weights, reduction, _), factor = self.outlook, self._factor(self.members)
        costs = []
        for i, g in enumerate(self.members):
            its = np.isin(factor.columns, self._columns[g])
            if 2 * np.count_nonzero(its) > len(its):
                others = self._factor(self._without(i))
                left = others.below(self._h[others.columns])
                costs.append(reduction - float(left @ left))
                continue
            part = factor.below(np.eye(len(its))[:, its])
            w = weights[np.isin(support, self._columns[g])]
            costs.append(float(w @ np.linalg.solve(part.T @ part, w)) if len(w) else 0.0)
        return costs


def _extended(factor: Factor, H: np.ndarray, columns: np.ndarray) -> Factor:
    """A factor with those of some more columns that are no combinations of columns before them."""
    Z = factor.below(H[np.ix_(factor.columns, columns)])
    kept, corner = _independent(H[np.ix_(columns, columns)] - Z.T @ Z)
    return Factor(np.append(factor.columns, columns[kept]), _joined(factor.R, Z[:, kept], corner))


def _independent(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of columns that are no combination of those before them, and the factor R of their products: by
    halves, for the speed of matrix products."""
    if len(H) <= BLOCK_COLUMNS:
        R, failed = linalg.lapack.dpotrf(H) if len(H) else (NO_COLUMNS.R, 0)
        if not failed and np.all(R.diagonal() ** 2 > COLLINEAR):  # as nearly always
            return np.arange(len(H)), R
        kept = np.flatnonzero(independent(H))
        return kept, linalg.cholesky(H[np.ix_(kept, kept)]) if len(kept) else NO_COLUMNS.R
    half = len(H) // 2
    first = Factor(*_independent(H[:half, :half]))
    Z = first.below(H[first.columns, half:])
    others, corner = _independent(H[half:, half:] - Z.T @ Z)
    return np.append(first.columns, half + others), _joined(first.R, Z[:, others], corner)


def _joined(R: np.ndarray, Z: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """The factor of columns from that of the first ones and the corner of the others."""
    size = len(R)
    whole = np.zeros((size + len(corner),) * 2, order="F")  # as LAPACK takes it
    whole[:size, :size], whole[:size, size:], whole[size:, size:] = R, Z, corner
    return whole


def _by_group(Z: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Rows over the columns of groups of one size, group by group."""
    return np.moveaxis(Z.reshape(-1, *columns.shape), 1, 0)


def _whitened(A: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """L^-1 times some rows, with L L' = A."""
    if not len(A):
        return rows
    whitened: np.ndarray = linalg.solve_triangular(np.linalg.cholesky(A), rows, lower=True, check_finite=False)
    return whitened


def _explained(V: np.ndarray, c: np.ndarray) -> np.ndarray:
    """c_g' V_gg^-1 c_g of each group, without directions that have nothing left."""
    if c.shape[1] > BLOCK_COLUMNS:
        return np.array([_large_gain(V_g, c_g) for V_g, c_g in zip(V, c, strict=True)])
    values, vectors = np.linalg.eigh(V)
    along = np.einsum("gij,gi->gj", vectors, c)
    gains: np.ndarray = np.sum(np.where(values > COLLINEAR, along**2 / np.maximum(values, COLLINEAR), 0.0), axis=1)
    return gains


def _large_gain(V: np.ndarray, c: np.ndarray) -> float:
    """c' V^-1 c without directions that S explains, for a large V: by a Cholesky factorisation with pivots."""
    R, pivots, rank, _ = linalg.lapack.dpstrf(V, tol=COLLINEAR)
    z = linalg.solve_triangular(R[:rank, :rank], c[pivots[:rank] - 1], trans="T") if rank else np.zeros(0)
    return float(z @ z)

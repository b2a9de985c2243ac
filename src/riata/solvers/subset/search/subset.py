"""The search for k of m columns with the least squared loss, in memory, on their products.

Forward selection adds twice as many columns as wanted, and backward elimination removes the least useful one by one;
then single swaps, the best one each time, until none helps. `overshoot` leaves such a local minimum: it adds e more
columns, removes e, swaps again, and keeps the result only if it is better. `undershoot` removes two and adds others.
`anew` starts from nothing, without one or two of the members, which come back by swaps only.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from riata.kernels import subset as kernel
from riata.solvers.subset.local.refit import solved

MIN_GAIN = 1e-9  # of the empty model's loss: changes of the support that gain less are not made
COLLINEAR = 1e-7  # a column is taken for a combination of others if they explain all but this share of its square
PAIRS = 100  # of members that are removed together, at most
OVERSHOOTS = (2, 4, 8, 16, 32)  # the values of e
FEW_DIFFER = 0.25  # of the members: a set that differs by no more is reached by adding and removing them
ANEW_WORK = 3e7  # multiplications of all searches from nothing, roughly, but MOST_ANEW searches and LEAST_ANEW at least
MOST_ANEW, LEAST_ANEW = 64, 4


class Lines(NamedTuple):
    """Lines from the weights without the leaving member to those after the swap, for some swaps: least squares."""

    columns: np.ndarray  # the members, then the columns that enter
    start: np.ndarray  # for every swap a column of weights: the best ones without the leaving member
    step: np.ndarray  # from there to the best weights with the new column


class Subset:
    """A set of columns and its least-squares fit, updated whenever a column enters or leaves.

    H, the products of the columns, has a unit diagonal (zeros for columns that do not vary); h has those with y.
    Changes that gain no more than `min_gain` are not made.
    """

    def __init__(self, H: np.ndarray, h: np.ndarray, capacity: int, min_gain: float):
        self.H, self.h, self.min_gain = H, h, min_gain
        m, capacity = len(h), min(capacity, len(h))
        self._members = np.zeros(capacity, dtype=np.int64)
        self._W, self._A, self._w = np.zeros((capacity, m)), np.zeros((capacity, capacity)), np.zeros(capacity)
        self.restart(np.empty(0, dtype=np.int64))

    @property
    def capacity(self) -> int:
        """The most members that the set may have during a search."""
        return len(self._w)

    @property
    def members(self) -> np.ndarray:
        return self._members[: self.size].copy()

    @property
    def weights(self) -> np.ndarray:
        """The weights of the members."""
        return self._w[: self.size].copy()

    @property
    def addable(self) -> np.ndarray:
        """Which columns are outside and no combination of members."""
        return ~self._inside & (self._v > COLLINEAR)

    @property
    def reduction(self) -> float:
        """Twice the difference of the squared losses of the empty set and of this one."""
        return float(self.h[self.members] @ self._w[: self.size])

    def restart(self, members: np.ndarray) -> None:
        """Set the members, which must be linearly independent, and compute everything anew: rounding starts at zero."""
        self.size = size = len(members)
        self._inside = np.zeros(len(self.h), dtype=bool)
        self._inside[members] = True
        self._members[:size] = members
        rows = self.H[members]
        A = solved(rows[:, members], np.eye(size))
        self._A[:size, :size], self._W[:size], self._w[:size] = A, A @ rows, A @ self.h[members]
        self._c = self.h - self._w[:size] @ rows
        self._v = self.H.diagonal() - np.einsum("sj,sj->j", rows, self._W[:size])

    def move_to(self, members: np.ndarray) -> None:
        """Set the members, one by one where few differ: everything anew takes `size` times as long as one of them."""
        leaving, entering = np.setdiff1d(self.members, members), np.setdiff1d(members, self.members)
        if len(leaving) + len(entering) > FEW_DIFFER * len(members):
            self.restart(members)
            return
        for column in leaving:
            self._remove(int(np.flatnonzero(self.members == column)[0]))
        for column in entering:
            self._add(int(column))

    def forward(self, size: int) -> None:
        """Add the column that helps most, until there are `size`."""
        while self.size < min(size, len(self._w)):
            j, gain = kernel.best_addition(self._inside, self._c, self._v, COLLINEAR)
            if gain <= self.min_gain:
                break
            self._add(j)

    def backward(self, size: int) -> None:
        """Remove the column that helps least, until there are `size`."""
        while self.size > size:
            w, A = self._w[: self.size], self._A.diagonal()[: self.size]
            self._remove(int(np.argmin(w**2 / A)))

    def swap(self) -> None:
        """Swap a member for a column outside, the best swap each time, until none gains enough."""
        for _ in self.swaps():
            pass

    def swaps(self) -> Iterator[None]:
        """Swap as `swap` does, yielding after every swap."""
        while True:
            i, j, gain = kernel.best_swap(
                self._inside, self.size, self._W, self._A, self._w, self._c, self._v, COLLINEAR
            )
            if gain <= self.min_gain:
                return
            self._remove(i)
            self._add(j)
            yield

    def exclude(self, columns: np.ndarray | list[int]) -> None:
        """Add none of these columns until the next restart."""
        self._inside[columns] = True

    def lines(self, columns: np.ndarray, partners: np.ndarray) -> Lines:
        """The lines of swaps: each of these columns for the member whose place `partners` names (-1: for none)."""
        T, weights, A = len(columns), self._w[: self.size], self._A[: self.size, : self.size]
        start, follow = np.tile(weights[:, None], T), self._W[: self.size, columns]
        c, v = self._c[columns], self._v[columns]
        if np.all(partners >= 0):
            share, before = A[:, partners] / A[partners, partners], follow[partners, np.arange(T)]
            start, follow = start - weights[partners] * share, follow - before * share
            c = c + weights[partners] * before / A[partners, partners]
            v = v + before**2 / A[partners, partners]
        best = c / v
        members = np.append(self.members, columns)
        return Lines(members, np.vstack([start, np.zeros((T, T))]), np.vstack([-best * follow, np.diag(best)]))

    def try_start(self, members: np.ndarray, k: int) -> None:
        """Search from these columns, and keep the result if it is better than the current set."""
        best, reduction = self._saved(), self.reduction
        self.restart(members[independent(self.H[np.ix_(members, members)])])
        self.forward(k)
        self.swap()
        if self.reduction <= reduction:
            self._restore(best)

    def overshoot(self, k: int) -> None:
        """Leave a set that no swap improves, by adding several columns and removing as many."""
        best, reduction, tries = self._saved(), self.reduction, list(OVERSHOOTS)
        while tries:
            extra = tries.pop(0)
            self.forward(k + extra)
            self.backward(k)
            self.swap()
            if self.reduction > reduction + self.min_gain:
                best, reduction, tries = self._saved(), self.reduction, list(OVERSHOOTS)
            else:
                self._restore(best)

    def undershoot(self, k: int) -> None:
        """Leave a set that no swap improves: remove two members, for each of the pairs that cost least, and add others.

        The two may come back by swaps only, so that others have their chance.
        """
        best, reduction = self._saved(), self.reduction
        pairs = self._cheapest_pairs() if self.size == k else []  # fewer leave nothing to explain
        while pairs:
            pair = pairs.pop(0)
            for column in pair:
                self._remove(int(np.flatnonzero(self.members == column)[0]))
            self.exclude(pair)
            self.forward(k)
            self._inside[pair] = False
            self.swap()
            if self.reduction > reduction + self.min_gain:
                best, reduction, pairs = self._saved(), self.reduction, self._cheapest_pairs()
            else:
                self._restore(best)

    def anew(self, k: int) -> Iterator[None]:
        """Search from nothing without some of the members, one or two that cost least each time, and keep the best.

        It yields where such a search has ended, and again where it ends once those may come back.
        """
        best, reduction = self._saved(), self.reduction
        left_out = self._left_out() if self.size == k else []
        while left_out:
            columns = left_out.pop(0)
            self.restart(np.empty(0, dtype=np.int64))
            self.exclude(columns)
            self.forward(2 * k)
            self.backward(k)
            self.swap()
            yield
            self._inside[columns] = False
            self.swap()
            yield
            if self.reduction > reduction + self.min_gain:
                best, reduction, left_out = self._saved(), self.reduction, self._left_out()
        self._restore(best)

    def _left_out(self) -> list[list[int]]:
        """Members, and pairs of them, for searches without them: as many as there is time for."""
        count = int(ANEW_WORK / (6.0 * self.size**2 * len(self.h)))
        singles = [[int(column)] for column in self.members] if self.size > 1 else []
        return (singles + self._cheapest_pairs())[: min(max(count, LEAST_ANEW), MOST_ANEW)]

    def _cheapest_pairs(self) -> list[list[int]]:
        """Pairs of members, those whose removal costs least first."""
        w, A, members = self.weights, self._A[: self.size, : self.size], self.members
        i, j = np.triu_indices(self.size, 1)
        determinants = np.maximum(A[i, i] * A[j, j] - A[i, j] ** 2, 1e-300)
        costs = (w[i] ** 2 * A[j, j] - 2.0 * w[i] * w[j] * A[i, j] + w[j] ** 2 * A[i, i]) / determinants
        return [[int(members[i[p]]), int(members[j[p]])] for p in np.argsort(costs, kind="stable")[:PAIRS]]

    def _saved(self) -> tuple[Any, ...]:
        arrays = (self._inside, self._members, self._W, self._A, self._w, self._c, self._v)
        return self.size, *(array.copy() for array in arrays)

    def _restore(self, saved: tuple[Any, ...]) -> None:
        self.size, *arrays = saved
        self._inside, self._members, self._W, self._A, self._w, self._c, self._v = (a.copy() for a in arrays)

    def _add(self, j: int) -> None:
        kernel.add(self.H, self._members, self.size, self._W, self._A, self._w, self._c, self._v, j)
        self._inside[j] = True
        self.size += 1

    def _remove(self, i: int) -> None:
        self._inside[self._members[i]] = False
        kernel.remove(self._members, self.size, self._W, self._A, self._w, self._c, self._v, i)
        self.size -= 1


def independent(H: np.ndarray) -> np.ndarray:
    """Whether each column keeps more than COLLINEAR of its squared norm beside those before it, by Cholesky."""
    left, keep = H.copy(), np.zeros(len(H), dtype=bool)
    for p in range(len(H)):
        keep[p] = left[p, p] > COLLINEAR
        if keep[p]:
            row = left[p, p + 1 :]
            left[p + 1 :, p + 1 :] -= np.outer(row / left[p, p], row)
    return keep

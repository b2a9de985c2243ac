"""The search for k of m columns with the least squared loss, in memory, on their products.

Forward selection takes twice as many columns as wanted and gives the least useful back one by one; then single swaps,
the best one each time, until none helps. `overshoot` leaves such a point: take e more columns, give e back, swap on,
and stay only where that was better.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from riata.kernels import subset as kernel
from riata.solvers.subset.refit import solved

PRECISION = 1e-9  # of the empty model's loss: a smaller gain is not worth a move
COLLINEAR = 1e-7  # a column whose squared norm the others explain up to this share adds nothing
OVERSHOOTS = (2, 4, 8, 16, 32)


class Lines(NamedTuple):
    """The ways of some single swaps: all other members follow as least squares says."""

    columns: np.ndarray  # the members, then the columns that come in
    start: np.ndarray  # a column of weights for every swap, the leaving member gone
    step: np.ndarray  # from there to the best weights with the new column


class Subset:
    """A set of columns and its least-squares fit, kept up to date while columns come and go.

    H has a unit diagonal (or zeros for a column that never varies), h holds the products with y.
    A gain below `worthwhile` is not worth a move.
    """

    def __init__(self, H, h, capacity, worthwhile):
        self.H, self.h, self.worthwhile = H, h, worthwhile
        m, capacity = len(h), min(capacity, len(h))
        self._members = np.zeros(capacity, dtype=np.int64)
        self._W, self._A, self._w = np.zeros((capacity, m)), np.zeros((capacity, capacity)), np.zeros(capacity)
        self.restart(np.empty(0, dtype=np.int64))

    @property
    def capacity(self) -> int:
        """How many members there may be on the way."""
        return len(self._w)

    @property
    def members(self):
        return self._members[: self.size].copy()

    @property
    def weights(self):
        """Of the members."""
        return self._w[: self.size].copy()

    @property
    def fall(self) -> float:
        """How far below that of the empty set twice the squared loss is."""
        return float(self.h[self.members] @ self._w[: self.size])

    def restart(self, members):
        """Make the set these columns, none of them a combination of the others, from scratch: no rounding piles up."""
        self.size = size = len(members)
        self._inside = np.zeros(len(self.h), dtype=bool)
        self._inside[members] = True
        self._members[:size] = members
        rows = self.H[members]
        A = solved(rows[:, members], np.eye(size))
        self._A[:size, :size], self._W[:size], self._w[:size] = A, A @ rows, A @ self.h[members]
        self._c = self.h - self._w[:size] @ rows
        self._v = self.H.diagonal() - np.einsum("sj,sj->j", rows, self._W[:size])

    def forward(self, size):
        """Take the column that helps most, until there are `size`."""
        while self.size < min(size, len(self._w)):
            j, gain = kernel.best_addition(self._inside, self._c, self._v, COLLINEAR)
            if gain <= self.worthwhile:
                break
            self._add(j)

    def backward(self, size):
        """Give back the column that helps least, until there are `size`."""
        while self.size > size:
            w, A = self._w[: self.size], self._A.diagonal()[: self.size]
            self._remove(int(np.argmin(w**2 / A)))

    def swap(self):
        """Exchange one column for one outside, the best exchange each time, until none is worth it."""
        for _ in self.swaps():
            pass

    def swaps(self) -> Iterator[None]:
        """The same, with a stop after every exchange."""
        while True:
            i, j, gain = kernel.best_swap(
                self._inside, self.size, self._W, self._A, self._w, self._c, self._v, COLLINEAR
            )
            if gain <= self.worthwhile:
                return
            self._remove(i)
            self._add(j)
            yield

    def bar(self, columns):
        """Take none of these columns, until a restart."""
        self._inside[columns] = True

    def lines(self, columns, partners) -> Lines:
        """The ways of taking each of these columns for the member in its place of `partners` (-1: for none)."""
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

    def rival(self, members, k):
        """Go where swaps lead from these columns, if that is better."""
        best, fall = self._saved(), self.fall
        self.restart(members[kernel.independent(self.H[np.ix_(members, members)], COLLINEAR)])
        self.forward(k)
        self.swap()
        if self.fall <= fall:
            self._restore(best)

    def overshoot(self, k):
        """Leave a point that no swap improves, by taking several columns more and giving as many back."""
        best, fall, tries = self._saved(), self.fall, list(OVERSHOOTS)
        while tries:
            extra = tries.pop(0)
            self.forward(k + extra)
            self.backward(k)
            self.swap()
            if self.fall > fall + self.worthwhile:
                best, fall, tries = self._saved(), self.fall, list(OVERSHOOTS)
            else:
                self._restore(best)

    def _saved(self):
        arrays = (self._inside, self._members, self._W, self._A, self._w, self._c, self._v)
        return self.size, *(array.copy() for array in arrays)

    def _restore(self, saved):
        self.size, *arrays = saved
        self._inside, self._members, self._W, self._A, self._w, self._c, self._v = (a.copy() for a in arrays)

    def _add(self, j):
        kernel.add(self.H, self._members, self.size, self._W, self._A, self._w, self._c, self._v, j)
        self._inside[j] = True
        self.size += 1

    def _remove(self, i):
        self._inside[self._members[i]] = False
        kernel.remove(self._members, self.size, self._W, self._A, self._w, self._c, self._v, i)
        self.size -= 1

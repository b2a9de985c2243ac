"""Systems of equations in some rows and columns of one matrix, of which a few come and go from one to the next.

A factorisation of m coordinates takes m^3 / 3 products, and serves for those that differ from them by c: with

    H_OO = LL',   U = [H_ON, E_G]   for the old ones O, the new ones N, and those G of the old that are gone,

    [H_OO    U   ] [x_O      ]   [r_O]
    [ U'  [H_NN 0]] [x_N, -pull] = [r_N, 0],      Y = L^-1 U,

where E_G has a column of the identity for each that is gone, whose x is 0 and whose equation is let go by its pull.
That takes m^2 products for every coordinate that has come or gone since the last time, for Y is kept.
"""

import numpy as np

from riata.positive import Factor

FEW = 64  # coordinates, of which a factorisation takes no time
CHANGED = 1 / 8  # of the coordinates: the products for so many are about a third of those of a factorisation
EXACT = 1e-9  # of the right side: what an answer may leave of it, or it is not taken


class KeptFactor:
    """The factorisation of the matrix in some coordinates, and what it takes to solve in others."""

    def __init__(self) -> None:
        self.worked = 0.0  # products of two numbers so far
        self._factor: Factor | None = None
        self._old = np.empty(0, dtype=np.int64)
        self._changed = np.empty(0, dtype=np.int64)  # coordinates that have come or gone at some time,
        self._Y = np.empty((0, 0))  # and the column of Y of each

    def solve(self, H: np.ndarray, S: np.ndarray, right: np.ndarray) -> np.ndarray | None:
        """H_SS^-1 right for rising S, of the matrix of all calls but for rows and columns added to its end; None, if
        that has to be found in another way: where H_SS is nearly singular."""
        if len(S) < FEW:
            return None
        if self._factor is not None:
            x = self._by_changes(H, S, right)
            if x is not None:
                return x
        self._factor, self._Y = None, np.empty((len(S), 0))  # before the next one takes as much memory
        self._old, self._changed = S.copy(), np.empty(0, dtype=np.int64)
        self.worked += len(S) ** 3 / 3.0
        self._factor = Factor.of(H.take(S, 0).take(S, 1))
        if self._factor is None:
            return None
        x = self._factor.above(self._factor.below(right))
        if _solves(H, S, x, right):
            return x
        self._factor = None
        return None

    def _by_changes(self, H: np.ndarray, S: np.ndarray, right: np.ndarray) -> np.ndarray | None:
        """None where too many have changed, or rounding spoils the answer."""
        assert self._factor is not None
        gone, new = np.setdiff1d(self._old, S, assume_unique=True), np.setdiff1d(S, self._old, assume_unique=True)
        changes = np.concatenate([new, gone])
        unknown = np.setdiff1d(changes, self._changed, assume_unique=True)
        if len(self._changed) + len(unknown) > CHANGED * len(self._old):
            return None
        if len(unknown):
            self._learn(H, unknown)
        order = np.argsort(self._changed, kind="stable")
        Y = self._Y[:, order[np.searchsorted(self._changed, changes, sorter=order)]]
        r, kept = np.zeros(len(self._old)), np.isin(self._old, S, assume_unique=True)
        stays = np.isin(S, self._old, assume_unique=True)
        r[kept] = right[stays]
        z = self._factor.below(r)
        middle = -(Y.T @ Y)
        middle[: len(new), : len(new)] += H[np.ix_(new, new)]
        try:
            q = np.linalg.solve(middle, np.concatenate([right[~stays], np.zeros(len(gone))]) - Y.T @ z)
        except np.linalg.LinAlgError:
            return None
        x = np.empty(len(S))
        x[stays], x[~stays] = self._factor.above(z - Y @ q)[kept], q[: len(new)]
        return x if _solves(H, S, x, right) else None

    def _learn(self, H: np.ndarray, unknown: np.ndarray) -> None:
        assert self._factor is not None
        U = H[np.ix_(self._old, unknown)]
        self.worked += len(self._old) ** 2 * len(unknown)
        place = np.searchsorted(self._old, unknown)
        was_there = self._old[np.minimum(place, len(self._old) - 1)] == unknown
        U[:, was_there] = 0.0
        U[place[was_there], was_there] = 1.0
        self._changed, self._Y = np.append(self._changed, unknown), np.hstack([self._Y, self._factor.below(U)])


def _solves(H: np.ndarray, S: np.ndarray, x: np.ndarray, right: np.ndarray) -> bool:
    """Whether x is the answer but for rounding."""
    everywhere = np.zeros(len(H))
    everywhere[S] = x
    left = (H @ everywhere)[S] - right
    return bool(np.linalg.norm(left) <= EXACT * np.linalg.norm(right))

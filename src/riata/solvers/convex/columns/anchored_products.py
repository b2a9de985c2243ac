"""Dense columns that are gathered from rows in memory, and their products by the curvatures of rows at one point.

To make the products of m columns costs as much as some m / 20 passes over them. They are made at a point, the anchor,
extended there by those of columns that join, and kept until another anchor pays.
"""

from typing import NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.solvers.convex.columns.columns import FASTER

SPARE = 1.5  # times as many columns are kept as are asked for
GATHERED, MULTIPLIED = 256, 4096  # rows at a time


class Quadratic(NamedTuple):
    """The curvature of the mean loss over columns, where the best constant follows them."""

    H: np.ndarray
    mean: np.ndarray  # of each column by the curvatures of rows: the constant falls by so much as its coefficient rises
    curvature: float  # by the constant; 0 where there is none


class KeptAnchor(NamedTuple):
    """What a checkpoint keeps of columns: with it a fit goes on to the same bits."""

    features: np.ndarray
    rows: np.ndarray  # their curvatures at the anchor; empty where there are no products
    products: np.ndarray
    spent: float
    ratio: float  # see `AnchoredColumns`


NO_ANCHOR = KeptAnchor(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 0)), 0.0, 1.0)


class AnchoredProducts:
    """Some columns, each less its mean where there is an intercept, and the products of all pairs of them."""

    def __init__(self, data: InMemory, fit_intercept: bool, kept: KeptAnchor = NO_ANCHOR) -> None:
        self._data, self._fit_intercept = data, fit_intercept
        _, weight = data.targets()
        self.weight = weight / weight.sum()
        self.features = np.empty(0, dtype=np.int64)
        self.origin = np.empty(0)  # what was taken off each column
        self.anchor: np.ndarray | None = None  # the curvatures of rows there; None where there are no products
        self._spent = 0.0  # by this anchor, in entries of a column in a sweep
        self._columns, self._products = np.empty((0, data.n_rows)), np.empty((0, 0))
        self._quadratic: Quadratic | None = None
        if len(kept.features):
            self._learn(kept.features)
        if len(kept.rows):
            m = len(kept.features)
            self.anchor, self._spent, self._products[:m, :m] = kept.rows, kept.spent, kept.products

    def kept(self, ratio: float) -> KeptAnchor:
        """What a checkpoint keeps."""
        if self.anchor is None:
            return NO_ANCHOR._replace(features=self.features)
        m = len(self.features)
        return KeptAnchor(self.features, self.anchor, self._products[:m, :m].copy(), self._spent, ratio)

    @property
    def columns(self) -> np.ndarray:
        """A row for each of its features."""
        return self._columns[: len(self.features)]

    def keep(self, features: np.ndarray) -> None:
        """Have the columns of these features, and of a few others that are there."""
        new = np.setdiff1d(features, self.features)
        spare = SPARE if self.anchor is not None else 1.0
        if len(self.features) + len(new) > spare * len(features):
            self._forget(np.isin(self.features, features))
        if len(new):
            self._learn(new)

    def spend(self, cost: float) -> None:
        """Count what went into steps by these products."""
        self._spent += cost

    @property
    def worn(self) -> bool:
        """Whether as much has been spent by this anchor as another costs."""
        return self._spent > self._cost(0)

    def drop_anchor(self, curvatures: np.ndarray) -> None:
        """Make the products anew, by these curvatures of the rows."""
        self.anchor, self._spent = self.weight * curvatures, 0.0
        self._multiply(0)

    def quadratic(self) -> Quadratic:
        """That of its columns."""
        if self._quadratic is None:
            assert self.anchor is not None
            m, weight = len(self.features), float(self.anchor.sum())
            H = self._products[:m, :m].copy()
            if self._fit_intercept and weight > 0.0:
                sums = self.columns @ self.anchor
                H -= np.outer(sums / weight, sums)
                self._quadratic = Quadratic(H, sums / weight, weight)
            else:
                self._quadratic = Quadratic(H, np.zeros(m), 0.0)
        return self._quadratic

    def _cost(self, known: int) -> float:
        """Of the products of the columns after so many with all."""
        m = len(self.features)
        return self._data.n_rows * float(m * m - known * known) / FASTER

    def _learn(self, new: np.ndarray) -> None:
        known, now = len(self.features), len(self.features) + len(new)
        if now > len(self._columns):
            self._make_room(min(2 * now, self._data.n_features))
        X, columns = self._data.chunk.X, self._columns[known:now]
        for i in range(0, self._data.n_rows, GATHERED):  # a few rows at a time stay in the cache
            rows = slice(i, min(i + GATHERED, self._data.n_rows))
            columns[:, rows] = X.columns(new, rows).T
        origin = np.zeros(len(new))
        if self._fit_intercept:
            for j, column in enumerate(columns):  # one by one: a product of them all has other bits for other columns
                origin[j] = column @ self.weight
                column -= origin[j]
        self.features, self.origin = np.concatenate([self.features, new]), np.concatenate([self.origin, origin])
        self._quadratic = None
        if self.anchor is not None:
            self.spend(self._cost(known))
            if self.worn:  # then another costs little more
                self.anchor = None
            else:
                self._multiply(known)

    def _multiply(self, known: int) -> None:
        """The products of the columns after so many with all of them."""
        assert self.anchor is not None
        now, root = len(self.features), np.sqrt(self.anchor)
        self._products[known:now, :now] = 0.0
        for i in range(0, len(root), MULTIPLIED):
            rows = slice(i, i + MULTIPLIED)
            new = self._columns[known:now, rows] * root[rows]
            self._products[known:now, known:now] += new @ new.T  # by half the work (symmetry)
            if known:
                new *= root[rows]
                self._products[known:now, :known] += new @ self._columns[:known, rows].T
        self._products[:known, known:now] = self._products[known:now, :known].T
        self._quadratic = None

    def _make_room(self, size: int) -> None:
        known = len(self.features)
        columns, products = np.empty((size, self._data.n_rows)), np.empty((size, size))
        columns[:known], products[:known, :known] = self.columns, self._products[:known, :known]
        self._columns, self._products = columns, products

    def _forget(self, kept: np.ndarray) -> None:
        places = np.flatnonzero(kept)
        left = len(places)
        self._columns[:left] = self._columns[places]
        self._products[:left, :left] = self._products.take(places, 0).take(places, 1)
        self.features, self.origin, self._quadratic = self.features[kept], self.origin[kept], None

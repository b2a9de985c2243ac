"""Products of columns with one another, each of which is made once."""

from collections.abc import Callable

import numpy as np


class KnownProducts:
    """Of columns that are asked for by number, those that were asked for before, and their products, are known.

    `scaled` has a row for each of some columns: the products are those of its rows.
    """

    SPARE = 1.5  # times as many are kept as are asked for

    def __init__(self, scaled: Callable[[np.ndarray], np.ndarray], n_columns: int) -> None:
        self._scaled_of = scaled
        self._columns, self._place = np.empty(0, dtype=np.int64), np.full(n_columns, -1)
        self._scaled, self._products = np.empty((0, 0)), np.empty((0, 0))

    def learn(self, columns: np.ndarray) -> None:
        """Know the products of these columns; others may be forgotten."""
        new = columns[self._place[columns] < 0]
        if not len(new):
            return
        if len(self._columns) + len(new) > self.SPARE * len(columns):
            self._forget(np.isin(self._columns, columns))
        scaled, known = self._scaled_of(new), len(self._columns)
        now = known + len(new)
        if now > len(self._products):
            self._make_room(min(2 * now, len(self._place)), scaled.shape[1])
        self._scaled[known:now] = scaled
        self._columns = np.concatenate([self._columns, new])
        self._place[new] = np.arange(known, now)
        self._products[known:now, :now] = scaled @ self._scaled[:now].T
        self._products[:known, known:now] = self._products[known:now, :known].T

    def forget(self) -> None:
        """Know nothing, as in the beginning: sums that are made in another order differ in their last digits."""
        self._place[self._columns] = -1
        self._columns, self._scaled, self._products = self._columns[:0], np.empty((0, 0)), np.empty((0, 0))

    def between(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """A copy of the products of known columns with others: a row for each on the left."""
        products: np.ndarray = self._products.take(self._place[left], 0).take(self._place[right], 1)
        return products

    def _make_room(self, size: int, length: int) -> None:
        known = len(self._columns)
        scaled, products = np.empty((size, length)), np.empty((size, size))
        if known:
            scaled[:known], products[:known, :known] = self._scaled[:known], self._products[:known, :known]
        self._scaled, self._products = scaled, products

    def _forget(self, kept: np.ndarray) -> None:
        self._place[self._columns] = -1
        places = np.flatnonzero(kept)
        self._columns, known = self._columns[kept], len(places)
        self._scaled[:known] = self._scaled[places]
        self._products[:known, :known] = self._products.take(places, 0).take(places, 1)
        self._place[self._columns] = np.arange(known)

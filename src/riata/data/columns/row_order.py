"""Whether a column only numbers the rows: whole numbers or dates of which every row has its own."""

from typing import Self

import numpy as np

from riata.data.columns.distinct import DistinctCount, scattered

UNIQUE = 0.95  # of the rows: where there are so many different values, hardly any repeats (the count is not exact)
DENSE = 2  # numbers without gaps to speak of: at most so many times as many as there are rows
LARGEST = 2.0**53  # beyond it floats are not exact


class Order:
    """Whether values rise from row to row."""

    def __init__(self) -> None:
        self.first = self.last = np.nan
        self.rises = True

    def add(self, values: np.ndarray) -> None:
        """One or more values, in the order of their rows."""
        rises = self.rises and not values[0] <= self.last and bool((values[1:] > values[:-1]).all())
        self.first = values[0] if np.isnan(self.first) else self.first
        self.last, self.rises = values[-1], rises

    def merge(self, later: Self) -> None:
        if not np.isnan(later.first):
            self.rises = self.rises and later.rises and not later.first <= self.last
            self.first = later.first if np.isnan(self.first) else self.first
            self.last = later.last


class RowNumbering:
    """Whether whole numbers number the rows: they rise from row to row, or are all different and without large gaps."""

    def __init__(self) -> None:
        self.order = Order()
        self.distinct: DistinctCount | None = DistinctCount()  # None once some value is known to repeat
        self.least, self.largest = np.inf, -np.inf

    def add(self, values: np.ndarray) -> None:
        """One or more values, in the order of their rows."""
        low, high = values.min(), values.max()
        self.least, self.largest = min(self.least, low), max(self.largest, high)
        self.order.add(values)
        if high - low + 1 < len(values) or max(-low, high) > LARGEST or (values != np.floor(values)).any():
            self.distinct = None
        if self.distinct is not None:
            self.distinct.add(scattered(values))

    def merge(self, later: Self) -> None:
        self.least, self.largest = min(self.least, later.least), max(self.largest, later.largest)
        self.order.merge(later.order)
        if self.distinct is not None and later.distinct is not None:
            self.distinct.merge(later.distinct)
        else:
            self.distinct = None

    @property
    def possible(self) -> "RowNumbering | None":
        """Itself, None where values repeat or are not whole."""
        return None if self.distinct is None else self

    def number(self, n_rows: int) -> bool:
        """Whether these values of n_rows rows number them."""
        if self.distinct is None:
            return False
        dense = self.largest - self.least + 1 <= DENSE * n_rows and self.distinct.count >= UNIQUE * n_rows
        return self.order.rises or bool(dense)

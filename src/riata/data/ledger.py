"""The one place where reading is counted: a dataset and all its views write into the same ledger.

A pass is as many rows as the data has, read from wherever it lies. A view of some rows that reads all of them counts
all of them; copies that are kept in memory elsewhere have ledgers of their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class Ledger:
    """How many rows have been read."""

    def __init__(self, n_rows: int):
        self.n_rows = n_rows  # of the data itself, which a pass reads
        self.rows_read = 0
        self.rows_monitored = 0  # read only to watch the objective of a method that does not know it
        self._monitoring = False

    def count(self, n_rows: int) -> None:
        """So many rows have been read."""
        if self._monitoring:
            self.rows_monitored += n_rows
        else:
            self.rows_read += n_rows

    @property
    def passes(self) -> float:
        """How many times the data has been read so far, monitoring left out."""
        return self.rows_read / max(self.n_rows, 1)

    @contextmanager
    def monitoring(self) -> Iterator[None]:
        """What is read meanwhile is no part of the method's cost."""
        self._monitoring = True
        try:
            yield
        finally:
            self._monitoring = False


class SummaryLedger(Ledger):
    """Of a few rows that summarise others: who reads them reads nothing of the data, which was read to make them."""

    def __init__(self, of: Ledger | None):
        super().__init__(0 if of is None else of.n_rows)
        self._of = of

    def count(self, n_rows: int) -> None:
        """Nothing is read."""

    @property
    def passes(self) -> float:
        """Over the data that was summarised."""
        return 0.0 if self._of is None else self._of.passes

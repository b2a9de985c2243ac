"""Counting of rows read: a dataset and all its views share one ledger.

One pass means that as many rows were read as the data has. A view of some rows that reads all of them counts all of
them; a copy of some rows in memory may have a ledger of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class Ledger:
    """How many rows have been read."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows  # of the data itself
        self.rows_read = 0
        self.rows_monitored = 0  # read only to compute the objective, for methods that do not
        self._monitoring = False

    def count(self, n_rows: int) -> None:
        """Record that so many rows have been read."""
        if self._monitoring:
            self.rows_monitored += n_rows
        else:
            self.rows_read += n_rows

    @property
    def passes(self) -> float:
        """How many times the data has been read so far, not counting rows read for monitoring."""
        return self.rows_read / max(self.n_rows, 1)

    @contextmanager
    def monitoring(self) -> Iterator[None]:
        """A context in which rows read do not count as passes."""
        before, self._monitoring = self._monitoring, True
        try:
            yield
        finally:
            self._monitoring = before  # it may be within another


class SummaryLedger(Ledger):
    """The ledger of summary rows: reading them reads none of the data, so that only making them counts."""

    def __init__(self, of: Ledger | None) -> None:
        super().__init__(0 if of is None else of.n_rows)
        self._of = of

    def count(self, n_rows: int) -> None:
        """Ignored: nothing of the data is read."""

    @property
    def passes(self) -> float:
        """Passes over the data that was summarised."""
        return 0.0 if self._of is None else self._of.passes

"""Rows that are elsewhere: functions are sent to them, and nothing but what comes of it travels back."""

from abc import abstractmethod
from collections.abc import Callable

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset


class Remote(Dataset):
    """A dataset whose rows other processes hold. `visit` brings chunks here, one at a time; nothing else does."""

    row_bytes: float  # of a row in memory, about

    @abstractmethod
    def some_rows(self, keep) -> "Remote":
        """A view of the rows whose positions are kept, see `riata.data.folds`."""

    @abstractmethod
    def persisted(self, f: Callable[[Chunk], Chunk]) -> "Remote":
        """The same rows with f applied to every chunk: done once, and kept in memory where they are."""

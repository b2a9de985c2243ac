"""Rows in the memory of other processes: functions are sent to the rows, and only their results come back."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset, Run

T = TypeVar("T")


class Remote(Dataset):
    """A dataset whose rows other processes have. Only `visit` brings chunks to this process, one at a time."""

    row_bytes: float  # the approximate size of a row in memory

    def row_values(self, of: Callable[[Chunk], np.ndarray]) -> Iterator[np.ndarray]:
        return iter(self.runs(lambda _, run: np.concatenate([of(chunk) for _, chunk in run])))

    @property
    @abstractmethod
    def n_long_runs(self) -> int:
        """How many runs `sum_long_runs` has."""

    @abstractmethod
    def sum_long_runs(self, f: Callable[[Run], T]) -> T:
        """The sum of f(run) over runs that are as long as workers can be busy with: about one for each thread."""

    @abstractmethod
    def some_rows(self, keep: Callable[[np.ndarray], np.ndarray]) -> "Remote":
        """A view of the rows at the positions that `keep` accepts, see `riata.data.folds`."""

    @abstractmethod
    def placed_map(self, f: Callable[[int, Chunk], Chunk]) -> Dataset:
        """A view with f applied to every chunk and the position of its first row; f must keep the number of rows."""

    @abstractmethod
    def persisted(self, f: Callable[[Chunk], Chunk]) -> "Remote":
        """The rows with f applied to every chunk: computed once, and kept in the memory of the processes that did."""

    @abstractmethod
    def names_of(self, numbers: np.ndarray) -> dict[int, str]:
        """The names of features whose numbers are hashes of these: one pass over what the rows were read from."""

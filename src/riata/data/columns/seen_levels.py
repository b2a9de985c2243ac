"""The levels of a column that were seen so far, and in how many rows each."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import arrow_of, filled, string_array, values_of


class SeenLevels:
    """Levels in the order in which they came, which is their place; they stay in Arrow's memory."""

    def __init__(self) -> None:
        self.strings = string_array([], pa.large_string())
        self.rows = np.zeros(0, np.int64)  # of each

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, levels: pa.Array, rows: np.ndarray) -> np.ndarray:
        """Count so many rows of different levels; returns their places."""
        levels = levels.cast(pa.large_string())
        places = values_of(filled(pc.index_in(levels, value_set=self.strings), -1)).astype(np.int64)
        new = places < 0
        if n_new := int(new.sum()):
            places[new] = len(self) + np.arange(n_new)
            self.strings = pa.concat_arrays([self.strings, levels.filter(arrow_of(new))])
            self.rows = np.append(self.rows, np.zeros(n_new, np.int64))
        self.rows[places] += rows
        return places

    def of(self, places: np.ndarray) -> list[str]:
        """The levels at some places."""
        return self.strings.take(arrow_of(places)).to_pylist()

    def most_frequent(self, n: int) -> np.ndarray:
        """The places of the levels of most rows; of as many rows, those that come first by name."""
        table = pa.table({"rows": arrow_of(self.rows), "level": self.strings})
        order = pc.sort_indices(table, sort_keys=[("rows", "descending"), ("level", "ascending")])
        return values_of(order[:n]).astype(np.int64)

"""Products of columns with all columns, about their means where there is an intercept: each is made once."""

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.covariance_path import Known

ENTRY_BYTES, COPIES = 8, 3  # of products, while room for more is made
CROWDED = 0.75  # of the rows that were observed: where more columns are known, their products are nearly singular
SPARE = 1.5  # times as much room as is needed
MANY = 0.25  # of the columns: the products with fewer cost less than to copy all others out of their places


class Covariances:
    """The products of some columns, which are known, with all."""

    def __init__(self, data: InMemory, fit_intercept: bool, memory: int | None) -> None:
        self._data, self._memory, moments = data, memory, data.moments
        _, weight = data.targets()
        self._weight = weight / weight.sum()
        self.mean = moments.mean if fit_intercept else np.zeros(data.n_features)
        self._unit = moments.scale if fit_intercept else np.hypot(moments.scale, moments.mean)
        self.features = np.empty(0, dtype=np.int64)
        self._among, self._with_all = np.empty((0, 0)), np.empty((0, data.n_features))

    @property
    def known(self) -> Known:
        """As the compiled loop takes them."""
        return Known(self.features, self._among, self._with_all[: len(self.features)], self._unit[self.features])

    @property
    def unknown(self) -> np.ndarray:
        """Of every column, whether its products are still to be made."""
        unknown = np.ones(self._data.n_features, dtype=bool)
        unknown[self.features] = False
        return unknown

    def learn(self, new: np.ndarray) -> bool:
        """Make the products of these columns. False, and nothing is made, where there are too many, or they are beyond
        the range of numbers."""
        known, d = len(self.features), self._data.n_features
        now = known + len(new)
        too_large = self._memory is not None and COPIES * ENTRY_BYTES * now * (now + d) > self._memory
        if too_large or now > CROWDED * self._data.n_observed:
            return False
        self._data.ledger.count(self._data.n_rows)
        rows = self._products(new)
        if not np.isfinite(rows).all():
            return False
        if now > len(self._with_all):
            room = np.empty((min(int(SPARE * now), d), d))
            room[:known] = self._with_all[:known]
            self._with_all = room
        self._with_all[known:now] = rows
        self.features = np.concatenate([self.features, new])
        among = np.empty((now, now))
        among[:known, :known] = self._among
        among[known:] = rows[:, self.features]
        among[:known, known:] = among[known:, :known].T
        self._among = among
        return True

    def _products(self, new: np.ndarray) -> np.ndarray:
        """The products of these columns with all; where many are known, those with them are known, too."""
        known, d, X = self.features, self._data.n_features, self._data.chunk.X
        if len(known) < MANY * d:
            return X.column_products(self._weight, self.mean, new)
        others = np.flatnonzero(self.unknown)
        rows = np.empty((len(new), d))
        rows[:, known] = self._with_all[: len(known), new].T
        rows[:, others] = X.column_products(self._weight, self.mean, new, others)
        return rows

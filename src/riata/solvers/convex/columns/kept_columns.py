"""Dense columns of a working set, and their products, for a loss whose curvature is the same everywhere.

In rows in memory a few columns lie far apart: to fetch them takes as long as to read many. So the columns of a working
set are copied once, when they join it, and are there as others join, whose products with them are asked for.
"""

from contextlib import nullcontext

import numpy as np

from riata.data.in_memory import InMemory
from riata.matrices.moments import Products
from riata.threads import one_blas_thread

MOST = 0.25  # of all columns: the products of more cost so much more than to fetch them that copies hardly pay
FETCHED, SUMMED = 256, 2048  # rows at a time: float32 numbers are summed over no more of them
LARGE = 1 << 26  # multiplications for which several threads pay


def can_be_kept(data: InMemory, n_columns: int, memory: int | None) -> bool:
    """Whether so many columns are worth copies, and there is room for them."""
    X = data.chunk.X
    if X.sparse or X.few or n_columns > MOST * data.n_features:
        return False
    return memory is None or 2 * data.n_rows * n_columns * X.dtype.itemsize <= memory


class KeptColumns:
    """sqrt(s)(x - mean) of some columns: the products of these are those of the columns about their means."""

    def __init__(self, data: InMemory) -> None:
        self.data = data
        _, self._weight = data.targets()
        self._total = float(self._weight.sum())
        self._roots = None if (self._weight == 1.0).all() else np.sqrt(self._weight)
        dtype = np.float32 if data.chunk.X.dtype == np.float32 else np.float64
        self._features, self._means = np.empty(0, dtype=np.int64), np.empty(0)
        self._columns = np.empty((0, data.n_rows), dtype=dtype)

    def products(self, features: np.ndarray, known: int) -> Products:
        """Those of the features after so many with all of them."""
        self._have(features)
        m, n = len(features), self.data.n_rows
        all_of_them, new = self._columns[:m], self._columns[known:m]
        products = np.zeros((m - known, m))
        rows = SUMMED if new.dtype == np.float32 else max(n, 1)
        with nullcontext() if (m - known) * m * n >= LARGE else one_blas_thread():
            for i in range(0, n, rows):
                part = new[:, i : i + rows]
                products[:, known:] += part @ part.T  # by half the work (symmetry)
                products[:, :known] += part @ all_of_them[:known, i : i + rows].T
        self.data.ledger.count(n)
        return Products(self._total, self._means[known:], self._means, products)

    def _have(self, features: np.ndarray) -> None:
        """Have these columns, in this order, and no others."""
        known = self._keep(features)
        if len(features) > len(self._columns):
            columns = np.empty((min(2 * len(features), self.data.n_features), self.data.n_rows), self._columns.dtype)
            columns[:known] = self._columns[:known]
            self._columns = columns
        self._features, self._means = features, np.concatenate([self._means[:known], np.empty(len(features) - known)])
        self._fetch(features[known:], self._columns[known : len(features)], self._means[known:])

    def _keep(self, features: np.ndarray) -> int:
        """Keep those among these features that are there, up to the first one that is not; how many they are."""
        places = {feature: place for place, feature in enumerate(self._features.tolist())}
        kept: list[int] = []
        for feature in features.tolist():
            if feature not in places:
                break
            kept.append(places[feature])
        moved = next((place for place, old in enumerate(kept) if place != old), len(kept))
        if moved < len(kept):
            self._columns[moved : len(kept)] = self._columns[kept[moved:]]
            self._means = self._means[kept]
        return len(kept)

    def _fetch(self, features: np.ndarray, columns: np.ndarray, means: np.ndarray) -> None:
        X, order = self.data.chunk.X, np.argsort(features)  # numbers that are asked for in order are there sooner
        for i in range(0, X.shape[0], FETCHED):  # so few rows stay in the cache
            columns[order, i : i + FETCHED] = X[i : i + FETCHED].narrowed(features[order]).toarray().T
        for j, column in enumerate(columns):  # one by one: a product of them all has other bits for other columns
            means[j] = column @ self._weight / self._total
            column -= means[j]
            if self._roots is not None:
                column *= self._roots

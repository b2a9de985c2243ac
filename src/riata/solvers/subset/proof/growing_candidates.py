"""Candidates of a quadratic loss that become more by and by, hundreds of times: nothing is made anew for each of them.

Their products have room for more. Of dense data in memory with fewer rows than features, their columns are kept as
well, one after the other, centred and in the units of the quadratic: to pick them out of the rows again each time would
take longer than to multiply them.
"""

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.solvers.subset.local.hessian import with_more
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.proof.relaxation import Quadratic

ROOM = 1.5  # times what is needed is made, where there is no more room


class GrowingCandidates:
    """The candidates of a local quadratic, and more; they are not those of that quadratic from here on."""

    def __init__(self, model: LocalQuadratic):
        self._model, self.columns = model, model.candidates
        self._place = np.full(len(model.w), -1)
        self._place[self.columns] = np.arange(len(self.columns))
        self._products = model.products
        self._held = _HeldColumns.of(model)

    def __len__(self) -> int:
        return len(self.columns)

    def places(self, columns: np.ndarray) -> np.ndarray:
        """Where these columns are among the candidates; -1: they are not."""
        return self._place[columns]

    def among(self, columns: np.ndarray) -> np.ndarray:
        """The products of some candidates with each other: a copy."""
        places = self._place[columns]
        return self._products[np.ix_(places, places)]

    def times(self, some: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """H w among the candidates, for weights of some of them."""
        return weights @ self._products[self._place[some], : len(self)]

    def quadratic_of(self, columns: np.ndarray) -> Quadratic:
        """The quadratic of some candidates, its ridge apart."""
        return self._model.quadratic_with(columns, self.among(columns))

    def add(self, columns: np.ndarray) -> None:
        """Add columns that are no candidates yet."""
        known, n = len(self.columns), len(self.columns) + len(columns)
        everyone = np.append(self.columns, columns)
        new = self._model.hessian.between(columns, everyone) if self._held is None else self._held.add(columns)
        self._products = with_more(self._products, new, self._model.diagonal[columns], ROOM)
        self.columns = everyone
        self._place[columns] = np.arange(known, n)

    def pulls(self, support: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Minus the slopes of the loss, without the ridge, of all features: a pass, of which margins cost nothing."""
        if self._held is None:
            return self._model.pulls(support, weights)
        return self._held.pulls(self._place[support], weights)


class _HeldColumns:
    """Columns of data in memory: sqrt(s / sum(s)) (x - mean) / unit, the rows of `_columns`."""

    def __init__(self, model: LocalQuadratic, data: InMemory):
        self._model, self._n, self._X = model, 0, data.chunk.X
        self._root = np.sqrt(data.chunk.weight / data.total_weight)
        self._columns = np.empty((0, data.n_rows))
        numbers = np.arange(data.n_rows, dtype=np.float64)
        self._numbered: Dataset = data.map(lambda chunk: chunk._replace(y=numbers))  # so that blocks know their rows
        self._append(model.candidates)

    @classmethod
    def of(cls, model: LocalQuadratic) -> "_HeldColumns | None":
        """The columns of the candidates, where it pays to keep them."""
        data, problem = model.problem.data, model.problem
        if not isinstance(data, InMemory) or data.n_rows > data.n_features or len(problem.always_in):
            return None
        X = data.chunk.X.array
        return cls(model, data) if isinstance(X, np.ndarray) and X.flags.c_contiguous else None

    def add(self, columns: np.ndarray) -> np.ndarray:
        """The products of these columns with all before and with each other."""
        known = self._n
        self._append(columns)
        return self._columns[known : self._n] @ self._columns[: self._n].T

    def _append(self, columns: np.ndarray) -> None:
        model, n = self._model, self._n + len(columns)
        if n > len(self._columns):
            more = np.empty((int(ROOM * n), len(self._root)))
            more[: self._n] = self._columns[: self._n]
            self._columns = more
        unit = np.where(model.diagonal[columns] > 0, 1.0 / model.unit[columns], 0.0)
        rows = (self._X.columns(columns).T - model.hessian.means[columns, None]) * self._root
        np.multiply(rows, unit[:, None], out=self._columns[self._n : n])
        self._n = n

    def pulls(self, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
        model = self._model
        u = self._root * (weights @ self._columns[places])

        def part(chunk: Chunk) -> np.ndarray:
            return chunk.X.centred_slopes(model.hessian.means, u[chunk.y.astype(np.int64)])

        return np.where(model.diagonal > 0, model.h - self._numbered.sum(part) / model.unit, 0.0)

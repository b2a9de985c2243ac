"""A host that stands in for a GPU: rows there are summed by the steps of a GPU, on machines without one."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from riata.data.chunk import Chunk
from riata.matrices.array_api import ArrayMatrix
from riata.matrices.csr import CsrMatrix
from riata.matrices.cuda import nbytes_on_gpu
from riata.matrices.matrix import Matrix


class Host:
    """A `Place`: NumPy, or another library of the array API, in place of a GPU."""

    def __init__(self, xp: Any = np, room: float = float("inf")) -> None:
        self._xp, self._room = xp, room

    @property
    def room(self) -> float:
        return self._room

    def rows(self, X: Any) -> Matrix:
        return reference(X, self._xp)

    def vector(self, values: Any) -> Any:
        return self._xp.asarray(np.asarray(values, dtype=np.float64))

    def nbytes(self, X: Any) -> int:
        return nbytes_on_gpu(X)

    def pin(self, array: np.ndarray) -> None:
        """Nothing to do."""

    def uploaded(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            X, *others = chunk.arrays
            yield Chunk(self.rows(X.array), *map(self.vector, others))


class SparseReference(CsrMatrix):
    """Sparse rows that are summed by the array functions of `Matrix`, without the compiled loops for single passes."""

    first_order = Matrix.first_order
    moments = Matrix.moments
    products = Matrix.products
    _column_products = Matrix._column_products
    standardised = Matrix.standardised

    def narrowed(self, numbers: np.ndarray) -> Any:
        return self.dense(self.columns(numbers))

    def columns(self, numbers: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        return self.array[rows][:, numbers].toarray().astype(np.float64)

    def dense(self, array: np.ndarray) -> Any:
        return ArrayMatrix(array)


def reference(X: Any, xp: Any) -> Matrix:
    """Rows of a NumPy array, as an array of the library xp, or of a SciPy matrix."""
    return SparseReference(sp.csr_array(X)) if sp.issparse(X) else ArrayMatrix(xp.asarray(X))

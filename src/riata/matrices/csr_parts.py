"""Sparse rows as three arrays: a matrix of SciPy is made of them only where something of SciPy is asked for.

Its import takes as long as some 50,000 rows of a log, and rows that are encoded and learnt once do without it.
"""

from typing import Any, NamedTuple

import numpy as np

from riata.scipy_later import sparse as sp


class CsrParts(NamedTuple):
    """The entries of rows, those of row i from indptr[i] on."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]
    canonical: bool = False  # whether it is known that indices are sorted and without duplicates

    @classmethod
    def of(cls, X: Any) -> "CsrParts":
        """Those of a CSR matrix of SciPy."""
        return cls(X.data, X.indices, X.indptr, X.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def nnz(self) -> int:
        return len(self.data)

    def rows(self, start: int, stop: int) -> "CsrParts":
        """Some consecutive rows, as a view."""
        span = slice(self.indptr[start], self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        return CsrParts(self.data[span], self.indices[span], indptr, (stop - start, self.shape[1]), self.canonical)

    def matrix(self) -> "sp.csr_array":
        """The same as SciPy has it, without a copy."""
        X = sp.csr_array((self.shape[0], self.shape[1]), dtype=self.dtype)  # the constructor would copy the parts
        X.data, X.indices, X.indptr = self.data, self.indices, self.indptr
        if self.canonical:
            X.has_canonical_format = True
        return X

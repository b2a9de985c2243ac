"""Sparse rows as three arrays: a matrix of SciPy is made of them only where something of SciPy is asked for.

Its import takes as long as some 50,000 rows of a log, and rows that are encoded and learnt once do without it.
"""

from typing import Any, NamedTuple

import numpy as np

from riata.scipy_later import sparse as sp

SPARE = 32  # a part of all rows, for which there is room before arrays grow again


class CsrParts(NamedTuple):
    """The entries of rows, those of row i from indptr[i] on."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]
    canonical: bool = False  # whether it is known that indices are sorted and without duplicates

    @classmethod
    def of(cls, X: Any) -> "CsrParts":
        """The parts of a CSR matrix of SciPy."""
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
        """SciPy's matrix of these parts, which it shares."""
        X = sp.csr_array((self.shape[0], self.shape[1]), dtype=self.dtype)  # the constructor would copy the parts
        X.data, X.indices, X.indptr = self.data, self.indices, self.indptr
        if self.canonical:
            X.has_canonical_format = True
        return X


class StackedRows:
    """Rows of matrices one after the other, none of which is held twice: each may be freed once it is added."""

    def __init__(self, first: CsrParts) -> None:
        self._data, self._indices = np.empty(0, first.data.dtype), np.empty(0, first.indices.dtype)
        self._lengths: list[np.ndarray] = []
        self._n_entries, self._width, self._canonical = 0, first.shape[1], True
        self.add(first)

    def add(self, rows: CsrParts) -> None:
        first, self._n_entries = self._n_entries, self._n_entries + rows.nnz
        for mine, theirs in (("_data", rows.data), ("_indices", rows.indices)):
            own = getattr(self, mine).astype(np.result_type(getattr(self, mine), theirs), copy=False)
            own = own if own.flags.owndata else own.copy()
            if len(own) < self._n_entries:  # where the system can move its pages, in place
                own.resize(self._n_entries + self._n_entries // SPARE, refcheck=False)
            own[first : self._n_entries] = theirs
            setattr(self, mine, own)
        self._lengths.append(np.diff(rows.indptr))
        self._canonical = self._canonical and rows.canonical

    def whole(self) -> CsrParts:
        """All rows."""
        for array in (self._data, self._indices):
            array.resize(self._n_entries, refcheck=False)
        lengths = np.concatenate(self._lengths)
        indptr = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        kind = np.int64 if self._n_entries > np.iinfo(np.int32).max else self._indices.dtype
        indices = self._indices.astype(kind, copy=False)
        return CsrParts(self._data, indices, indptr.astype(kind), (len(lengths), self._width), self._canonical)

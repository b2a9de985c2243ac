"""A chunk is a run of rows held together: the unit in which all data is read."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from riata.kernels.products import csr_margins, dense_margins
from riata.kernels.rows import in_rows
from riata.matrices.rows import DeviceRows


class Chunk(NamedTuple):
    """Rows of X (a dense array or CSR), their targets and their positive weights."""

    X: Any  # what the two have in common is what the code uses
    y: np.ndarray
    weight: np.ndarray

    @property
    def names(self) -> Callable[[np.ndarray], dict[int, str]] | None:
        """Tells the names of features by their numbers, where those are hashes of names."""
        return None

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    def rows(self, selection) -> "Chunk":
        """The chunk of some of these rows (a slice, a mask or positions)."""
        return Chunk(self.X[selection], self.y[selection], self.weight[selection])


class HashedChunk(Chunk):
    """Rows whose features are known by hashes of their names; `names` tells those of this chunk."""

    _names: Callable[[np.ndarray], dict[int, str]]

    def __new__(cls, X, y, weight, names):
        self = super().__new__(cls, X, y, weight)
        self._names = names
        return self

    @property
    def names(self):
        return self._names

    def rows(self, selection):
        return HashedChunk(*super().rows(selection), self._names)

    def _replace(self, **changes):
        return HashedChunk(*Chunk(*self)._replace(**changes), self._names)


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """The rows of several chunks in one."""
    if len(chunks) == 1:
        return chunks[0]
    Xs, ys, weights = zip(*chunks, strict=True)
    X = sp.csr_array(sp.vstack(Xs)) if sp.issparse(Xs[0]) else np.vstack(Xs)
    return Chunk(X, np.concatenate(ys), np.concatenate(weights))


def columns_of(X, ids: np.ndarray):
    """The columns of these numbers, at the cost of the non-zeros, however wide X is."""
    if not sp.issparse(X):
        return X[:, ids]
    if len(ids) == 0:
        return sp.csr_array((X.shape[0], 0), dtype=X.dtype)
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids[order], X.indices).clip(max=len(ids) - 1)
    found = ids[order[at]] == X.indices
    indptr = np.concatenate([[0], np.cumsum(found)])[X.indptr]
    return sp.csr_array((X.data[found], order[at[found]], indptr), shape=(X.shape[0], len(ids)))


def unit_rows(X):
    """X with every row divided by its Euclidean norm; a row of zeros stays as it is."""
    if sp.issparse(X):
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        factors = 1.0 / np.where(norms > 0, norms, 1.0)
        data = X.data * np.repeat(factors, np.diff(X.indptr)).astype(X.dtype)
        return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
    norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return X / np.where(norms > 0, norms, 1.0).astype(X.dtype)[:, None]


def margins(X, w, b):
    """X w + b, wherever the rows are; of dense rows only the columns with a weight are read."""
    if isinstance(X, DeviceRows):
        return X.margins(w) + float(b)
    if sp.issparse(X):
        return csr_margins(X.indptr, X.indices, X.data, w, b)
    support = np.flatnonzero(w)
    if X.strides[1] != X.itemsize:  # a copy of a few columns is cheaper than one of all rows
        return X[:, support] @ w[support] + b
    return dense_margins(in_rows(X), w, support, b)


def some_columns(X, columns, rows=slice(None)):
    """Some columns of some rows, where they are."""
    return X.columns(columns, rows) if isinstance(X, DeviceRows) else X[rows][:, columns]


def add(a, b, plus=operator.add):
    """a + b, leaf by leaf when they are tuples: how `Dataset.sum` adds the results of chunks."""
    if isinstance(a, tuple):
        parts = [add(x, y, plus) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return plus(a, b)


def added(values: Iterable):
    """All values added, in their order. Only the first sum is new: later ones, which may be large, take its place."""
    values = iter(values)
    total, plus = next(values), operator.add
    for value in values:
        total, plus = add(total, value, plus), operator.iadd
        del value  # or it would live on while the next one is awaited
    return total

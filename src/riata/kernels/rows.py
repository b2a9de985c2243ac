"""Rows of a chunk for compiled sweeps, dense or sparse, and the operations on one row.

`entries(rows, i)` gives a row as (features, values); the features of a dense row are None, all of them, and the
operations below compile to a plain loop over the columns then. A layout carries the reciprocal scales of the
columns: the row that a method sees is a_j = values_j * shrink_j, which is standardisation without a copy (centring
is left to the intercept).
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from riata.kernels.compiled import before_compiling, compiled, uint64

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# Sums may be reordered (SIMD), but NaN and infinity keep their meaning: divergence must be seen.
FAST = {"reassoc", "contract", "nsz", "arcp"}
LONG_ROW = 1500  # numbers of a dense row: shorter ones are read one after the other, which the processor foresees


@compiled(nogil=True, inline="always")
def span(indptr: np.ndarray, i: int) -> tuple[int, int]:
    """Where the entries of a row begin and end. Loops over positions that cannot be negative can be vectorised."""
    return uint64(indptr[i]), uint64(indptr[i + 1])


class DenseRows(NamedTuple):
    X: np.ndarray
    shrink: np.ndarray


class CsrRows(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shrink: np.ndarray


Rows = DenseRows | CsrRows


def leaves_zeros_out(rows: Rows) -> "TypeIs[CsrRows]":
    """Whether rows hold only their entries that are not zero."""
    return isinstance(rows, CsrRows)


def shrink_of(scale: np.ndarray | float, n_columns: int) -> np.ndarray:
    """The reciprocal scales of all columns, as a layout carries them."""
    if np.ndim(scale) == 0 and scale == 1.0:
        return _ones(n_columns)
    return np.array(np.broadcast_to(1.0 / np.asarray(scale, dtype=np.float64), n_columns))


@lru_cache(maxsize=1)
def _ones(n_columns: int) -> np.ndarray:
    """Which nobody changes: of millions of columns, making them anew for every chunk takes longer than some chunks."""
    return np.ones(n_columns)


def in_rows(X: np.ndarray) -> np.ndarray:
    """Dense rows for kernels that read X.shape[1] numbers of each: C-contiguous, though a row may go on after them.

    So a matrix with a target beside its features is read as it lies. What a row goes on with is never looked at.
    """
    n, d = X.shape
    length, rest = divmod(X.strides[0], X.itemsize)
    if n < 2 or X.strides[1] != X.itemsize or rest or length <= d:
        return np.ascontiguousarray(X)
    return as_strided(X, (n, length), writeable=False)


def entries(rows: Rows, i: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Row i as (features, values): numba compiles one of the two functions below."""
    raise NotImplementedError


@before_compiling
def _let_numba_see_entries() -> None:
    from numba.extending import overload

    @overload(entries)
    def _entries(rows: Any, i: Any) -> Any:
        if rows.instance_class is DenseRows:

            def dense(rows: Any, i: Any) -> Any:
                return None, rows.X[i]

            return dense

        def csr(rows: Any, i: Any) -> Any:
            span = slice(rows.indptr[i], rows.indptr[i + 1])
            return rows.indices[span], rows.data[span]

        return csr


def parts(rows: Rows) -> tuple[np.ndarray | int, np.ndarray | None, np.ndarray]:
    """(starts, features, values) of all rows: to take them out of the layout once spares a loop over short rows what
    counting references to slices costs. Of dense rows `starts` is their length, and features are None."""
    raise NotImplementedError


def begin_end(starts: np.ndarray | int, i: int) -> tuple[int, int]:
    """Where row i lies among the values of `parts`."""
    raise NotImplementedError


@before_compiling
def _let_numba_see_parts() -> None:
    from numba import types, uint64
    from numba.extending import overload

    @overload(parts)
    def _parts(rows: Any) -> Any:
        if rows.instance_class is DenseRows:

            def dense(rows: Any) -> Any:
                return rows.X.shape[1], None, rows.X.reshape(-1)

            return dense

        def csr(rows: Any) -> Any:
            return rows.indptr, rows.indices, rows.data

        return csr

    @overload(begin_end)
    def _begin_end(starts: Any, i: Any) -> Any:
        if isinstance(starts, types.Integer):

            def of_length(starts: Any, i: Any) -> Any:
                return uint64(starts * i), uint64(starts * (i + 1))

            return of_length

        def between(starts: Any, i: Any) -> Any:
            return uint64(starts[i]), uint64(starts[i + 1])

        return between


@compiled(fastmath=FAST)
def dot(features: np.ndarray | None, values: np.ndarray, shrink: np.ndarray, w: np.ndarray) -> float:
    """a . w"""
    total = 0.0
    if features is None:
        for j in range(w.shape[0]):
            total += values[j] * shrink[j] * w[j]
    else:
        for p in range(features.shape[0]):
            j = features[p]
            total += values[p] * shrink[j] * w[j]
    return total


@compiled(fastmath=FAST)
def norm2(features: np.ndarray | None, values: np.ndarray, shrink: np.ndarray) -> float:
    """a . a"""
    total = 0.0
    for p in range(values.shape[0]):
        a = values[p] * (shrink[p] if features is None else shrink[features[p]])
        total += a * a
    return total


@compiled(fastmath=FAST)
def axpy(factor: float, features: np.ndarray | None, values: np.ndarray, shrink: np.ndarray, w: np.ndarray) -> None:
    """w += factor * a"""
    if features is None:
        for j in range(w.shape[0]):
            w[j] += factor * values[j] * shrink[j]
    else:
        for p in range(features.shape[0]):
            j = features[p]
            w[j] += factor * values[p] * shrink[j]

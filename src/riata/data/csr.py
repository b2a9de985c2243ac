"""Checks of sparse rows from outside: compiled code needs indices that are in range, sorted and without duplicates.

SciPy's flags (`has_canonical_format`) are not trusted: the arrays may have changed since they were set, and a wrong
index makes a compiled loop write outside of its arrays.
"""

from typing import Any

import numpy as np

from riata.errors import DataError
from riata.kernels.csr import BROKEN, DISORDERED, OUT_OF_RANGE, worst_fault
from riata.scipy_later import sparse as sp


def canonical(X: Any) -> "sp.csr_array":
    """A SciPy matrix as CSR with sorted indices and no duplicates; copied only if it is not so already."""
    if X.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns, not {X.ndim}")
    if X.format == "csc":  # before SciPy converts it: that would follow wrong indices out of bounds
        check_entries(X.indptr, X.indices, X.shape[0], X.shape[1], len(X.data), ("column", "row"))
    if X.format != "csr":
        X = sp.csr_array(X)
    in_order = check_entries(X.indptr, X.indices, X.shape[1], X.shape[0], len(X.data))
    rows = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)  # without the flags of X
    if not in_order:
        rows = rows.copy()  # the caller's matrix stays as it was
        rows.sum_duplicates()
    rows.has_canonical_format = True
    return rows


def check_entries(
    indptr: np.ndarray,
    indices: np.ndarray,
    width: int,
    n_rows: int,
    n_values: int,
    words: tuple[str, str] = ("row", "column"),
) -> bool:
    """Refuse a broken indptr and indices out of range; returns whether indices are sorted and without duplicates."""
    line, across = words
    integers = all(np.asarray(part).dtype.kind in "iu" and np.ndim(part) == 1 for part in (indptr, indices))
    if not integers or len(indptr) != n_rows + 1 or len(indices) != n_values:
        raise DataError(
            f"the sparse matrix is broken: its indptr, indices and data are not of {n_rows} {line}s; build it anew"
        )
    fault, i = worst_fault(indptr, indices, width)
    if fault == BROKEN:
        raise DataError(f"the sparse matrix is broken: its indptr does not increase at {line} {i + 1}; build it anew")
    if fault == OUT_OF_RANGE:
        raise DataError(
            f"the sparse matrix is broken: {line} {i + 1} has an index outside of its {width} {across}s; build it anew"
        )
    return bool(fault != DISORDERED)

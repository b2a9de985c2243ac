"""Sparse rows from outside, made fit for compiled code: that every index is in range, sorted and there once.

SciPy's flags (`has_canonical_format`) are not asked: they are what somebody once said about arrays that may have
changed since, and a wrong index makes a compiled loop write where it must not.
"""

import numpy as np

from riata.errors import DataError
from riata.kernels.csr import BROKEN, DISORDERED, OUT_OF_RANGE, worst_fault
from riata.scipy_later import sparse as sp


def canonical(X) -> "sp.csr_array":
    """A SciPy matrix as CSR with sorted indices, each once: its own arrays if they are so, else a copy put right."""
    if X.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns, not {X.ndim}")
    if X.format == "csc":  # SciPy would follow wrong indices where they lead
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


def check_entries(indptr, indices, width: int, n_rows: int, n_values: int, words=("row", "column")) -> bool:
    """Refuse rows whose entries are not where they say; whether the rest are sorted and there once."""
    line, across = words
    whole = all(np.asarray(part).dtype.kind in "iu" for part in (indptr, indices))
    if not whole or len(indptr) != n_rows + 1 or len(indices) != n_values:
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

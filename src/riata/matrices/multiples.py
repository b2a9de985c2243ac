"""Columns of a sparse matrix that are multiples of one another: such as those of words that one row alone has.

Columns that point the same way have the same sums over rows with random weights, in units of their length. Those whose
sums agree are compared entry by entry, so that chance makes no copies.
"""

from typing import NamedTuple

import numpy as np

from riata.scipy_later import sparse as sp

ALIKE = 1e-13  # of the length of a column: entries that differ by less do so by rounding


class Multiples(NamedTuple):
    """The first column that each is a positive multiple of, itself where there is none, and the lengths of all."""

    first: np.ndarray
    length: np.ndarray


def positive_multiples(X: "sp.csr_array") -> Multiples:  # quoted: to evaluate it would import SciPy
    """Which columns of a matrix are multiples of others."""
    columns = sp.csc_array(X)
    columns.sort_indices()
    n, d = columns.shape
    starts, entries = columns.indptr.astype(np.int64), columns.data.astype(np.float64)
    column = np.repeat(np.arange(d), np.diff(starts))
    length = np.sqrt(np.bincount(column, entries * entries, minlength=d))
    unit = entries / np.where(length > 0.0, length, 1.0)[column]
    weights = np.random.default_rng(0).uniform(1.0, 2.0, (2, n))
    sums = [np.bincount(column, unit * weight[columns.indices], minlength=d) for weight in weights]
    order = np.lexsort((np.arange(d), *sums))
    near = np.ones(d - 1, dtype=bool) if d else np.zeros(0, dtype=bool)
    for key in (*sums, np.diff(starts).astype(float)):
        near &= np.abs(np.diff(key[order])) <= n * ALIKE
    heads = np.concatenate([[True], ~near])[:d]
    group = np.empty(d, dtype=np.int64)
    group[order] = np.cumsum(heads) - 1
    first = np.full(heads.sum(), d, dtype=np.int64)
    np.minimum.at(first, group, np.arange(d))
    candidates = first[group]
    alike = _alike(starts, columns.indices, unit, np.arange(d), candidates) & (length > 0.0)
    return Multiples(np.where(alike, candidates, np.arange(d)), length)


def _alike(starts: np.ndarray, rows: np.ndarray, unit: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Whether columns of unit length are the same, each on the left with that on the right, of as many entries."""
    stored = (starts[1:] - starts[:-1])[left]
    alike: np.ndarray = stored == starts[right + 1] - starts[right]
    asked = np.flatnonzero(alike & (left != right))
    pair = np.repeat(asked, stored[asked])
    within = np.arange(len(pair)) - np.repeat(np.cumsum(stored[asked]) - stored[asked], stored[asked])
    one, other = starts[left[pair]] + within, starts[right[pair]] + within
    differ = (rows[one] != rows[other]) | (np.abs(unit[one] - unit[other]) > ALIKE)
    alike[pair[differ]] = False
    return alike

"""Features of several columns side by side, as one sparse matrix."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from riata.kernels.side_by_side import count_nonzeros, fill_rows
from riata.matrices.csr_parts import CsrParts
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp


class Codes(NamedTuple):
    """A one at the code of each row among `width` features; none in a row of code -1."""

    codes: np.ndarray
    width: int


WORTH_COMPILING = 100_000  # entries: for fewer, importing numba takes longer than SciPy does
Part = Any  # numbers in a dense array, CSR rows (of SciPy, or their parts), or Codes


def dense(part: Part, dtype: npt.DTypeLike) -> np.ndarray:
    """A part as a dense array."""
    if isinstance(part, Codes):
        part = one_hot(part.codes, part.width, dtype)
    part = part.matrix() if isinstance(part, CsrParts) else part
    return part.toarray() if is_sparse(part) else part


def sparse(parts: Sequence[Part], dtype: npt.DTypeLike) -> "sp.csr_array | CsrParts":
    """Parts side by side in CSR form: runs of numbers and codes in one sweep, other sparse rows as they are."""
    n_rows = len(parts[0].codes) if isinstance(parts[0], Codes) else parts[0].shape[0]
    if n_rows * len(parts) < WORTH_COMPILING:
        parts = [one_hot(part.codes, part.width, dtype) if isinstance(part, Codes) else part for part in parts]
    blocks = []
    for as_it_is, run in groupby(parts, key=_are_sparse_rows):
        if as_it_is:
            blocks += list(run)
        else:
            blocks.append(_numbers_and_codes(list(run), dtype))
    if len(blocks) == 1:
        return blocks[0]
    blocks = [block.matrix() if isinstance(block, CsrParts) else block for block in blocks]
    return sp.csr_array(sp.hstack(blocks, format="csr"))


def _are_sparse_rows(part: Part) -> bool:
    return isinstance(part, CsrParts) or is_sparse(part)


def _numbers_and_codes(parts: list[Part], dtype: npt.DTypeLike) -> "sp.csr_array | CsrParts":
    n_rows = len(parts[0].codes if isinstance(parts[0], Codes) else parts[0])
    if not any(isinstance(part, Codes) for part in parts):
        return sp.csr_array(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))
    # columns one after the other: each is written in one go, and rows are read from all of them at once
    numbers = np.empty((sum(part.shape[1] for part in parts if not isinstance(part, Codes)), n_rows), dtype)
    codes = np.empty((sum(isinstance(part, Codes) for part in parts), n_rows), np.int32)
    is_number: list[bool] = []
    columns: list[int] = []
    starts: list[int] = []
    n_numbers = n_codes = width = 0
    for part in parts:
        if isinstance(part, Codes):
            codes[n_codes] = part.codes
            is_number, columns, starts = [*is_number, False], [*columns, n_codes], [*starts, width]
            n_codes, width = n_codes + 1, width + part.width
        else:
            d = part.shape[1]
            numbers[n_numbers : n_numbers + d] = part.T
            is_number += [True] * d
            columns += range(n_numbers, n_numbers + d)
            starts += range(width, width + d)
            n_numbers, width = n_numbers + d, width + d
    indptr = np.empty(n_rows + 1, np.int32)
    count_nonzeros(numbers, codes, indptr)
    indices, data = np.empty(indptr[-1] + 1, np.int32), np.empty(indptr[-1] + 1, dtype)
    fill_rows(numbers, codes, np.array(is_number), np.array(columns), np.array(starts), indices, data)
    return CsrParts(data[:-1], indices[:-1], indptr, (n_rows, width), canonical=True)  # parts follow one another


def one_hot(codes: np.ndarray, width: int, dtype: npt.DTypeLike) -> "sp.csr_array":
    """A one at the code of each row; a row of code -1 is empty."""
    some = codes >= 0
    indptr = np.concatenate([[0], np.cumsum(some)]).astype(np.int32)
    indices = codes[some].astype(np.int32)
    return sp.csr_array((np.ones(len(indices), dtype), indices, indptr), shape=(len(codes), width))

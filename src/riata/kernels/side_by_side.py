"""Rows in CSR form from columns of numbers and of levels, in one sweep over the rows."""

import numpy as np

from riata.kernels.compiled import compiled, uint64

NOTHING = -1  # the code of a row that has none of the levels


@compiled(nogil=True)
def count_nonzeros(numbers: np.ndarray, codes: np.ndarray, indptr: np.ndarray) -> None:
    """Fill indptr, which has one more entry than there are rows; a column is a row of `numbers` or of `codes`."""
    n_rows = indptr.shape[0] - 1
    for i in range(n_rows + 1):
        indptr[i] = 0
    for c in range(numbers.shape[0]):
        for i in range(n_rows):
            indptr[i + 1] += numbers[c, i] != 0.0
    for c in range(codes.shape[0]):
        for i in range(n_rows):
            indptr[i + 1] += codes[c, i] != NOTHING
    for i in range(n_rows):
        indptr[i + 1] += indptr[i]


@compiled(nogil=True)
def fill_rows(
    numbers: np.ndarray,
    codes: np.ndarray,
    is_number: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
) -> None:
    """Fill indices and data: part by part, each a row of `numbers` or of `codes`, whose features begin at `starts`.

    A number is one feature, a code is a one at the feature of that code. Both have room for one entry more than there
    are: what is not counted is written, too, and overwritten by the next, for nobody can know how such branches go.
    """
    at = uint64(0)
    for i in range(uint64(numbers.shape[1])):
        for part in range(uint64(columns.shape[0])):
            c, start = uint64(columns[part]), starts[part]
            if is_number[part]:
                x = numbers[c, i]
                indices[at], data[at] = start, x
                at += uint64(x != 0.0)
            else:
                code = codes[c, i]
                indices[at], data[at] = start + code, 1.0
                at += uint64(code != NOTHING)

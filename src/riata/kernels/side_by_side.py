"""Rows in CSR form from columns of numbers and of levels, in one sweep over the rows."""

import numpy as np

from riata.kernels.compiled import compiled

NOTHING = -1  # the code of a row that has none of the levels


@compiled(nogil=True)
def count_nonzeros(numbers: np.ndarray, codes: np.ndarray, indptr: np.ndarray) -> None:
    """Fill indptr, of one more entry than there are rows."""
    indptr[0] = 0
    for i in range(indptr.shape[0] - 1):
        n = 0
        for c in range(numbers.shape[1]):
            n += numbers[i, c] != 0.0
        for c in range(codes.shape[1]):
            n += codes[i, c] != NOTHING
        indptr[i + 1] = indptr[i] + n


@compiled(nogil=True)
def fill_rows(
    numbers: np.ndarray,
    codes: np.ndarray,
    is_number: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
) -> None:
    """Fill indices and data: part by part, each a column of `numbers` or of `codes`, whose features begin at `starts`.

    A number is one feature, a code is a one at the feature of that code.
    """
    for i in range(indptr.shape[0] - 1):
        at = indptr[i]
        for part in range(columns.shape[0]):
            c = columns[part]
            if is_number[part]:
                x = numbers[i, c]
                if x != 0.0:
                    indices[at], data[at] = starts[part], x
                    at += 1
            elif codes[i, c] != NOTHING:
                indices[at], data[at] = starts[part] + codes[i, c], 1.0
                at += 1

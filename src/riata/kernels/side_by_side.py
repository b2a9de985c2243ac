"""Rows in CSR form from columns of numbers and of levels, in one sweep over the rows."""

import numpy as np

from riata.kernels.compiled import compiled

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
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
) -> None:
    """Fill indices and data: part by part, each a row of `numbers` or of `codes`, whose features begin at `starts`.

    A number is one feature, a code is a one at the feature of that code.
    """
    for i in range(indptr.shape[0] - 1):
        at = indptr[i]
        for part in range(columns.shape[0]):
            c = columns[part]
            if is_number[part]:
                x = numbers[c, i]
                if x != 0.0:
                    indices[at], data[at] = starts[part], x
                    at += 1
            elif codes[c, i] != NOTHING:
                indices[at], data[at] = starts[part] + codes[c, i], 1.0
                at += 1
